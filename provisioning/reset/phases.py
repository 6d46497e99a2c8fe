"""Time the parts of a way back to a known state."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from appliance.base.clock import Clock


class Phases:
    """Times the parts of a way back.

    Args:
        clock: measures.

    Attributes:
        seconds: by name of the part.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start_s = clock.monotonic_s()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time a block."""
        start_s = self._clock.monotonic_s()
        yield
        self.seconds[name] = self._clock.monotonic_s() - start_s

    def total_s(self) -> float:
        """Return the seconds since this was made."""
        return self._clock.monotonic_s() - self._start_s
