"""Alarms, timers and cities of the world clock as rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


_MINUTE_S = 60


@dataclass(frozen=True)
class Ring:
    """A due alarm or timer.

    Attributes:
        kind: ``alarm`` or ``timer``, which is also the table.
        row_id: ID of its row.
        at_ms: time, ms since the epoch.
    """

    kind: str
    row_id: int
    at_ms: int


def list_alarms(store: Store) -> list[Row]:
    """Return all alarms by time of day."""
    return store.rows("SELECT * FROM alarm ORDER BY hour, minutes, _id")


def add_alarm(store: Store, hour: int, minutes: int, label: str = "") -> int:
    """Add an active alarm and return the row's ID."""
    return store.insert(
        "INSERT INTO alarm (hour, minutes, label) VALUES (?, ?, ?)", (hour, minutes, label)
    )


def next_time(row: Row, now: datetime) -> datetime:
    """Return when an alarm would ring next if it were on."""
    for ahead in range(8):
        day = now + timedelta(days=ahead)
        when = day.replace(hour=row["hour"], minute=row["minutes"], second=0, microsecond=0)
        if when > now and (not row["daysofweek"] or row["daysofweek"] >> when.weekday() & 1):
            return when
    return now + timedelta(days=7)


def list_cities(store: Store) -> list[Row]:
    """Return the cities of the world clock in the order they were added."""
    return store.rows("SELECT * FROM city ORDER BY _id")


def list_timers(store: Store) -> list[Row]:
    """Return all timers, newest first; ``ends`` is ms since the epoch, None while paused."""
    return store.rows("SELECT * FROM timer ORDER BY _id DESC")


def add_timer(store: Store, length_s: int, now_ms: int, label: str = "") -> int:
    """Start a timer and return the row's ID."""
    return store.insert(
        "INSERT INTO timer (length, ends, left, label) VALUES (?, ?, ?, ?)",
        (length_s, now_ms + length_s * 1000, length_s, label),
    )


def left_s(row: Row, now_ms: int) -> int:
    """Return the remaining time of a timer, s; negative if it is over."""
    return int(row["left"]) if row["ends"] is None else -((now_ms - row["ends"]) // 1000)


def toggle_timer(store: Store, row: Row, now_ms: int) -> None:
    """Pause or resume a timer."""
    left = left_s(row, now_ms)
    ends = now_ms + left * 1000 if row["ends"] is None else None
    store.change("UPDATE timer SET ends=?, left=? WHERE _id=?", (ends, left, row["_id"]))


def list_rings(store: Store, after: datetime) -> list[Ring]:
    """Return the next due time of each active alarm and running timer, soonest first."""
    after_ms = after.timestamp() * 1000
    rings = [
        Ring("timer", row["_id"], row["ends"])
        for row in list_timers(store)
        if row["ends"] is not None and row["ends"] > after_ms
    ]
    for row in list_alarms(store):
        if row["enabled"]:
            at_ms = int(next_time(row, after).timestamp() * 1000)
            if row["snoozed"] is not None and row["snoozed"] > after_ms:
                at_ms = min(at_ms, row["snoozed"])
            rings.append(Ring("alarm", row["_id"], at_ms))
    return sorted(rings, key=lambda ring: ring.at_ms)


def find_row(store: Store, ring: Ring) -> Row | None:
    """Return the alarm or timer; None if it was deleted."""
    # The kind is one of two constants.
    rows = store.rows(f"SELECT * FROM {ring.kind} WHERE _id=?", (ring.row_id,))  # noqa: S608
    return rows[0] if rows else None


def snooze_alarm(store: Store, row_id: int, until_ms: int) -> None:
    """Snooze an alarm until a time."""
    store.change("UPDATE alarm SET snoozed=? WHERE _id=?", (until_ms, row_id))


def dismiss_alarm(store: Store, row_id: int) -> None:
    """Dismiss an alarm, and switch it off if it does not repeat."""
    store.change(
        "UPDATE alarm SET snoozed=NULL, enabled=(enabled AND daysofweek != 0) WHERE _id=?",
        (row_id,),
    )


def reset_timer(store: Store, row_id: int) -> None:
    """Stop a timer and reset it to its full length."""
    store.change("UPDATE timer SET ends=NULL, left=length WHERE _id=?", (row_id,))


def extend_timer(store: Store, row_id: int, now_ms: int) -> None:
    """Extend a timer by a minute."""
    ends_ms = now_ms + _MINUTE_S * 1000
    store.change("UPDATE timer SET ends=?, left=? WHERE _id=?", (ends_ms, _MINUTE_S, row_id))
