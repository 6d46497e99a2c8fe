"""Interfaces of executors, their events, and the sinks that record trials."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from controller.episode.context import EventSink
from controller.store.spending import RunBudget

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from controller.episode.context import RunContext
    from controller.episode.episode import Episode
    from controller.episode.result import Reason, TrialResult
    from controller.episode.trial import Driver
    from controller.spec.run import RunSpec
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from foundation.cancel import CancelToken
    from foundation.clock import Clock


@dataclass(frozen=True, slots=True)
class TrialId:
    """Identifies a trial of a run.

    Attributes:
        task: id of the task.
        repeat: number of the repetition, from 0.
    """

    task: str
    repeat: int

    def __str__(self) -> str:
        return f"{self.task}.{self.repeat}"


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """An attempt at a trial started: machines are being leased."""

    trial: TrialId
    attempt: int


@dataclass(frozen=True, slots=True)
class StepDone:
    """An action was executed and evaluated; `steps` is their number so far."""

    trial: TrialId
    attempt: int
    steps: int


@dataclass(frozen=True, slots=True)
class AttemptLost:
    """An attempt does not count because machines or the model failed; another one follows."""

    trial: TrialId
    attempt: int
    result: TrialResult


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """A trial has its result."""

    trial: TrialId
    attempt: int
    result: TrialResult


@dataclass(frozen=True, slots=True)
class RunPaused:
    """No further trials start: too many consecutive ones could not reach their model.

    Attributes:
        run: id of the run.
        left: number of trials that were not started.
    """

    run: str
    left: int


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """No further trials start: the run's budget is spent.

    Attributes:
        run: id of the run.
        excess: human-readable list of the budget's exhausted parts.
        left: number of trials that were not started.
    """

    run: str
    excess: str
    left: int


TrialEvent = TrialStarted | StepDone | AttemptLost | TrialEnded | RunPaused | BudgetSpent
"""Events that an executor reports; distinguish them with ``match``."""


class PlayTrial(Protocol):
    """Runs one attempt, as `controller.episode.trial.run_trial`."""

    def __call__(self, episode: Episode, task: Task, driver: Driver, *, seed: int) -> TrialResult:
        """Run the attempt to its end."""
        ...


class PastAttempt(Protocol):
    """An attempt that ended, or was lost when its process died."""

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
    """Records the trials of one run, such as `controller.store.runs.RunFolder`."""

    @property
    def spec(self) -> RunSpec:
        """The run's specification."""
        ...

    def working(self) -> AbstractContextManager[None]:
        """Lock the run for the duration of a block.

        Raises:
            StoreError: another process works on the run.
        """
        ...

    def attempts(self, task: str, repeat: int) -> Sequence[PastAttempt]:
        """Return all attempts at a trial so far, oldest first.

        Raises:
            StoreError: a log is damaged.
        """
        ...

    def begin_attempt(self, task: str, repeat: int, clock: Clock) -> AttemptLog:
        """Open the log of the next attempt at a trial.

        Raises:
            StoreError: the log cannot be created.
        """
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """The work of an executor.

    Attributes:
        suite: the suite of the run's tasks.
        context: the context that the trials share.
        driver: chooses the actions; used by several threads at once when trials run in parallel.
        retry: trials that ended for these reasons get another attempt, even beyond the run's limit.
        budget: limit for all attempts together; once it is spent, no further attempt starts.
    """

    suite: Suite
    context: RunContext
    driver: Driver
    retry: frozenset[Reason] = frozenset()
    budget: RunBudget = field(default_factory=RunBudget)


class Executor(Protocol):
    """Runs the trials of a run."""

    def run(
        self,
        job: Job,
        sink: TrialSink,
        *,
        cancel: CancelToken | None = None,
        drain: threading.Event | None = None,
        on_event: Callable[[TrialEvent], None] = ...,
    ) -> list[TrialResult]:
        """Run all trials without a final result; cancelled trials are run again.

        No further trials start after three consecutive ones could not reach their model, or once
        the budget is spent; running trials finish.

        Args:
            job: the run's job.
            sink: where trials are recorded; it knows which ones are done.
            cancel: ends running trials as cancelled and starts no others.
            drain: when set, running trials finish and no others start.
            on_event: called by one thread at a time.

        Returns:
            The results of the trials that ended during this call, in the order in which they ended.

        Raises:
            KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
            StoreError: a log cannot be written.
        """
        ...
