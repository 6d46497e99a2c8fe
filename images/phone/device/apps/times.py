"""Format times like an Android phone, in English."""

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
    """Return the time if it is today, otherwise the day."""
    if when.date() == now.date():
        return clock_text(when, is_24=is_24)
    if when.year == now.year:
        return f"{when:%b} {when.day}"
    return f"{when.day} {when:%b} {when.year}"


def long_date(when: datetime) -> str:
    """Return the full date, such as ``4 June 2024``."""
    return f"{when.day} {when:%B} {when.year}"


def length_text(seconds: int) -> str:
    """Format a duration as ``1:02:03`` or ``2:03``."""
    hours, rest = divmod(max(0, seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
