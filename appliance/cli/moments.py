"""Format points in time for people."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(seconds: float | None) -> str:
    """Return a point in time as UTC to the second; ``-`` for None."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")
