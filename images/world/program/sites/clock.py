"""The time in the world."""

from __future__ import annotations

import time
from datetime import datetime, timedelta


class WorldClock:
    """The persona's present, and what passed since the sites were started.

    Args:
        start: the persona's present, ISO 8601.
    """

    def __init__(self, start: str) -> None:
        self.start = datetime.fromisoformat(start)
        self._started_s = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Return what passed since the start, in seconds."""
        return time.monotonic() - self._started_s

    @property
    def now(self) -> datetime:
        """Return the time in the world, UTC."""
        return self.start + timedelta(seconds=int(self.elapsed_s))
