"""The Maps application: offline places and directions."""

from __future__ import annotations

from itertools import pairwise

from images.phone.device.apps.atlas import WORLD, Window, draw_map, window_of
from images.phone.device.apps.screen import Screen
from images.phone.device.store.places import (
    SPEEDS_KMH,
    Place,
    Route,
    distance_km,
    find_place,
    find_places,
    find_route,
    heading,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Flow, Look, View
from images.phone.device.ui.widgets import EDGE_PX, SMALL_PX

_SEARCH = "search_omnibox_edit_text"
_FROM, _TO = "directions_startpoint_textbox", "directions_endpoint_textbox"
_MIN_SPAN, _MAX_SPAN = 1.0, 360.0
_ICONS = {"Driving": "car", "Walking": "walk", "Transit": "directions"}


def time_text(minutes: int) -> str:
    """Format a duration such as ``2 h 5 min`` or ``3 d 4 h``."""
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class MapsScreen(Screen):
    """The map with a search, a place, or the route between two places."""

    activity = "com.google.android.maps.MapsActivity"

    def content(self) -> View:
        """Show the map, the results, the place or the directions."""
        if self.state.get("directions"):
            return self._directions()
        place = self._place()
        query = str(self.state.get("query", ""))
        if self.state.get("focus") == _SEARCH or (query and place is None):
            return self._results()
        return self._map(place)

    def back(self) -> bool:
        """Return to the map, step by step."""
        if self.state.get("focus"):
            self.focus("")
            return True
        for key in ("steps", "directions", "query", "place"):
            if self.state.pop(key, None):
                if key in {"query", "place"}:
                    self.state.pop("place", None)
                    self.drop_field(_SEARCH)
                return True
        return False

    def submit(self, name: str) -> None:
        """Search, or select the first place found."""
        places = find_places(self.field_text(name))
        if name == _SEARCH:
            self.state["query"] = self.field_text(_SEARCH).strip()
            self.focus("")
            if len(places) == 1:
                self._choose(places[0])
        elif places:
            self._fill(name, places[0])
        else:
            self.toast("No results")

    def swipe(self, dx: int, dy: int) -> None:
        """Move the map."""
        window = self._window(self._place())
        part = window.span / self.host.display.width_px
        latitude = max(-80.0, min(80.0, window.latitude + dy * part * 0.8))
        longitude = (window.longitude - dx * part + 180) % 360 - 180
        self.state["window"] = [longitude, latitude, window.span]

    def pinch(self, ratio: float) -> None:
        """Zoom the map."""
        self._zoom(1 / ratio)

    def _place(self) -> Place | None:
        title = self.state.get("place")
        return find_place(str(title)) if title else None

    def _window(self, place: Place | None) -> Window:
        kept = self.state.get("window")
        if kept:
            return Window(*kept)
        return window_of((place,)) if place else WORLD

    def _zoom(self, ratio: float) -> None:
        window = self._window(self._place())
        span = max(_MIN_SPAN, min(_MAX_SPAN, window.span * ratio))
        self.state["window"] = [window.longitude, window.latitude, span]

    def _picture(
        self, window: Window, pins: tuple[Place, ...], route: tuple[Place, ...] = ()
    ) -> View:
        is_dark = self.host.theme.is_dark
        return View(
            "android.view.View",
            "mainmap_container",
            label="Map",
            look=Look(
                picture=lambda width, height: draw_map(
                    window, pins, route, (width, height), is_dark=is_dark
                )
            ),
        )

    def _search_bar(self) -> View:
        field = self.field(_SEARCH, hint="Search here")
        field.weight = 1
        field.look.fill, field.look.outline = self.host.theme.background, None
        field.look.radius_px = dp(28)
        # Source: CRAB's evaluator reads the text of the last child.
        box = View("FrameLayout", "search_omnibox_text_box", children=[field])
        return self.widgets.column(box, padding_px=(EDGE_PX, dp(12), EDGE_PX, dp(8)))

    def _map(self, place: Place | None) -> View:
        pins = (place,) if place else ()
        rest = View(weight=1, is_silent=True)
        zoom = [
            self._round("add", "Zoom in", self.act(self._zoom, 0.5)),
            self._round("remove", "Zoom out", self.act(self._zoom, 2.0)),
        ]
        if place is None:
            zoom.append(self._round("directions", "Directions", self.act(self._begin, None)))
        push = View(weight=1, is_silent=True)
        buttons = View(children=zoom, gap_px=dp(8))
        side = self.widgets.row(push, buttons)
        side.padding_px = (0, 0, EDGE_PX, EDGE_PX)
        sheet = [] if place is None else [self._sheet(place)]
        over = self.widgets.column(self._search_bar(), rest, side, *sheet)
        return View(
            "FrameLayout",
            children=[self._picture(self._window(place), pins), over],
            flow=Flow.STACK,
        )

    def _round(self, icon: str, label: str, act: object) -> View:
        theme = self.host.theme
        return View(
            "ImageButton",
            label=label,
            width_px=dp(48),
            height_px=dp(48),
            look=Look(
                fill=theme.background, ink=theme.ink, radius_px=dp(24), size_px=dp(24), icon=icon
            ),
            on_tap=act,  # type: ignore[arg-type]
        )

    def _sheet(self, place: Place) -> View:
        theme = self.host.theme
        title = self.widgets.text(place.name, "title", size_px=dp(24), lines=2)
        title.label = place.name
        where = self.widgets.text(place.region, "subtitle", ink=theme.ink_soft, size_px=SMALL_PX)
        north = f"{abs(place.latitude):.3f}\u00b0 {'N' if place.latitude >= 0 else 'S'}"
        east = f"{abs(place.longitude):.3f}\u00b0 {'E' if place.longitude >= 0 else 'W'}"
        spot = self.widgets.text(
            f"{north}, {east}", "coordinates", ink=theme.ink_soft, size_px=SMALL_PX
        )
        go = self.widgets.button(
            "Directions", self.act(self._begin, place), name="directions_button", filled=True
        )
        close = self.widgets.icon_button("close", "Close", self.act(self._close))
        title.weight = 1
        rest = View(weight=1, is_silent=True)
        return View(
            "LinearLayout",
            "place_sheet",
            label=place.title,
            children=[
                self.widgets.row(title, close),
                where,
                spot,
                self.widgets.space(dp(8)),
                self.widgets.row(go, rest),
            ],
            look=Look(fill=theme.background, radius_px=dp(20)),
            padding_px=(EDGE_PX, dp(12), EDGE_PX, dp(16)),
            on_tap=lambda: None,
        )

    def _close(self) -> None:
        for key in ("place", "query", "window"):
            self.state.pop(key, None)
        self.drop_field(_SEARCH)

    def _results(self) -> View:
        wanted = self.field_text(_SEARCH).strip()
        rows = [self._result(place, self.act(self._choose, place)) for place in find_places(wanted)]
        if wanted and not rows:
            rows = [self.widgets.empty("place", f"No results for \u201c{wanted}\u201d")]
        return self.widgets.column(
            self._search_bar(), self.widgets.list_of("results", rows, self.offset("results"))
        )

    def _result(self, place: Place, on_tap: object) -> View:
        return self.widgets.item(
            place.name,
            summary=place.region,
            icon="place",
            names=("title", "subtitle"),
            on_tap=on_tap,  # type: ignore[arg-type]
        )

    def _choose(self, place: Place) -> None:
        self.focus("")
        self.put_field(_SEARCH, place.title)
        self.state.update(place=place.title, query=place.title)
        self.state.pop("window", None)

    # Directions

    def _begin(self, place: Place | None) -> None:
        self.state["directions"] = True
        for name in (_FROM, _TO):
            self.drop_field(name)
        if place is not None:
            self.put_field(_TO, place.title)
        self.focus(_FROM if place is not None else _TO)

    def _fill(self, name: str, place: Place) -> None:
        self.put_field(name, place.title)
        self.focus("")
        other = _TO if name == _FROM else _FROM
        if not self.field_text(other):
            self.focus(other)

    def _swap(self) -> None:
        start, end = self.field_text(_FROM), self.field_text(_TO)
        self.put_field(_FROM, end)
        self.put_field(_TO, start)

    def _ends(self) -> tuple[Place, Place] | None:
        start, end = (find_place(self.field_text(name)) for name in (_FROM, _TO))
        return None if start is None or end is None else (start, end)

    def _directions(self) -> View:
        fields = []
        for name, hint, description in (
            (_FROM, "Choose start location", "Start location"),
            (_TO, "Choose destination", "Destination"),
        ):
            shown = find_place(self.field_text(name))
            label = f"{description}, {shown.name if shown else self.field_text(name)}"
            field = self.field(
                name, hint=hint, label=label if self.field_text(name) else description
            )
            fields.append(field)
        both = self.widgets.column(*fields)
        both.weight, both.gap_px = 1, dp(6)
        head = self.widgets.row(
            self.widgets.icon_button("back", "Navigate up", self.act(self._leave)),
            both,
            self.widgets.icon_button("swap", "Swap start and destination", self._swap),
        )
        head.padding_px = (dp(4), dp(8), dp(4), dp(8))
        typed = str(self.state.get("focus") or "")
        if typed in {_FROM, _TO}:
            places = find_places(self.field_text(typed))
            rows = [self._result(place, self.act(self._fill, typed, place)) for place in places]
            return self.widgets.column(
                head, self.widgets.list_of("results", rows, self.offset("results"))
            )
        ends = self._ends()
        if ends is None:
            return self.widgets.column(
                head, self.widgets.empty("directions", "Choose both ends of the way")
            )
        return self._way(head, find_route(*ends))

    def _leave(self) -> None:
        self.focus("")
        self.state.pop("directions", None)

    def _way(self, head: View, route: Route) -> View:
        theme = self.host.theme
        means = str(self.state.get("means", "Driving"))
        chips = [
            self.widgets.chip(
                time_text(route.minutes(name)),
                self.set(means=name),
                is_on=name == means,
                label=f"{name} mode: {time_text(route.minutes(name))}",
            )
            for name in SPEEDS_KMH
        ]
        modes = self.widgets.row(
            *(
                part
                for name, chip in zip(SPEEDS_KMH, chips, strict=True)
                for part in (self.widgets.icon(_ICONS[name]).sized(dp(24)), chip)
            ),
            gap_px=dp(8),
        )
        modes.padding_px = (EDGE_PX, 0, EDGE_PX, dp(8))
        total = self.widgets.text(
            f"{time_text(route.minutes(means))} ({route.length_km:,.0f} km)",
            "trip_summary",
            size_px=dp(22),
            bold=True,
            ink=theme.primary,
        )
        note = self.widgets.text(
            "Estimated offline from straight lines", "trip_note", size_px=SMALL_PX,
            ink=theme.ink_soft,
        )  # fmt: skip
        is_open = bool(self.state.get("steps"))
        more = self.widgets.button(
            "Show map" if is_open else "Steps", self.set(steps=not is_open), name="steps_button"
        )
        summary = self.widgets.column(total, note)
        summary.weight = 1
        bottom = self.widgets.row(summary, more, height_px=dp(80))
        bottom.padding_px = (EDGE_PX, dp(8), EDGE_PX, dp(8))
        if is_open:
            middle = self.widgets.list_of("steps", self._steps(route), self.offset("steps"))
        else:
            middle = self._picture(
                window_of(route.stops), (route.stops[0], route.stops[-1]), route.stops
            )
            middle.weight = 1
        if not self.host.display.is_wide:
            return self.widgets.column(head, modes, middle, bottom)
        rest = View(weight=1, is_silent=True)
        side = self.widgets.column(head, modes, rest, bottom)
        side.weight = middle.weight = 1
        return View("LinearLayout", children=[side, middle], flow=Flow.ACROSS)

    def _steps(self, route: Route) -> list[View]:
        rows = []
        for start, end in pairwise(route.stops):
            km = distance_km(start, end) * route.length_km / max(1e-9, _straight(route))
            instruction = f"Head {heading(start, end)} from {start.name} to {end.name}"
            rows.append(self.widgets.item(instruction, summary=f"{km:,.0f} km", icon="navigation"))
        rows.append(self.widgets.item(f"Arrive at {route.stops[-1].title}", icon="place"))
        return rows


def _straight(route: Route) -> float:
    return sum(distance_km(start, end) for start, end in pairwise(route.stops))
