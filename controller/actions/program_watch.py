"""How long a program has been idle, its picture still, and its document shown."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from controller.observation.settle import DEFAULT_RULE, changed_ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.observation.settle import Frame
    from foundation.clock import Clock

_LOOK_EVERY_S = 4.0
"""Pause between two reads of the documents, which keep the program busy themselves."""
_IDLE_SHARE = 0.15
"""Share of one processor: idle programs use 0 to 0.05 in an emulated desktop, busy ones 0.7 to 2."""
_SURE_S = 1.0
"""How long a program that shows its document must be idle and the picture still."""
_UNSURE_S = 6.0
"""The same for a program that does not report a document, or reports an empty one."""
_BUSY_S = 20.0
"""How long a document must be shown and still if its program never becomes idle."""
_ANIMATED_S = 45.0
"""How long a document must be shown if its picture never becomes still."""


class Activity(BaseModel):
    """Processor time of a program, as its guest accounts for it.

    Attributes:
        cpu_s: time of its processes, seconds.
        clock_s: the guest's monotonic clock.
    """

    model_config = ConfigDict(frozen=True)

    cpu_s: float
    clock_s: float

    def idle_s_since(self, before: Activity) -> float:
        """Return how long the program was idle between two moments; 0 if it was not.

        Less time than before is no idleness: one of its processes has ended.
        """
        used_s, passed_s = self.cpu_s - before.cpu_s, self.clock_s - before.clock_s
        return passed_s if 0 <= used_s <= _IDLE_SHARE * passed_s else 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a document.

    Attributes:
        problem: why the document cannot be ready; empty if it may be.
        is_sure: whether its program reports it as loaded, named and with content.
    """

    problem: str = ""
    is_sure: bool = False


class ProgramWatch:
    """Observations of one program.

    Args:
        before: the screen before the program was started, uint8 array (H, W, 3).
        clock: measures.

    Attributes:
        evidence: what is known of the document.
    """

    def __init__(self, before: Frame, clock: Clock) -> None:
        self._clock = clock
        self._before = before
        self._looked_s = -_LOOK_EVERY_S
        self._is_judged = False
        self.forget_all()

    def forget_all(self) -> None:
        """Begin anew: the program shows nothing."""
        now_s = self._clock.monotonic_s()
        self._still_since_s = self._sure_since_s = now_s
        self._idle_s = 0.0
        self._frame = self._before
        self._activity: Activity | None = None
        self._title = ""
        self.evidence = Evidence()

    def see(self, title: str, frame: Frame, activity: Activity) -> None:
        """Take note of the window's title, the screen and the program's processor time."""
        if title != self._title:
            self.forget_all()
            self._title = title
        now_s = self._clock.monotonic_s()
        most = DEFAULT_RULE.still_ratio
        if changed_ratio(self._frame, frame) > most or changed_ratio(self._before, frame) <= most:
            self._frame, self._still_since_s = frame, now_s
        if self._activity is not None:
            idle_s = activity.idle_s_since(self._activity)
            self._idle_s = self._idle_s + idle_s if idle_s else 0.0
            self._is_judged = True
        self._activity = activity
        if not self.evidence.is_sure:
            self._sure_since_s = now_s

    @property
    def still_s(self) -> float:
        """How long the picture has been still, and different from before."""
        return self._clock.monotonic_s() - self._still_since_s

    @property
    def is_worth_a_look(self) -> bool:
        """Whether the documents should be read: not while the program draws its window.

        Between two reads, the program's own work is judged at least once.
        """
        is_due = self._clock.monotonic_s() - self._looked_s >= _LOOK_EVERY_S and self._is_judged
        return not self.evidence.is_sure and is_due and self.still_s >= _SURE_S

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Do not judge the time in which documents are read: the program works for it."""
        try:
            yield
        finally:
            self._looked_s = self._clock.monotonic_s()
            self._activity, self._is_judged = None, False

    @property
    def is_ready(self) -> bool:
        """Whether what is known is enough to begin."""
        now_s = self._clock.monotonic_s()
        quiet_s = min(self.still_s, self._idle_s)
        if self.evidence.problem:
            return False
        if not self.evidence.is_sure:
            return quiet_s >= _UNSURE_S
        shown_s = now_s - self._sure_since_s
        return quiet_s >= _SURE_S or min(self.still_s, shown_s) >= _BUSY_S or shown_s >= _ANIMATED_S
