"""Write points in time as an Android phone does, in English."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def clock_text(when: datetime, *, is_24: bool, gap: str = " ") -> str:
    """Return hours and minutes, such as ``9:05`` + gap + ``AM``, or ``09:05``."""
    if is_24:
        return f"{when:%H:%M}"
    return f"{when.hour % 12 or 12}:{when:%M}{gap}{when:%p}"


def short_date(when: datetime, now: datetime, *, is_24: bool) -> str:
    """Return the time of today, or the day of what is longer ago."""
    if when.date() == now.date():
        return clock_text(when, is_24=is_24)
    if when.year == now.year:
        return f"{when:%b} {when.day}"
    return f"{when.day} {when:%b} {when.year}"


def long_date(when: datetime) -> str:
    """Return the day in full, such as ``4 June 2024``."""
    return f"{when.day} {when:%B} {when.year}"


def length_text(seconds: int) -> str:
    """Return a length of time as ``1:02:03`` or ``2:03``."""
    hours, rest = divmod(max(0, seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
