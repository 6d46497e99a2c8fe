"""The Clock application: alarms, world clock, timers, a stopwatch."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import clock_text, length_text
from images.phone.device.store.clock import (
    DAYS,
    add_alarm,
    add_timer,
    left_s,
    list_alarms,
    list_cities,
    list_timers,
    next_time,
    reset_timer,
    toggle_timer,
)
from images.phone.device.store.places import find_places
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.toolkit import Tab
from images.phone.device.ui.view import Align, Flow, Look, View
from images.phone.device.ui.widgets import EDGE_PX, LARGE_PX, SMALL_PX

if TYPE_CHECKING:
    from datetime import datetime

    from images.phone.device.store.database import Row
    from images.phone.device.store.places import Place

_ALARMS, _CLOCK, _TIMERS, _WATCH = "alarms", "clock", "timers", "stopwatch"
_SEARCH, _LABEL = "search_cities", "alarm_label"
_HAIR_SPACE = "\u200a"
_NEW_HOUR = 7
_MAX_DIGITS = 6


class ClockScreen(Screen):
    """The screen with all four tabs."""

    activity = "com.android.deskclock.DeskClock"

    @property
    def is_live(self) -> bool:
        """Return whether a running timer or stopwatch is visible."""
        return self.tab == _TIMERS or bool(self.tab == _WATCH and self.state.get("since"))

    @property
    def tab(self) -> str:
        """The selected tab."""
        return str(self.state.get("tab", _CLOCK))

    @property
    def _now_ms(self) -> int:
        return int(self.host.now_s() * 1000)

    def content(self) -> View:
        """Show the selected tab with the bar below it."""
        if self.state.get("searching"):
            return self._cities()
        pages = {
            _ALARMS: self._alarms,
            _CLOCK: self._clock,
            _TIMERS: self._timers,
            _WATCH: self._stopwatch,
        }
        tabs = [
            Tab(caption, icon, self.set(tab=name, scroll={}), name == self.tab)
            for name, caption, icon in (
                (_ALARMS, "Alarm", "alarm"),
                (_CLOCK, "Clock", "clock"),
                (_TIMERS, "Timer", "hourglass"),
                (_WATCH, "Stopwatch", "timer"),
            )
        ]
        page = pages[self.tab]()
        page.weight = 1
        return self.widgets.column(page, self.widgets.tabs(tabs))

    def dialog(self) -> View | None:
        """Show the time picker, or ask for a label."""
        cancel = self.act(self.back)
        if self.state.get("labelling"):
            field = self.field(_LABEL, hint="Label")
            return self.widgets.ask_text("Add label", field, "OK", self._label, cancel)
        if "picking" not in self.state:
            return None
        hour, minute = (int(part) for part in self.state["time"])
        parts = self.widgets.clock(
            hour,
            minute,
            is_24=self.host.is_24_hours(),
            on_pick=lambda hour, minute: self.state.update(time=[hour, minute]),
        )
        buttons = self.widgets.buttons(
            self.widgets.button("Cancel", cancel, name="android:id/button2"),
            self.widgets.button("OK", self._pick, name="android:id/button1"),
        )
        return self.widgets.dialog(*parts, buttons, on_outside=cancel)

    def back(self) -> bool:
        """Close an open part of the screen."""
        kept = [self.state.pop(key, None) for key in ("searching", "labelling", "picking")]
        was_open = any(view is not None for view in kept)
        for name in (_SEARCH, _LABEL):
            self.drop_field(name)
        return was_open

    def submit(self, name: str) -> None:
        """Accept the label, or the first city."""
        if name == _LABEL:
            self._label()
        elif places := find_places(self.field_text(_SEARCH)):
            self._add_city(places[0])

    def _page(self, title: str, rows: list[View], name: str, button: View | None) -> View:
        listed = self.widgets.list_of(name, rows, self.offset(name), bottom_px=dp(88))
        body = self.widgets.column(self.widgets.bar(title), listed)
        children = [body] if button is None else [body, button]
        return View("FrameLayout", children=children, flow=Flow.STACK)

    # Alarms

    def _alarms(self) -> View:
        rows = [self._alarm(row) for row in list_alarms(self.store)]
        if not rows:
            rows = [self.widgets.empty("alarm", "No alarms")]
        add = self.widgets.floating_button("Add alarm", self._begin, name="fab")
        return self._page("Alarm", rows, "alarm_recycler_view", add)

    def _begin(self) -> None:
        self.state.update(picking=0, time=[_NEW_HOUR, 0])
        self.state["picking"] = "new"

    def _pick(self) -> None:
        hour, minute = self.state.get("time", [_NEW_HOUR, 0])
        number = self.state.pop("picking")
        if number == "new":
            number = add_alarm(self.store, hour, minute)
        else:
            self.store.change(
                "UPDATE alarm SET hour=?, minutes=?, enabled=1, snoozed=NULL WHERE _id=?",
                (hour, minute, number),
            )
        row = next(alarm for alarm in list_alarms(self.store) if alarm["_id"] == number)
        wait = next_time(row, self.host.now()) - self.host.now()
        minutes = int(wait.total_seconds()) // 60 + 1
        self.state["unfolded"] = number
        self.toast(f"Alarm set for {minutes // 60} hours and {minutes % 60} minutes from now.")

    def _alarm(self, row: Row) -> View:
        theme, is_on = self.host.theme, bool(row["enabled"])
        when = self.host.now().replace(hour=row["hour"], minute=row["minutes"])
        shown = clock_text(when, is_24=self.host.is_24_hours(), gap=_HAIR_SPACE)
        is_open = self.state.get("unfolded") == row["_id"]
        time = self.widgets.text(
            shown, "digital_clock", size_px=dp(40), ink=theme.ink if is_on else theme.ink_soft
        )
        time.on_tap = self.set(picking=row["_id"], time=[row["hour"], row["minutes"]])
        time.label = shown
        arrow = self.widgets.icon_button(
            "collapse" if is_open else "expand",
            "Collapse alarm" if is_open else "Expand alarm",
            self.set(unfolded=None if is_open else row["_id"]),
            name="arrow",
        )
        days = [day for place, day in enumerate(DAYS) if row["daysofweek"] >> place & 1]
        caption = ", ".join(days) if days else self._once(row) if is_on else "Not scheduled"
        summary = self.widgets.text(
            caption, "days_of_week", size_px=SMALL_PX, ink=theme.ink_soft, lines=2
        )
        summary.weight = 1
        switch = self.widgets.switch(checked=is_on, name="onoff")
        switch.on_tap = self.act(self._change, row, "enabled", int(not is_on))
        rest = View(weight=1, is_silent=True)
        parts = [
            self.widgets.row(time, rest, arrow),
            self.widgets.row(summary, switch, height_px=dp(40)),
        ]
        if row["label"]:
            parts.insert(0, self.widgets.text(row["label"], "label", size_px=SMALL_PX, bold=True))
        if is_open:
            parts += self._alarm_details(row)
        card = self.widgets.card(*parts, name="alarm_card")
        return self.widgets.padded(card)

    def _once(self, row: Row) -> str:
        now = self.host.now()
        return "Today" if next_time(row, now).date() == now.date() else "Tomorrow"

    def _alarm_details(self, row: Row) -> list[View]:
        days = [
            self.widgets.chip(
                day[0],
                self.act(self._change, row, "daysofweek", row["daysofweek"] ^ (1 << place)),
                is_on=bool(row["daysofweek"] >> place & 1),
                label=day,
            )
            for place, day in enumerate(DAYS)
        ]
        for day in days:
            day.weight, day.padding_px = 1, (0, 0, 0, 0)
        week = self.widgets.row(*days, height_px=dp(48), gap_px=dp(4))
        label = self.widgets.button(
            row["label"] or "Add label", self.act(self._begin_label, row), name="edit_label"
        )
        delete = self.widgets.button("Delete", self.act(self._delete, row), name="delete")
        rest = View(weight=1, is_silent=True)
        return [week, self.widgets.row(label, rest, delete, height_px=dp(48))]

    def _change(self, row: Row, column: str, value: int) -> None:
        # The column is one of the two above.
        change = f"UPDATE alarm SET {column}=?, snoozed=NULL WHERE _id=?"  # noqa: S608
        self.store.change(change, (value, row["_id"]))

    def _delete(self, row: Row) -> None:
        self.store.change("DELETE FROM alarm WHERE _id=?", (row["_id"],))
        self.toast("Alarm deleted")

    def _begin_label(self, row: Row) -> None:
        self.state["labelling"] = row["_id"]
        self.put_field(_LABEL, row["label"])
        self.focus(_LABEL)

    def _label(self) -> None:
        self.store.change(
            "UPDATE alarm SET label=? WHERE _id=?",
            (self.field_text(_LABEL).strip(), self.state.get("labelling")),
        )
        self.back()

    # The world clock

    def _clock(self) -> View:
        now, theme = self.host.now(), self.host.theme
        own = self.widgets.text(
            clock_text(now, is_24=self.host.is_24_hours(), gap=_HAIR_SPACE),
            "digital_clock",
            size_px=dp(64),
            centered=True,
        )
        date = self.widgets.text(
            f"{now:%a}, {now.day} {now:%b}", "date", centered=True, ink=theme.ink_soft
        )
        head = self.widgets.column(own, date, padding_px=(0, dp(16), 0, dp(24)))
        rows = [head, *(self._city(row, now) for row in list_cities(self.store))]
        add = self.widgets.floating_button("Cities", self._search, name="fab", icon="public")
        return self._page("Clock", rows, "cities", add)

    def _search(self) -> None:
        self.state["searching"] = True
        self.focus(_SEARCH)

    def _city(self, row: Row, now: datetime) -> View:
        there = now.astimezone(ZoneInfo(row["zone"]))
        own, other = now.utcoffset(), there.utcoffset()
        hours = 0.0 if own is None or other is None else (other - own).total_seconds() / 3600
        day = {0: "Today", 1: "Tomorrow", -1: "Yesterday"}[(there.date() - now.date()).days]
        ahead = f", {abs(hours):g} hours {'ahead' if hours > 0 else 'behind'}" if hours else ""
        time = self.widgets.text(
            clock_text(there, is_24=self.host.is_24_hours(), gap=_HAIR_SPACE),
            "digital_clock",
            size_px=LARGE_PX,
        )
        view = self.widgets.item(
            row["name"],
            summary=f"{day}{ahead}",
            names=("city_name", "city_day"),
            on_tap=lambda: None,
            trailing=time,
        )
        view.on_hold = self.act(self._remove_city, row)
        return view

    def _remove_city(self, row: Row) -> None:
        self.store.change("DELETE FROM city WHERE _id=?", (row["_id"],))
        self.toast(f"{row['name']} removed")

    def _cities(self) -> View:
        wanted = self.field_text(_SEARCH).strip()
        bar = self.widgets.bar("Add a city", on_back=self.act(self.back))
        field = self.widgets.padded(self.field(_SEARCH, hint="Search for a city"))
        rows = [
            self.widgets.item(
                place.name,
                summary=place.region,
                names=("city_name", "city_time"),
                on_tap=self.act(self._add_city, place),
            )
            for place in find_places(wanted)
        ]
        if wanted and not rows:
            rows = [self.widgets.empty("search", "No cities found")]
        return self.widgets.column(
            bar, field, self.widgets.list_of("cities_list", rows, self.offset("cities_list"))
        )

    def _add_city(self, place: Place) -> None:
        known = self.store.rows("SELECT 1 FROM city WHERE name=?", (place.name,))
        if not known:
            self.store.insert(
                "INSERT INTO city (name, zone) VALUES (?, ?)", (place.name, place.zone)
            )
        self.state["tab"] = _CLOCK
        self.back()

    # Timers

    def _timers(self) -> View:
        rows = [self._timer(row) for row in list_timers(self.store)]
        if self.state.get("setting") or not rows:
            return self._timer_keys(has_others=bool(rows))
        add = self.widgets.floating_button("Add timer", self.set(setting="0"), name="fab")
        return self._page("Timer", rows, "timers", add)

    def _timer(self, row: Row) -> View:
        left, is_on = left_s(row, self._now_ms), row["ends"] is not None
        sign = "-" if left < 0 else ""
        shown = self.widgets.text(
            f"{sign}{length_text(abs(left))}", "timer_time_text", size_px=dp(44), centered=True
        )
        title = self.widgets.text(
            f"{length_text(row['length'])} timer", "timer_label", size_px=SMALL_PX,
            ink=self.host.theme.ink_soft,
        )  # fmt: skip
        title.weight = 1
        delete = self.widgets.icon_button(
            "close", "Delete timer", self.act(self._drop_timer, row), name="close"
        )
        caption = "Pause" if is_on else "Start"
        toggle = self.widgets.chip(
            caption,
            self.act(lambda: toggle_timer(self.store, row, self._now_ms)),
            name="play_pause",
        )
        again = self.widgets.chip(
            "Reset", self.act(reset_timer, self.store, row["_id"]), name="reset"
        )
        rest = [View(weight=1, is_silent=True) for _ in range(2)]
        buttons = self.widgets.row(rest[0], again, toggle, rest[1], gap_px=dp(12))
        card = self.widgets.card(self.widgets.row(title, delete), shown, buttons)
        card.gap_px = dp(6)
        return self.widgets.padded(card)

    def _drop_timer(self, row: Row) -> None:
        self.store.change("DELETE FROM timer WHERE _id=?", (row["_id"],))

    def _timer_keys(self, *, has_others: bool) -> View:
        digits = str(self.state.get("digits", "")).rjust(_MAX_DIGITS, "0")
        shown = f"{digits[:2]}h {digits[2:4]}m {digits[4:]}s"
        time = self.widgets.text(shown, "timer_setup_time", size_px=dp(40), centered=True)
        names = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "00", "0", "back"]
        keys = [self._timer_key(name) for name in names]
        rows = [
            self.widgets.row(*keys[start : start + 3], height_px=dp(56), gap_px=dp(12))
            for start in range(0, len(keys), 3)
        ]
        cancel = self.widgets.button("Cancel", self.act(self._end_setting), name="timer_cancel")
        start = self.widgets.button("Start", self._start_timer, name="fab", filled=True)
        buttons = [cancel, start] if has_others else [start]
        rest = [View(weight=1, is_silent=True) for _ in range(2)]
        buttons_row = self.widgets.row(rest[0], *buttons, rest[1], height_px=dp(64))
        keys_list = self.widgets.list_of(
            "timer_setup", [time, *rows, buttons_row], self.offset("timer_setup")
        )
        keys_list.gap_px = dp(8)
        keys_list.padding_px = (EDGE_PX, 0, EDGE_PX, 0)
        return self.widgets.column(self.widgets.bar("Timer"), keys_list)

    def _timer_key(self, name: str) -> View:
        look = Look(
            fill=self.host.theme.surface,
            ink=self.host.theme.ink,
            radius_px=dp(28),
            size_px=dp(24),
            is_centered=True,
            icon="backspace" if name == "back" else "",
        )
        return View(
            "Button",
            "timer_setup_delete" if name == "back" else f"timer_setup_digit_{name}",
            text="" if name == "back" else name,
            label="Backspace" if name == "back" else name,
            look=look,
            weight=1,
            height_px=dp(56),
            align=Align.CENTER,
            on_tap=self.act(self._type, name),
        )

    def _type(self, name: str) -> None:
        digits = str(self.state.get("digits", ""))
        digits = digits[:-1] if name == "back" else f"{digits}{name}".lstrip("0")
        self.state["digits"] = digits[:_MAX_DIGITS]

    def _end_setting(self) -> None:
        self.state.pop("setting", None)
        self.state.pop("digits", None)

    def _start_timer(self) -> None:
        digits = str(self.state.get("digits", "")).rjust(_MAX_DIGITS, "0")
        length_s = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:])
        if length_s:
            add_timer(self.store, length_s, self._now_ms)
        self._end_setting()

    # The stopwatch

    def _stopwatch(self) -> View:
        since, kept = self.state.get("since"), int(self.state.get("kept_ms", 0))
        passed = kept + (self._now_ms - int(since) if since else 0)
        shown = self.widgets.text(
            length_text(passed // 1000), "stopwatch_time_text", size_px=dp(56), centered=True
        )
        caption = "Pause" if since else "Start"
        toggle = self.widgets.button(
            caption, self.act(self._toggle_watch, passed), name="fab", filled=True
        )
        reset = self.widgets.button("Reset", self.set(since=None, kept_ms=0), name="right_button")
        rest = [View(weight=1, is_silent=True) for _ in range(4)]
        return self.widgets.column(
            self.widgets.bar("Stopwatch"),
            rest[0],
            shown,
            rest[1],
            self.widgets.row(rest[2], reset, toggle, rest[3], height_px=dp(96), gap_px=dp(16)),
        )

    def _toggle_watch(self, passed: int) -> None:
        if self.state.get("since"):
            self.state.update(since=None, kept_ms=passed)
        else:
            self.state["since"] = self._now_ms
