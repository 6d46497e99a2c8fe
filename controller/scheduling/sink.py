"""Interface of sinks, which record the attempts at the trials of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

from controller.episode.context import EventSink

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from controller.episode.result import Ending, TrialResult
    from controller.specification.job import TrialJob
    from controller.specification.run import RunSpec
    from foundation.clock import Clock


class PastAttempt(Protocol):
    """An attempt that ended, or was lost when its process died."""

    @property
    def number(self) -> int:
        """The number of the attempt, from 1."""
        ...

    @property
    def result(self) -> TrialResult | None:
        """The result; None if the attempt did not end."""
        ...


class AttemptLog(EventSink, Protocol):
    """Records one attempt; a context manager, such as `controller.store.event_log.TrialLog`."""

    def __enter__(self) -> Self:
        """Return the open log."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the log."""
        ...


class TrialSink(Protocol):
    """Records the trials of one run, such as `controller.store.runs.RunFolder`.

    Several processes, on one host or on several, may record different attempts at the same time.
    What keeps them apart is that an attempt can be begun only once.
    """

    @property
    def spec(self) -> RunSpec:
        """The run's specification."""
        ...

    def attempts(self, task: str, repeat: int) -> Sequence[PastAttempt]:
        """Return all attempts at a trial so far, oldest first.

        Raises:
            StoreError: a log is damaged.
        """
        ...

    def begin_attempt(self, job: TrialJob, clock: Clock) -> AttemptLog:
        """Open the log of a new attempt.

        Raises:
            StoreError: the attempt was begun before, or its log cannot be created.
        """
        ...

    def conclude_attempt(self, job: TrialJob, ending: Ending, clock: Clock) -> TrialResult:
        """Record the end of an attempt whose process died; return the attempt's result.

        What happened before, such as steps and usage, is taken from what was recorded.

        Args:
            job: the attempt; it need not have been begun.
            ending: why it is over; a reason whose verdict does not depend on the graph.
            clock: provides the timestamp.

        Raises:
            StoreError: the attempt has a result already, or the log cannot be written.
        """
        ...
