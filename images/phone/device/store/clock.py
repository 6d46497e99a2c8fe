"""Alarms, timers and cities of the world clock as rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def list_alarms(store: Store) -> list[Row]:
    """Give all alarms in the order of the day."""
    return store.rows("SELECT * FROM alarm ORDER BY hour, minutes, _id")


def add_alarm(store: Store, hour: int, minutes: int, label: str = "") -> int:
    """Add an alarm that is on; gives the row's id."""
    return store.insert(
        "INSERT INTO alarm (hour, minutes, label) VALUES (?, ?, ?)", (hour, minutes, label)
    )


def next_time(row: Row, now: datetime) -> datetime:
    """Give when an alarm rings next, were it on."""
    for ahead in range(8):
        day = now + timedelta(days=ahead)
        when = day.replace(hour=row["hour"], minute=row["minutes"], second=0, microsecond=0)
        if when > now and (not row["daysofweek"] or row["daysofweek"] >> when.weekday() & 1):
            return when
    return now + timedelta(days=7)


def list_cities(store: Store) -> list[Row]:
    """Give the cities of the world clock, first added first."""
    return store.rows("SELECT * FROM city ORDER BY _id")


def list_timers(store: Store) -> list[Row]:
    """Give all timers, newest first. ``ends`` is ms since the epoch, None while it stands."""
    return store.rows("SELECT * FROM timer ORDER BY _id DESC")


def add_timer(store: Store, length_s: int, now_ms: int) -> int:
    """Start a timer; gives the row's id."""
    return store.insert(
        "INSERT INTO timer (length, ends, left) VALUES (?, ?, ?)",
        (length_s, now_ms + length_s * 1000, length_s),
    )


def left_s(row: Row, now_ms: int) -> int:
    """Give how much of a timer is left, s; below 0 when it is over."""
    return int(row["left"]) if row["ends"] is None else -((now_ms - row["ends"]) // 1000)


def toggle_timer(store: Store, row: Row, now_ms: int) -> None:
    """Pause a timer, or let it go on."""
    left = left_s(row, now_ms)
    ends = now_ms + left * 1000 if row["ends"] is None else None
    store.change("UPDATE timer SET ends=?, left=? WHERE _id=?", (ends, left, row["_id"]))
