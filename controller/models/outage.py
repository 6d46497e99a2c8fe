"""Measure how long a model does not answer a program that asks it through the appliance.

The program's own account of it would be its own clock. As for the built-in agent, the time of
unanswered requests counts, and the pauses before they are repeated, within a budget for the trial.
"""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foundation.clock import Clock

    Span = tuple[float, float]

FIRST_PAUSE_S = 0.5
MAX_PAUSE_S = 8.0
"""Pauses after unanswered requests grow from the first to the last, if the server requests none."""


class OutageMeter:
    """Measures the outages of one trial's model; thread-safe.

    Time in which another request was being answered does not count, nor does time before the last
    `take_s`, which was charged already.

    Args:
        budget_s: maximum of all outages together.
        clock: measures.
    """

    def __init__(self, budget_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._left_s = budget_s
        self._since_s = clock.monotonic_s()
        self._open: dict[int, float] = {}
        self._failed: list[Span] = []
        self._answered: list[Span] = []
        self._pause: Span | None = None
        self._next_pause_s = FIRST_PAUSE_S

    def begin(self) -> int:
        """Note that a request begins and return its number.

        A pause counts once a request follows it, so that a program that does not repeat an
        unanswered request gains no time.
        """
        with self._lock:
            now_s = self._clock.monotonic_s()
            if self._pause:
                begin_s, end_s = self._pause
                self._failed.append((begin_s, min(now_s, end_s)))
                self._pause = None
            number = next(self._numbers)
            self._open[number] = now_s
            return number

    def fail(self, number: int, pause_s: float | None = None) -> None:
        """Note that a request is not answered, unless it has ended.

        Args:
            number: number of the request.
            pause_s: pause that the server requests, seconds; None if it requests none.
        """
        with self._lock:
            if (begin_s := self._open.pop(number, None)) is None:
                return
            now_s = self._clock.monotonic_s()
            self._failed.append((begin_s, now_s))
            self._pause = (now_s, now_s + (self._next_pause_s if pause_s is None else pause_s))
            self._next_pause_s = min(MAX_PAUSE_S, 2 * self._next_pause_s)

    def end(self, number: int) -> None:
        """Note that a request ends, which was answered unless it failed before."""
        with self._lock:
            if (begin_s := self._open.pop(number, None)) is not None:
                self._answered.append((begin_s, self._clock.monotonic_s()))
                self._next_pause_s = FIRST_PAUSE_S

    def take_s(self) -> float:
        """Return the seconds of outage since the last call, and deduct them from the budget."""
        with self._lock:
            now_s = self._clock.monotonic_s()
            others = [*self._answered, *((begin_s, now_s) for begin_s in self._open.values())]
            both_s = self._length_s([*self._failed, *others])
            outage_s = min(self._left_s, both_s - self._length_s(others))
            self._left_s -= outage_s
            self._since_s = now_s
            self._failed, self._answered = [], []
            return outage_s

    def pending_s(self) -> float:
        """Return the longest outage since the last `take_s` that may still turn out.

        That is the case if all requests in progress remain unanswered.
        """
        with self._lock:
            now_s = self._clock.monotonic_s()
            spans = [*self._failed, *((begin_s, now_s) for begin_s in self._open.values())]
            if self._pause:
                spans.append((self._pause[0], min(now_s, self._pause[1])))
            return min(self._left_s, self._length_s(spans))

    def _length_s(self, spans: Iterable[Span]) -> float:
        """Return how long at least one of the spans lasted, since the last `take_s`."""
        length_s, covered_s = 0.0, self._since_s
        for begin_s, end_s in sorted(spans):
            length_s += max(0.0, end_s - max(begin_s, covered_s))
            covered_s = max(covered_s, end_s)
        return length_s
