"""Events of the calendar."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from provisioning.world.persona.model.base import Record


class Calendar(StrEnum):
    """A calendar, by its name on the server."""

    PRIVATE = "private"
    WORK = "work"
    BIRTHDAYS = "birthdays"


class Repeats(StrEnum):
    """How often an event takes place."""

    NEVER = "never"
    WEEKLY = "weekly"
    YEARLY = "yearly"


class Event(Record):
    """An event.

    Attributes:
        calendar: the calendar that it is in.
        title: its title.
        start: when it starts, or first starts, UTC.
        end: when it ends, or first ends, UTC; exclusive.
        is_all_day: whether it lasts whole days.
        place: where; empty if unknown.
        guests: ids of the contacts that are invited.
        repeats: how often it takes place.
        until: last day of an event that repeats weekly; None for other events.
        notes: description.
    """

    calendar: Calendar
    title: str
    start: datetime
    end: datetime
    is_all_day: bool
    place: str
    guests: tuple[str, ...]
    repeats: Repeats
    until: date | None
    notes: str
