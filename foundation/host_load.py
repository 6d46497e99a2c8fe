"""How much longer things take on this host than on an idle one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.clock import Clock

_MOST = 8.0


def slowdown_ratio() -> float:
    """Return how many processes compete for one of this host's processors, 1 to 8."""
    return min(_MOST, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def stretched(timeout_s: float) -> float:
    """Return a timeout as it is on this host now: longer while the host is busy."""
    return timeout_s * slowdown_ratio()


class Patience:
    """A time limit that a busy host stretches.

    Args:
        limit_s: the limit on an idle host.
        clock: measures.
        slowdown: returns the present slowdown of the host, at least 1; by default, measured.
    """

    def __init__(
        self,
        limit_s: float,
        clock: Clock = SYSTEM_CLOCK,
        slowdown: Callable[[], float] | None = None,
    ) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._slowdown = slowdown
        self._start_s = self._last_s = clock.monotonic_s()
        self._spent_s = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the limit is used up: a second counts less while the host is busy."""
        now_s = self._clock.monotonic_s()
        slowdown = self._slowdown() if self._slowdown is not None else slowdown_ratio()
        self._spent_s += (now_s - self._last_s) / slowdown
        self._last_s = now_s
        return self._spent_s >= self._limit_s

    @property
    def waited_s(self) -> float:
        """Seconds since the start, as they pass."""
        return self._clock.monotonic_s() - self._start_s
