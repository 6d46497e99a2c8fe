"""Evaluators of a world's calendars, which ask its CalDAV server.

Titles, places and notes are compared as they read: white space, invisible characters and Unicode
forms do not count. A cancelled event does not take place, and counts as none.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal

from icalendar import Calendar, Event
from icalendar.error import BrokenCalendarProperty

from evaluators.decorators import evaluator
from evaluators.world.texts import has_text, is_same_text
from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.world.view import WorldView

Repeats = Literal["", "never", "daily", "weekly", "monthly", "yearly"]
_ONCE = ("SUMMARY", "DTSTART", "DTEND", "LOCATION", "STATUS")


@evaluator(on="world")
def has_event(  # noqa: PLR0913 - what an event has
    world: WorldView,
    title: str,
    start: str,
    *,
    end: str = "",
    calendar: str = "",
    place: str = "",
    guests: list[str] | None = None,
    repeats: Repeats = "",
) -> bool:
    """Return whether a calendar of the person has an event with the given properties.

    A time is an instant: without an offset it is UTC, and so is an event's time without a time zone.
    A date means an event that lasts whole days. Proves the state, not who caused it.

    Example:
        ``{on: world, check: has_event, with: {title: Dentist, start: "2026-11-24T09:30"}}``

    Args:
        world: the world.
        title: the complete title.
        start: start in ISO 8601, such as ``2026-11-24``, ``2026-11-24T09:30`` or
            ``2026-11-24T09:30+01:00``.
        end: end, likewise; empty matches any. Of whole days, the day after the last.
        calendar: ``private``, ``work`` or ``birthdays``; empty for any.
        place: part of the location; empty matches any.
        guests: addresses of people who are all invited; others may be, too.
        repeats: how often it takes place; empty matches any.

    Raises:
        EvaluationError: `start` or `end` is not a time.
    """
    first, last = _read_time(start), _read_time(end) if end else None
    wanted = {address.strip().lower() for address in guests or ()}
    return any(
        is_same_text(_text(event, "SUMMARY"), title)
        and _instant(_decoded(event, "DTSTART")) == first
        and last in {None, _end_of(event)}
        and has_text(_text(event, "LOCATION"), place)
        and wanted <= _guests(event)
        and repeats in {"", _frequency(event)}
        for event in _events(world, calendar)
    )


@evaluator(on="world")
def lacks_event(world: WorldView, title: str, calendar: str = "", start: str = "") -> bool:
    """Return whether no calendar of the person has an event with a title.

    Example:
        ``{on: world, check: lacks_event, with: {title: Dentist}}``

    Args:
        world: the world.
        title: the complete title.
        calendar: ``private``, ``work`` or ``birthdays``, which must exist; empty for all.
        start: start in ISO 8601; empty for events at any time.

    Raises:
        EvaluationError: `start` is not a time.
    """
    first = _read_time(start) if start else None
    if not world.calendars(calendar):
        return False
    return not any(
        is_same_text(_text(event, "SUMMARY"), title)
        and first in {None, _instant(_decoded(event, "DTSTART"))}
        for event in _events(world, calendar)
    )


@evaluator(on="world")
def keeps_events(world: WorldView, calendar: str, besides: list[str] | None = None) -> bool:
    """Return whether a calendar still has all events of the persona, at the same times.

    For nodes with ``mode: keep``. New events are no difference.

    Example:
        ``{on: world, check: keeps_events, with: {calendar: work}}``

    Args:
        world: the world.
        calendar: ``private``, ``work`` or ``birthdays``.
        besides: titles of events that may be gone or changed.
    """
    there = {
        (_text(event, "UID"), _instant(_decoded(event, "DTSTART")))
        for event in _events(world, calendar)
    }
    allowed = besides or []
    return all(
        (event.id, event.start.date() if event.is_all_day else event.start) in there
        for event in world.persona.events
        if event.calendar == calendar
        and not any(is_same_text(event.title, name) for name in allowed)
    )


def _events(world: WorldView, calendar: str) -> Iterator[Event]:
    """Yield the events that take place, without replaced occurrences of a series."""
    for text in world.calendars(calendar):
        try:
            found = Calendar.from_ical(text, multiple=True)
        except ValueError:
            continue
        for event in (event for calendar in found for event in calendar.walk("VEVENT")):
            if isinstance(event, Event) and _takes_place(event):
                yield event


def _takes_place(event: Event) -> bool:
    """Return whether an event is planned, and has no property twice that it may have once."""
    is_clear = not any(isinstance(event.get(name), list) for name in _ONCE)
    return is_clear and _text(event, "STATUS").upper() != "CANCELLED"


def _text(event: Event, name: str) -> str:
    return str(event.get(name, ""))


def _decoded(event: Event, name: str) -> object:
    try:
        return getattr(event.get(name), "dt", None)
    except BrokenCalendarProperty:
        return None


def _end_of(event: Event) -> date | None:
    """Return when an event ends, from its end, its duration or the type of its start."""
    try:
        return _instant(event.end)
    except (BrokenCalendarProperty, TypeError, ValueError):
        return None


def _instant(when: object) -> date | None:
    """Return a day, or a time in UTC; None for anything else."""
    if isinstance(when, datetime):
        return when.replace(tzinfo=when.tzinfo or UTC).astimezone(UTC)
    return when if isinstance(when, date) else None


def _guests(event: Event) -> set[str]:
    found = event.get("ATTENDEE", [])
    rows = found if isinstance(found, list) else [found]
    return {str(row).lower().removeprefix("mailto:").strip() for row in rows}


def _frequency(event: Event) -> str:
    rule = event.get("RRULE")
    if rule is None or isinstance(rule, list):
        return "never" if rule is None else "?"
    return str(next(iter(rule.get("FREQ", [])), "never")).lower()


def _read_time(text: str) -> date | None:
    try:
        if len(text) == len("2026-11-24"):
            return date.fromisoformat(text)
        return _instant(datetime.fromisoformat(text))
    except ValueError as exc:
        raise EvaluationError(f"{text!r} is not a time in ISO 8601.") from exc
