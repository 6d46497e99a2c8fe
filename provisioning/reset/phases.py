"""Measures the phases of a reset."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foundation.clock import Clock


class Phases:
    """Measures the duration of the phases of a reset.

    Args:
        clock: clock used for timing.

    Attributes:
        seconds: duration by name of the phase.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start_s = clock.monotonic_s()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measure the duration of a block."""
        start_s = self._clock.monotonic_s()
        yield
        self.seconds[name] = self._clock.monotonic_s() - start_s

    def total_s(self) -> float:
        """Return the seconds since construction."""
        return self._clock.monotonic_s() - self._start_s
