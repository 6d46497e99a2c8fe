"""Read the time and wait; the one module that may sleep."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Clock(Protocol):
    """Wall time, elapsed time and waiting."""

    def now_s(self) -> float:
        """Return seconds since the epoch (UTC)."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds since an arbitrary start, which never decrease."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait; negative values return at once."""
        ...

    def wait(self, event: threading.Event, timeout_s: float) -> bool:
        """Wait until an event is set, at most `timeout_s`; return whether it is set."""
        ...


class SystemClock:
    """The host's clock."""

    def now_s(self) -> float:
        """Return seconds since the epoch (UTC)."""
        return time.time()

    def monotonic_s(self) -> float:
        """Return seconds since an arbitrary start, which never decrease."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait; negative values return at once."""
        if seconds > 0:
            time.sleep(seconds)

    def wait(self, event: threading.Event, timeout_s: float) -> bool:
        """Wait until an event is set, at most `timeout_s`; return whether it is set."""
        return event.wait(max(0.0, timeout_s))


class FakeClock:
    """A clock that only moves when slept on or advanced; thread-safe.

    Args:
        start_s: initial value of both `now_s` and `monotonic_s`.
    """

    def __init__(self, start_s: float = 1_700_000_000.0) -> None:
        self._now_s = start_s
        self._lock = threading.Lock()

    def now_s(self) -> float:
        """Return the fake time."""
        with self._lock:
            return self._now_s

    def monotonic_s(self) -> float:
        """Return the fake time."""
        return self.now_s()

    def sleep(self, seconds: float) -> None:
        """Advance by `seconds` at once."""
        self.advance(max(0.0, seconds))

    def wait(self, event: threading.Event, timeout_s: float) -> bool:
        """Advance by `timeout_s` unless the event is set; return whether it is set."""
        if not event.is_set():
            self.sleep(timeout_s)
        return event.is_set()

    def advance(self, seconds: float) -> None:
        """Move the clock."""
        with self._lock:
            self._now_s += seconds


SYSTEM_CLOCK = SystemClock()


def wait_until(
    probe: Callable[[], T | None],
    *,
    timeout_s: float,
    every_s: float = 0.1,
    clock: Clock = SYSTEM_CLOCK,
) -> T | None:
    """Call `probe` until it returns something truthy or the timeout expires.

    Args:
        probe: called immediately, then every `every_s`; its exceptions are not caught.
        timeout_s: how long to keep calling.
        every_s: pause between two calls.
        clock: measures and waits.

    Returns:
        The truthy value, or None after the timeout.
    """
    deadline_s = clock.monotonic_s() + timeout_s
    while True:
        if value := probe():
            return value
        left_s = deadline_s - clock.monotonic_s()
        if left_s <= 0:
            return None
        clock.sleep(min(every_s, left_s))
