"""The scheduler of a run: it owns the order, retries, budget and pause of the run's jobs."""

from __future__ import annotations

import logging
import threading
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from controller.episode.result import Reason
from controller.scheduling.events import (
    AttemptLost,
    BudgetSpent,
    RunPaused,
    StepDone,
    TrialEnded,
    TrialId,
    TrialStarted,
    ignore_event,
)
from controller.specification.job import TrialJob
from controller.specification.run import trial_seed
from controller.store.spending import RunBudget, Spending
from foundation.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from controller.episode.result import TrialResult
    from controller.scheduling.events import TrialEvent
    from controller.scheduling.sink import TrialSink

_log = logging.getLogger(__name__)

PAUSED_AFTER = 3
"""Number of consecutive trials that cannot reach their model before a run pauses."""


class Scheduler:
    """Hands out the jobs of one run and decides, by their results, what follows; thread-safe.

    Trials with a final result are not repeated, cancelled ones are. No further jobs are handed out
    after three consecutive trials could not reach their model, or once the budget is spent.

    Args:
        sink: records the trials; it knows which ones are done.
        budget: limit for all attempts together.
        retry: trials that ended for these reasons get another attempt, even beyond the run's limit.
        cancel: ends running jobs as cancelled; no others are handed out.
        drain: when set, running trials finish and no others are handed out.
        on_event: receives the run's events; called by one thread at a time.

    Attributes:
        sink: see above.
        cancel: see above; cancelled by the executor when the run is interrupted.
        results: results of the trials that ended, in the order in which they ended.
    """

    def __init__(
        self,
        sink: TrialSink,
        *,
        budget: RunBudget | None = None,
        retry: Collection[Reason] = (),
        cancel: CancelToken | None = None,
        drain: threading.Event | None = None,
        on_event: Callable[[TrialEvent], None] = ignore_event,
    ) -> None:
        self.sink = sink
        self.cancel = cancel or CancelToken()
        self.results: list[TrialResult] = []
        self._spec = sink.spec
        self._digest = sink.spec.digest
        self._budget = budget or RunBudget()
        self._retry = frozenset(retry)
        self._drain = drain or threading.Event()
        self._on_event = on_event
        self._lock = threading.Lock()
        planned = (TrialId(task, repeat) for task, repeat in self._spec.sequence)
        self._waiting = deque(trial for trial in planned if self._is_open(trial))
        self._unreached = 0
        self._spent = Spending()

    @property
    def run(self) -> str:
        """Id of the run."""
        return self._spec.run

    def next(self) -> TrialJob | None:
        """Return the next job; None if there is none, or no more may start."""
        if self.cancel.is_cancelled or self._drain.is_set():
            return None
        with self._lock:
            excess = self._excess if self._waiting else ""
            if not excess:
                return self._job(self._waiting.popleft()) if self._waiting else None
            left = len(self._waiting)
            self._waiting.clear()
        self._emit(BudgetSpent(self.run, excess, left))
        return None

    def coming(self, count: int) -> list[str]:
        """Return the tasks of the next jobs, at most `count`, so that machines can be prepared."""
        with self._lock:
            return [trial.task for trial in islice(self._waiting, count)]

    def begin(self, job: TrialJob) -> None:
        """Report that a job starts."""
        _log.info("attempt %d starts", job.attempt)
        self._emit(TrialStarted(_trial(job), job.attempt))

    def advance(self, job: TrialJob, steps: int) -> None:
        """Report how many actions of a running job have been executed."""
        self._emit(StepDone(_trial(job), job.attempt, steps))

    def end(self, job: TrialJob, result: TrialResult) -> TrialJob | None:
        """Record how a job ended.

        Returns:
            The next attempt at the same trial, if machines or model failed and it may be repeated.
        """
        with self._lock:
            self._spent += Spending.of(result)
            is_ending = self.cancel.is_cancelled or bool(self._excess)
        trial = _trial(job)
        if is_ending or not self._may_retry(trial, result):
            self._finish(job, result)
            return None
        _log.warning("attempt %d is lost (%s): %s", job.attempt, result.reason, result.detail)
        self._emit(AttemptLost(trial, job.attempt, result))
        return self._job(trial)

    def _job(self, trial: TrialId) -> TrialJob:
        attempts = self.sink.attempts(trial.task, trial.repeat)
        return TrialJob(
            spec=self._digest,
            task=trial.task,
            repeat=trial.repeat,
            attempt=attempts[-1].number + 1 if attempts else 1,
            seed=trial_seed(self._spec.seed, trial.task, trial.repeat),
        )

    @property
    def _excess(self) -> str:
        return self._budget.excess(self._spent)

    def _is_open(self, trial: TrialId) -> bool:
        """Return whether a trial needs an attempt: it has none, or its last one does not count."""
        attempts = self.sink.attempts(trial.task, trial.repeat)
        result = attempts[-1].result if attempts else None
        if result is None or result.reason in {Reason.CANCELLED, *self._retry}:
            return True
        return self._may_retry(trial, result)

    def _may_retry(self, trial: TrialId, result: TrialResult) -> bool:
        """Return whether a lost attempt is repeated; one that was late to start is, once, for free."""
        if not result.reason.is_retried:
            return False
        attempts = self.sink.attempts(trial.task, trial.repeat)
        lost = [
            outcome
            for attempt in attempts
            if (outcome := attempt.result) and outcome.reason.is_retried
        ]
        is_late = any(
            outcome.reason is Reason.ENVIRONMENT_ERROR and not outcome.started for outcome in lost
        )
        return len(lost) <= self._spec.retries + is_late

    def _finish(self, job: TrialJob, result: TrialResult) -> None:
        with self._lock:
            self.results.append(result)
        _log.info("attempt %d ended: %s", job.attempt, _summary(result))
        self._emit(TrialEnded(_trial(job), job.attempt, result))
        if result.reason is not Reason.CANCELLED:
            self._count_unreached(is_unreached=result.reason is Reason.MODEL_UNAVAILABLE)

    def _count_unreached(self, *, is_unreached: bool) -> None:
        """Start no more trials after several consecutive ones could not reach their model."""
        with self._lock:
            self._unreached = self._unreached + 1 if is_unreached else 0
            left = len(self._waiting) if self._unreached >= PAUSED_AFTER else 0
            if left:
                self._waiting.clear()
        if left:
            self._emit(RunPaused(self.run, left))

    def _emit(self, event: TrialEvent) -> None:
        _log.debug("%s", event)
        with self._lock:
            self._on_event(event)


def _trial(job: TrialJob) -> TrialId:
    return TrialId(job.task, job.repeat)


def _summary(result: TrialResult) -> str:
    met = f"{result.nodes_met}/{result.nodes} nodes"
    took = f"{result.steps} step{'s' * (result.steps != 1)}, {result.seconds:.1f} s"
    return f"{result.verdict} ({result.reason}), {met}, {took}"
