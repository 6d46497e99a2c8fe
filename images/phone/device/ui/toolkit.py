"""Compound widgets: tabs, chips, cards, questions, menus, pickers."""

from __future__ import annotations

import calendar
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Align, Flow, Look, Traits, View
from images.phone.device.ui.widgets import EDGE_PX, ICON_PX, SMALL_PX, Widgets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from images.phone.device.ui.widgets import Act

_WEEK = ("M", "T", "W", "T", "F", "S", "S")
_CELL_PX = dp(40)


class Tab(NamedTuple):
    """One of several views of an application."""

    label: str
    icon: str
    on_tap: Act
    is_selected: bool


class Toolkit(Widgets):
    """Factory of compound widgets in the colours of a theme."""

    def tabs(self, tabs: Sequence[Tab], name: str = "bottom_nav") -> View:
        """Show the bottom bar that switches between an application's views."""
        return View(
            "FrameLayout",
            name,
            children=[self._tab(tab) for tab in tabs],
            flow=Flow.ACROSS,
            height_px=dp(72),
            look=Look(fill=self.theme.surface),
        )

    def _tab(self, tab: Tab) -> View:
        theme, is_on = self.theme, tab.is_selected
        ink = theme.on_tint if is_on else theme.ink_soft
        pill = View(
            width_px=dp(60),
            height_px=dp(30),
            look=Look(
                fill=theme.tint if is_on else None,
                radius_px=dp(15),
                icon=tab.icon,
                size_px=ICON_PX,
                ink=ink,
            ),
            is_silent=True,
        )
        label = self.text(tab.label, size_px=dp(12), bold=is_on, ink=theme.ink)
        label.is_silent = True
        return View(
            "FrameLayout",
            label=tab.label,
            children=[pill, label],
            align=Align.CENTER,
            weight=1,
            gap_px=dp(2),
            padding_px=(0, dp(10), 0, 0),
            traits=Traits(selected=is_on),
            on_tap=tab.on_tap,
        )

    def chip(
        self, text: str, on_tap: Act, *, name: str = "", is_on: bool = False, label: str = ""
    ) -> View:
        """Show a small toggle button."""
        theme = self.theme
        look = Look(
            fill=theme.tint if is_on else theme.background,
            outline=None if is_on else theme.line,
            ink=theme.on_tint if is_on else theme.ink,
            radius_px=dp(8),
            size_px=SMALL_PX,
            is_centered=True,
        )
        return View(
            "Button",
            name,
            text=text,
            label=label,
            look=look,
            on_tap=on_tap,
            height_px=dp(36),
            padding_px=(dp(14), 0, dp(14), 0),
            traits=Traits(checkable=True, checked=is_on, selected=is_on),
        )

    def card(self, *children: View, name: str = "", on_tap: Act | None = None) -> View:
        """Show views on a card."""
        return View(
            "FrameLayout",
            name,
            children=list(children),
            look=Look(fill=self.theme.surface, radius_px=dp(16)),
            padding_px=(EDGE_PX, dp(12), EDGE_PX, dp(12)),
            on_tap=on_tap,
        )

    def padded(self, *children: View, gap_px: int = 0) -> View:
        """Stack views vertically with padding."""
        view = self.column(*children, padding_px=(EDGE_PX, dp(6), EDGE_PX, dp(6)))
        view.gap_px = gap_px
        return view

    def floating(self, *children: View) -> View:
        """Show views side by side on a small panel."""
        return View(
            "LinearLayout",
            "floating_toolbar",
            children=list(children),
            flow=Flow.ACROSS,
            align=Align.CENTER,
            look=Look(fill=self.theme.surface, outline=self.theme.line, radius_px=dp(20)),
        )

    def empty(self, icon: str, message: str) -> View:
        """Show an empty-list message."""
        picture = self.icon(icon, size_px=dp(64), ink=self.theme.line)
        picture.height_px = dp(120)
        text = self.text(message, "empty_text", centered=True, lines=3, ink=self.theme.ink_soft)
        return self.column(picture, text, padding_px=(EDGE_PX, dp(80), EDGE_PX, dp(24)))

    def search(self, field: View) -> View:
        """Turn a text field into a search bar."""
        field.look.fill, field.look.outline = self.theme.surface, None
        field.look.radius_px = dp(28)
        return self.column(field, padding_px=(EDGE_PX, dp(12), EDGE_PX, dp(8)))

    def buttons(self, *buttons: View) -> View:
        """Place a dialog's buttons in a row at the right."""
        return self.row(View(weight=1, is_silent=True), *buttons, height_px=dp(56))

    def question(self, message: str, yes: str, on_yes: Act, on_no: Act) -> View:
        """Ask for confirmation."""
        return self.dialog(
            self.text(message, "android:id/message", lines=4),
            self.space(dp(8)),
            self.buttons(
                self.button("Cancel", on_no, name="android:id/button2"),
                self.button(yes, on_yes, name="android:id/button1"),
            ),
            on_outside=on_no,
        )

    def menu(self, title: str, entries: Sequence[tuple[str, Act]], on_outside: Act) -> View:
        """Show a list to choose from."""
        rows = [self.item(caption, on_tap=act) for caption, act in entries]
        for row in rows:
            row.padding_px = (0, dp(8), 0, dp(8))
        head = [self.text(title, "android:id/alertTitle", size_px=dp(20), lines=2)] if title else []
        return self.dialog(*head, *rows, self.space(0), on_outside=on_outside)

    def ask_text(self, title: str, field: View, yes: str, on_yes: Act, on_no: Act) -> View:
        """Ask for text input."""
        return self.dialog(
            self.text(title, "android:id/alertTitle", size_px=dp(20), lines=2),
            self.space(dp(12)),
            field,
            self.space(dp(8)),
            self.buttons(
                self.button("Cancel", on_no, name="android:id/button2"),
                self.button(yes, on_yes, name="android:id/button1"),
            ),
            on_outside=on_no,
        )

    def month(
        self,
        year: int,
        month: int,
        chosen: date,
        on_day: Callable[[int], None],
        on_turn: Callable[[int], None],
    ) -> list[View]:
        """Show a month for choosing a day.

        Args:
            year: year to show.
            month: month to show, 1 to 12.
            chosen: date to mark if it is in that month.
            on_day: called with the tapped day of the month.
            on_turn: called with the number of months to move forward.
        """
        name = f"{calendar.month_name[month]} {year}"
        title = self.text(name, "date_picker_header", bold=True, centered=True)
        title.weight = 1
        head = self.row(
            self.icon_button("previous", "Previous month", lambda: on_turn(-1)),
            title,
            self.icon_button("chevron", "Next month", lambda: on_turn(1)),
        )
        week = self.row(*(self._cell(letter, None, is_on=False) for letter in _WEEK))
        rows = [
            self.row(
                *(
                    self._cell(
                        str(day) if day else "",
                        partial(on_day, day) if day else None,
                        is_on=(year, month, day) == (chosen.year, chosen.month, chosen.day),
                        label=f"{day:02d} {name}" if day else "",
                    )
                    for day in days
                )
            )
            for days in calendar.monthcalendar(year, month)
        ]
        for row in (week, *rows):
            row.height_px = _CELL_PX
        return [head, week, *rows]

    def clock(
        self, hour: int, minute: int, *, is_24: bool, on_pick: Callable[[int, int], None]
    ) -> list[View]:
        """Show hours and minutes for choosing a time.

        Args:
            hour: chosen hour, 0 to 23.
            minute: chosen minute.
            is_24: whether hours are shown from 0 to 23.
            on_pick: called with the hour and the minute.
        """
        half = hour // 12 * 12
        hours = range(24) if is_24 else [12, *range(1, 12)]
        cells = [
            self._cell(
                f"{choice:02d}" if is_24 else str(choice),
                partial(on_pick, choice if is_24 else half + choice % 12, minute),
                is_on=hour == choice if is_24 else hour % 12 == choice % 12,
                label=f"{choice} hours",
            )
            for choice in hours
        ]
        minutes = [
            self._cell(
                f"{choice:02d}",
                partial(on_pick, hour, choice),
                is_on=choice == minute,
                label=f"{choice} minutes",
            )
            for choice in range(0, 60, 5)
        ]
        shown = f"{hour:02d}:{minute:02d}" if is_24 else f"{hour % 12 or 12}:{minute:02d}"
        title = self.text(shown, "time_header", size_px=dp(36), centered=True)
        title.weight = 1
        step = [
            self.icon_button("remove", "One minute less", lambda: on_pick(hour, (minute - 1) % 60)),
            title,
            self.icon_button("add", "One minute more", lambda: on_pick(hour, (minute + 1) % 60)),
        ]
        parts = [self.row(*step, height_px=dp(56))]
        if not is_24:
            parts.append(
                self.row(
                    self.chip("AM", lambda: on_pick(hour % 12, minute), is_on=half == 0),
                    self.chip("PM", lambda: on_pick(hour % 12 + 12, minute), is_on=half != 0),
                    gap_px=dp(8),
                )
            )
        columns = 6
        for title_words, group in (("Hour", cells), ("Minute", minutes)):
            heading = self.text(title_words, size_px=SMALL_PX, ink=self.theme.ink_soft)
            heading.padding_px = (0, dp(8), 0, dp(4))
            parts.append(heading)
            parts += [
                self.row(*group[start : start + columns], height_px=_CELL_PX)
                for start in range(0, len(group), columns)
            ]
        return parts

    def _cell(self, text: str, on_tap: Act | None, *, is_on: bool, label: str = "") -> View:
        theme = self.theme
        ink = theme.on_primary if is_on else theme.ink if on_tap else theme.ink_soft
        look = Look(
            fill=theme.primary if is_on else None,
            ink=ink,
            radius_px=dp(18),
            size_px=SMALL_PX,
            is_centered=True,
        )
        return View(
            "android.view.View",
            text=text,
            label=label,
            look=look,
            on_tap=on_tap,
            weight=1,
            height_px=dp(36),
            traits=Traits(selected=is_on),
            is_silent=on_tap is None,
        )
