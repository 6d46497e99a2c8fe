"""Show moments to people."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(seconds: float | None) -> str:
    """Return a moment as UTC to the second; ``-`` for none."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")
