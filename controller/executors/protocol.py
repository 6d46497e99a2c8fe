"""What runs the trials of a run, what it reports, and where trials are written."""

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

    from appliance.base.cancel import CancelToken
    from appliance.base.clock import Clock
    from controller.episode.context import RunContext
    from controller.episode.episode import Episode
    from controller.episode.result import Reason, TrialResult
    from controller.episode.trial import Driver
    from controller.store.spec import RunSpec
    from evaluators.model.suite import Suite
    from evaluators.model.task import Task


@dataclass(frozen=True, slots=True)
class TrialId:
    """Which trial of a run.

    Attributes:
        task: id of the task.
        repeat: from 0.
    """

    task: str
    repeat: int

    def __str__(self) -> str:
        return f"{self.task}.{self.repeat}"


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """An attempt at a trial began: machines are being leased."""

    trial: TrialId
    attempt: int


@dataclass(frozen=True, slots=True)
class StepDone:
    """An action was carried out and judged; `steps` of them so far."""

    trial: TrialId
    attempt: int
    steps: int


@dataclass(frozen=True, slots=True)
class AttemptLost:
    """An attempt does not count, for machines or model failed; another one follows."""

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
    """No further trials are begun: too many in a row could not reach their model.

    Attributes:
        run: its id.
        left: trials that were not begun.
    """

    run: str
    left: int


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """No further trials are begun: the run has cost what it may.

    Attributes:
        run: its id.
        excess: which parts of the budget are used up, for people.
        left: trials that were not begun.
    """

    run: str
    excess: str
    left: int


TrialEvent = TrialStarted | StepDone | AttemptLost | TrialEnded | RunPaused | BudgetSpent
"""What an executor reports, told apart by ``match``."""


class PlayTrial(Protocol):
    """Runs one attempt, as `controller.episode.trial.run_trial`."""

    def __call__(self, episode: Episode, task: Task, driver: Driver, *, seed: int) -> TrialResult:
        """Run it to its end."""
        ...


class PastAttempt(Protocol):
    """An attempt at a trial that is over, or was lost with its process."""

    @property
    def result(self) -> TrialResult | None:
        """How it ended; None when it did not."""
        ...


class AttemptLog(EventSink, Protocol):
    """Where one attempt is written; a context manager, as `controller.store.event_log.TrialLog`."""

    def __enter__(self) -> Self:
        """Return itself, open."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        ...


class TrialSink(Protocol):
    """Where the trials of one run are written, as `controller.store.runs.RunFolder`."""

    @property
    def spec(self) -> RunSpec:
        """What the run was asked to do."""
        ...

    def working(self) -> AbstractContextManager[None]:
        """Hold the run for the length of a block.

        Raises:
            StoreError: another process works on it.
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
            StoreError: it cannot be made.
        """
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """What an executor works on.

    Attributes:
        suite: where the run's tasks are from.
        context: what the trials share.
        driver: chooses the actions; used by several threads at once when trials run in parallel.
        retry: trials that ended so get another attempt, whatever the run's bounds.
        budget: what all attempts may cost; once it is spent, no other one is begun.
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
        """Run all trials that have no final result; those that were cancelled are run anew.

        A run in which three trials in a row could not reach their model begins no others, and
        neither does one whose budget is spent; trials that run then may end.

        Args:
            job: what to run.
            sink: where trials are written, and where it is known which ones are done.
            cancel: ends running trials as cancelled and begins no others.
            drain: set, it lets running trials finish and begins no others.
            on_event: called by one thread at a time.

        Returns:
            The results of the trials that ended now, in the order of their ends.

        Raises:
            KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
            StoreError: a log cannot be written.
        """
        ...
