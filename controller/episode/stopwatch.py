"""Measure lap times."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foundation.clock import Clock


class Stopwatch:
    """A stopwatch that starts when it is created.

    Args:
        clock: measures.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since_s = clock.monotonic_s()

    def lap(self) -> float:
        """Return the seconds since the last lap and start a new one."""
        now_s = self._clock.monotonic_s()
        seconds, self._since_s = now_s - self._since_s, now_s
        return seconds
