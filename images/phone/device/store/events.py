"""Calendar events as rows.

Source: ``CalendarContract.Events`` for the columns; an all-day event begins and ends at
midnight UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store


class EventDraft(NamedTuple):
    """The details of an event.

    Attributes:
        title: title of the event.
        start_ms: ms since the epoch.
        end_ms: ms since the epoch, not before the start.
        is_all_day: whether the event has no times.
        place: location; may be empty.
        notes: description; may be empty.
    """

    title: str
    start_ms: int
    end_ms: int
    is_all_day: bool = False
    place: str = ""
    notes: str = ""


def save_event(store: Store, draft: EventDraft, event_id: int | None = None) -> int:
    """Write an event, replacing an old one if its ID is given; return the ID."""
    values = (
        draft.title,
        draft.start_ms,
        draft.end_ms,
        int(draft.is_all_day),
        draft.place,
        draft.notes,
    )
    if event_id is None:
        return store.insert(
            "INSERT INTO event (title, dtstart, dtend, allDay, eventLocation, description)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            values,
        )
    store.change(
        "UPDATE event SET title=?, dtstart=?, dtend=?, allDay=?, eventLocation=?, description=?"
        " WHERE _id=?",
        (*values, event_id),
    )
    return event_id


def list_events(store: Store, start_ms: int, end_ms: int) -> list[Row]:
    """Return the events that overlap a time span, by start time."""
    return store.rows(
        "SELECT * FROM event WHERE dtstart < ? AND max(dtend, dtstart + 1) > ?"
        " ORDER BY dtstart, allDay DESC, _id",
        (end_ms, start_ms),
    )


def load_event(store: Store, event_id: int) -> Row | None:
    """Return one event; None if it does not exist."""
    rows = store.rows("SELECT * FROM event WHERE _id=?", (event_id,))
    return rows[0] if rows else None
