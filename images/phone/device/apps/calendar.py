"""The Calendar application."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING

from images.phone.device.apps.links import fields_of
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import clock_text, long_date
from images.phone.device.store.events import EventDraft, list_events, load_event, save_event
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.toolkit import Tab
from images.phone.device.ui.view import Align, Flow, Look, View
from images.phone.device.ui.widgets import EDGE_PX, SMALL_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

_UTC = timezone.utc  # noqa: UP017 - 3.10
_SCHEDULE, _MONTH, _DAY = "schedule", "month", "day"
_AHEAD_DAYS = 730
_FIRST_YEAR, _LAST_YEAR = 1971, 2199
# Source: CRAB's evaluators search for the support library's class name.
_OLD_RECYCLER = "android.support.v7.widget.RecyclerView"
_HOUR_MS = 3_600_000
EDITOR = "com.android.calendar.event.EditEventActivity"


def day_of(row: Row, screen: Screen) -> date:
    """Return the start day of an event."""
    zone = _UTC if row["allDay"] else screen.host.now().tzinfo
    return datetime.fromtimestamp(row["dtstart"] / 1000, tz=zone).date()


def span_text(row: Row, screen: Screen) -> str:
    """Return the start and end of an event as text."""
    if row["allDay"]:
        return "All day"
    zone, is_24 = screen.host.now().tzinfo, screen.host.is_24_hours()
    start, end = (
        clock_text(datetime.fromtimestamp(row[name] / 1000, tz=zone), is_24=is_24)
        for name in ("dtstart", "dtend")
    )
    return f"{start} \u2013 {end}"


class CalendarScreen(Screen):
    """The schedule, a month, or a day."""

    activity = "com.android.calendar.AllInOneActivity"

    @property
    def day(self) -> date:
        """The selected day."""
        kept = self.state.get("day")
        return date.fromisoformat(str(kept)) if kept else self.host.now().date()

    def content(self) -> View:
        """Show the chosen view with the bar below it."""
        kind = str(self.state.get("view", _SCHEDULE))
        today = self.widgets.icon_button("today", "Jump to today", self._jump, name="today_button")
        shown = {_SCHEDULE: self._schedule, _MONTH: self._month, _DAY: self._one_day}[kind]
        body = self.widgets.column(self.widgets.bar(f"{self.day:%B %Y}", actions=(today,)), shown())
        add = self.widgets.floating_button(
            "Create new event", self._create, name="floating_action_button"
        )
        pages = View("FrameLayout", children=[body, add], flow=Flow.STACK, weight=1)
        tabs = [
            Tab(caption, icon, self.set(view=name), name == kind)
            for name, caption, icon in (
                (_SCHEDULE, "Schedule", "tasks"),
                (_DAY, "Day", "today"),
                (_MONTH, "Month", "event"),
            )
        ]
        return self.widgets.column(pages, self.widgets.tabs(tabs))

    def back(self) -> bool:
        """Go back to the schedule."""
        return str(self.state.pop("view", _SCHEDULE)) != _SCHEDULE

    def swipe(self, dx: int, dy: int) -> None:
        """Go to the previous or next day or month."""
        if abs(dx) <= abs(dy):
            return
        step = -1 if dx > 0 else 1
        kind = self.state.get("view")
        if kind == _DAY:
            self._go(self.day + timedelta(days=step))
        elif kind == _MONTH:
            self._turn(step)

    def _jump(self) -> None:
        self.state.pop("day", None)
        self.state.pop("scroll", None)

    def _go(self, day: date) -> None:
        if _FIRST_YEAR <= day.year <= _LAST_YEAR:
            self.state["day"] = day.isoformat()

    def _turn(self, step: int) -> None:
        month = self.day.month - 1 + step
        self._go(date(self.day.year + month // 12, month % 12 + 1, 1))

    def _create(self) -> None:
        self.open(EDITOR, {"focus": "title"}, day=self.day.isoformat())

    def _events(self, start: date, days: int) -> list[Row]:
        zone = self.host.now().tzinfo
        first = datetime.combine(start, time(), tzinfo=zone)
        start_ms = int(first.timestamp() * 1000)
        rows = list_events(self.store, start_ms - 15 * _HOUR_MS, start_ms + days * 24 * _HOUR_MS)
        return [row for row in rows if self._touches(row, start, days)]

    def _touches(self, row: Row, start: date, days: int) -> bool:
        zone = _UTC if row["allDay"] else self.host.now().tzinfo
        last_ms = max(row["dtstart"], row["dtend"] - 1)
        last = datetime.fromtimestamp(last_ms / 1000, tz=zone).date()
        return day_of(row, self) < start + timedelta(days=days) and last >= start

    def _schedule(self) -> View:
        start = self.day
        rows: list[View] = []
        last = None
        for row in self._events(start, _AHEAD_DAYS):
            day = max(start, day_of(row, self))
            rows.append(self._line(row, day, is_first=day != last))
            last = day
        if not rows:
            rows = [self.widgets.empty("event", f"No events from {long_date(self._noon(start))}")]
        listed = self.widgets.list_of(
            "schedule_list", rows, self.offset("schedule_list"), bottom_px=dp(88)
        )
        listed.kind = _OLD_RECYCLER
        return listed

    def _noon(self, day: date) -> datetime:
        return datetime.combine(day, time(12), tzinfo=self.host.now().tzinfo)

    def _line(self, row: Row, day: date, *, is_first: bool) -> View:
        theme = self.host.theme
        noon = self._noon(day)
        is_today = day == self.host.now().date()
        ink = theme.primary if is_today else theme.ink
        week = self.widgets.text(f"{noon:%a}", size_px=dp(12), centered=True, ink=ink)
        number = self.widgets.text(str(day.day), size_px=dp(22), centered=True, ink=ink)
        lead = [week, number] if is_first else [self.widgets.space(0)]
        margin = self.widgets.column(*lead).sized(dp(48))
        margin.is_silent = True
        span = span_text(row, self)
        card = View(
            "FrameLayout",
            children=[
                self.widgets.text(row["title"], "event_title", ink=theme.on_tint, lines=2),
                self.widgets.text(span, "event_time", size_px=SMALL_PX, ink=theme.on_tint),
            ],
            look=Look(fill=theme.tint, radius_px=dp(10)),
            padding_px=(dp(12), dp(8), dp(12), dp(8)),
            weight=1,
        )
        month = self.widgets.text(f"{noon:%B %Y}", size_px=SMALL_PX, ink=theme.ink_soft, bold=True)
        line = self.widgets.row(margin, card, gap_px=dp(8))
        line.align = Align.START
        parts = [line]
        if is_first and day.day == 1:
            parts.insert(0, month)
        place = f", {row['eventLocation']}" if row["eventLocation"] else ""
        view = self.widgets.column(*parts, padding_px=(EDGE_PX, dp(4), EDGE_PX, dp(4)))
        view.kind = "android.view.View"
        view.label = f"{long_date(noon)}, {row['title']}, {span}{place}"
        view.on_tap = self.act(self._open, row)
        return view

    def _open(self, row: Row) -> None:
        values = {
            "title": row["title"],
            "location": row["eventLocation"],
            "description": row["description"],
        }
        day = day_of(row, self).isoformat()
        self.open(EDITOR, {"fields": fields_of(values)}, event=row["_id"], day=day)

    def _one_day(self) -> View:
        day = self.day
        noon = self._noon(day)
        head = self.widgets.text(
            f"{noon:%A}, {long_date(noon)}", "day_header", bold=True, ink=self.host.theme.primary
        )
        head.label = f"{noon:%A %d %B %Y}, Open Schedule View"
        head.padding_px = (EDGE_PX, dp(4), EDGE_PX, dp(12))
        head.on_tap = self.set(view=_SCHEDULE)
        chips = [self._line(row, day, is_first=False) for row in self._events(day, 1)]
        if not chips:
            chips = [self.widgets.empty("event", "Nothing planned")]
        steps = self.widgets.row(
            self.widgets.icon_button(
                "previous", "Previous day", self.act(self._go, day - timedelta(days=1))
            ),
            View(weight=1, is_silent=True),
            self.widgets.icon_button(
                "chevron", "Next day", self.act(self._go, day + timedelta(days=1))
            ),
        )
        listed = self.widgets.list_of("day_list", [head, steps, *chips], self.offset("day_list"))
        listed.name = "alternate_timeline_fragment_container"
        return listed

    def _month(self) -> View:
        day = self.day
        parts = self.widgets.month(
            day.year, day.month, day, lambda number: self._go(day.replace(day=number)), self._turn
        )
        chips = [self._line(row, day, is_first=False) for row in self._events(day, 1)]
        if not chips:
            caption = f"No events on {long_date(self._noon(day))}"
            chips = [self.widgets.text(caption, "empty_text", ink=self.host.theme.ink_soft)]
            chips[0].padding_px = (EDGE_PX, dp(16), EDGE_PX, 0)
        grid = self.widgets.padded(*parts)
        return self.widgets.list_of(
            "month_list", [grid, self.widgets.line(), *chips], self.offset("month_list")
        )


class EventScreen(Screen):
    """One event, to create or edit."""

    activity = EDITOR
    multiline = frozenset({"description"})

    def content(self) -> View:
        """Show the fields of the event."""
        draft, is_new = self._draft(), "event" not in self.entry.arguments
        save = self.widgets.button("Save", self._save, name="save", filled=True)
        delete = self.widgets.icon_button("delete", "Delete event", self.set(asking=True))
        actions = (save,) if is_new else (delete, save)
        close = self.widgets.bar("", on_back=self.act(self.finish), actions=actions)
        title = self.field("title", hint="Add title", framed=False)
        title.look.size_px = dp(24)
        zone = self.host.now().tzinfo
        stamps = [
            datetime.fromtimestamp(value / 1000, tz=_UTC if draft.is_all_day else zone)
            for value in (draft.start_ms, draft.end_ms - (1 if draft.is_all_day else 0))
        ]
        whole = self.widgets.item(
            "All-day",
            icon="clock",
            on_tap=self.act(self._keep, allDay=not draft.is_all_day),
            trailing=self.widgets.switch(checked=draft.is_all_day, name="all_day_switch"),
        )
        rows = [title, self.widgets.line(), whole]
        for name, caption, stamp in zip(("start", "end"), ("Start", "End"), stamps, strict=True):
            rows.append(self._moment(name, caption, stamp, is_all_day=draft.is_all_day))
        place = self.field("location", hint="Add location", framed=False)
        notes = self.field("description", hint="Add description", framed=False, lines=20)
        rows += [self.widgets.line(), place, self.widgets.line(), notes]
        return self.widgets.column(
            close, self.widgets.list_of("editor", rows, self.offset("editor"))
        )

    def dialog(self) -> View | None:
        """Show a picker, a question, or an error."""
        cancel = self.act(self.back)
        if self.state.get("asking"):
            return self.widgets.question("Delete this event?", "Delete", self._delete, cancel)
        picking = self.state.get("picking")
        if not picking:
            return None
        name, kind = str(picking).split()
        moment = self._moment_of(name)
        done = self.widgets.buttons(self.widgets.button("OK", cancel, name="android:id/button1"))
        if kind == "time":
            parts = self.widgets.clock(
                moment.hour,
                moment.minute,
                is_24=self.host.is_24_hours(),
                on_pick=lambda hour, minute: self._set(
                    name, moment.replace(hour=hour, minute=minute)
                ),
            )
        else:
            shown = date.fromisoformat(str(self.state.get("month", moment.date().isoformat())))
            parts = self.widgets.month(
                shown.year,
                shown.month,
                moment.date(),
                lambda day: self._set(
                    name, moment.replace(year=shown.year, month=shown.month, day=day)
                ),
                lambda step: self._turn(shown, step),
            )
        return self.widgets.dialog(*parts, done, on_outside=cancel)

    def back(self) -> bool:
        """Close the picker or the question."""
        was_open = self.state.pop("picking", None) or self.state.pop("asking", None)
        self.state.pop("month", None)
        return bool(was_open)

    def submit(self, name: str) -> None:
        """Go to the next field."""
        self.focus({"title": "", "location": "description"}.get(name, ""))

    def _turn(self, shown: date, step: int) -> None:
        month = shown.month - 1 + step
        turned = date(shown.year + month // 12, month % 12 + 1, 1)
        if _FIRST_YEAR <= turned.year <= _LAST_YEAR:
            self.state["month"] = turned.isoformat()

    def _moment(self, name: str, caption: str, stamp: datetime, *, is_all_day: bool) -> View:
        day = self.widgets.chip(
            f"{stamp:%a}, {stamp.day} {stamp:%b} {stamp.year}",
            self.set(picking=f"{name} date", focus=""),
            name=f"{name}_date",
            label=f"{caption} date: {stamp:%a} {long_date(stamp)}",
        )
        parts = [self.widgets.text(caption).sized(dp(64)), day, View(weight=1, is_silent=True)]
        if not is_all_day:
            shown = clock_text(stamp, is_24=self.host.is_24_hours())
            parts.append(
                self.widgets.chip(
                    shown,
                    self.set(picking=f"{name} time", focus=""),
                    name=f"{name}_time",
                    label=f"{caption} time: {shown}",
                )
            )
        row = self.widgets.row(*parts, height_px=dp(56), gap_px=dp(8))
        row.padding_px = (EDGE_PX, 0, EDGE_PX, 0)
        return row

    def _draft(self) -> EventDraft:
        """Return the saved event with the current changes."""
        number = self.entry.arguments.get("event")
        row = load_event(self.store, int(number)) if number is not None else None
        kept = self.state.get("event", {})
        now = self.host.now()
        if row is None:
            day = date.fromisoformat(str(self.entry.arguments.get("day", now.date().isoformat())))
            first = datetime.combine(day, time(), tzinfo=now.tzinfo)
            start_ms = int(first.timestamp() * 1000) + min(now.hour + 1, 23) * _HOUR_MS
            row = {"dtstart": start_ms, "dtend": start_ms + _HOUR_MS, "allDay": 0}
        return EventDraft(
            self.field_text("title").strip(),
            int(kept.get("start", row["dtstart"])),
            int(kept.get("end", row["dtend"])),
            bool(kept.get("allDay", row["allDay"])),
            self.field_text("location").strip(),
            self.field_text("description"),
        )

    def _keep(self, **values: int) -> None:
        """Change the event's times; switching between timed and all-day adjusts them."""
        draft = self._draft()
        kept = {"start": draft.start_ms, "end": draft.end_ms, "allDay": draft.is_all_day}
        kept.update(values)
        if kept["allDay"] != draft.is_all_day:
            zone = self.host.now().tzinfo
            old, new = (zone, _UTC) if kept["allDay"] else (_UTC, zone)
            day = datetime.fromtimestamp(draft.start_ms / 1000, tz=old).date()
            start = datetime.combine(day, time(0 if kept["allDay"] else 9), tzinfo=new)
            kept["start"] = int(start.timestamp() * 1000)
            kept["end"] = kept["start"] + (24 if kept["allDay"] else 1) * _HOUR_MS
        self.state["event"] = kept

    def _moment_of(self, name: str) -> datetime:
        draft = self._draft()
        value = draft.start_ms if name == "start" else draft.end_ms
        if name == "end" and draft.is_all_day:
            value -= 24 * _HOUR_MS
        zone = _UTC if draft.is_all_day else self.host.now().tzinfo
        return datetime.fromtimestamp(value / 1000, tz=zone)

    def _set(self, name: str, moment: datetime) -> None:
        draft = self._draft()
        value = int(moment.timestamp() * 1000)
        length = draft.end_ms - draft.start_ms
        if name == "start":
            self._keep(start=value, end=value + length)
        else:
            value += 24 * _HOUR_MS if draft.is_all_day else 0
            start = draft.start_ms if value >= draft.start_ms else value - length
            self._keep(start=start, end=value)
        self.state.pop("month", None)

    def _save(self) -> None:
        draft = self._draft()
        number = self.entry.arguments.get("event")
        draft = draft._replace(title=draft.title or "(No title)")
        save_event(self.store, draft, int(number) if number is not None else None)
        self.toast("Saved")
        self.finish()

    def _delete(self) -> None:
        self.store.change("DELETE FROM event WHERE _id=?", (self.entry.arguments.get("event"),))
        self.toast("Event deleted")
        self.finish()
