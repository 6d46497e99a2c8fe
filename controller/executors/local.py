"""Run trials on this host, sequentially or in parallel threads."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from controller.episode.episode import Episode
from controller.episode.result import Reason
from controller.episode.trial import run_trial
from controller.executors.protocol import (
    AttemptLost,
    BudgetSpent,
    RunPaused,
    StepDone,
    TrialEnded,
    TrialId,
    TrialStarted,
)
from controller.executors.threads import run_in_threads
from controller.spec.run import trial_seed as trial_seed  # noqa: PLC0414 - known by this name
from controller.store.spending import Spending
from foundation.cancel import CancelToken
from foundation.logging import log_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from controller.episode.result import TrialResult
    from controller.executors.protocol import Job, PlayTrial, TrialEvent, TrialSink

_log = logging.getLogger(__name__)


PAUSED_AFTER = 3
"""Number of consecutive trials that cannot reach their model before a run pauses."""


def ignore_event(_event: TrialEvent) -> None:
    """Discard an event."""


class Part(NamedTuple):
    """One of several runs that are executed together.

    Attributes:
        job: the run's job.
        sink: where its trials are recorded.
        on_event: receives its events; only one thread at a time calls it, across all parts.
    """

    job: Job
    sink: TrialSink
    on_event: Callable[[TrialEvent], None]


class LocalExecutor:
    """A `controller.executors.protocol.Executor` on this host.

    Threads wait for the machines that their trials need; if memory does not suffice for `parallel`
    trials, fewer run at a time.

    Args:
        parallel: number of simultaneous trials. A single one runs in the calling thread, where an
            interrupt ends it immediately; several end at their next step.
        play: runs one attempt.

    Raises:
        ValueError: `parallel` is below 1.
    """

    def __init__(self, parallel: int = 1, *, play: PlayTrial = run_trial) -> None:
        if parallel < 1:
            raise ValueError(f"parallel must be at least 1, got {parallel}")
        self._parallel = parallel
        self._play = play

    def run(
        self,
        job: Job,
        sink: TrialSink,
        *,
        cancel: CancelToken | None = None,
        drain: threading.Event | None = None,
        on_event: Callable[[TrialEvent], None] = ignore_event,
    ) -> list[TrialResult]:
        """Run all trials without a final result; cancelled trials are run again.

        Args:
            job: the run's job.
            sink: where trials are recorded; it knows which ones are done.
            cancel: ends running trials as cancelled and starts no others.
            drain: when set, running trials finish and no others start.
            on_event: called by one thread at a time.

        Raises:
            KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
            StoreError: a log cannot be written.
        """
        with sink.working():
            stop = cancel or CancelToken()
            work = _Work(job, sink, stop, drain or threading.Event(), on_event, play=self._play)
            run_in_threads(work.run_all, self._parallel, stop)
            return work.results

    def run_each(self, parts: Iterable[Part]) -> None:
        """Execute several runs in sequence without waiting for the last trials of the previous one.

        Args:
            parts: the runs; each is started when a thread is free for one of its trials.

        Raises:
            KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
            StoreError: a log cannot be written.
        """
        stop = CancelToken()
        with contextlib.ExitStack() as held:
            series = _Series(parts, held, stop, play=self._play)
            run_in_threads(series.run_all, self._parallel, stop)


class _Work:
    """The remaining trials of one run, shared by the threads that run them."""

    def __init__(
        self,
        job: Job,
        sink: TrialSink,
        cancel: CancelToken,
        drain: threading.Event,
        on_event: Callable[[TrialEvent], None],
        *,
        play: PlayTrial,
    ) -> None:
        self._drain = drain
        self._play = play
        self._job = job
        self._sink = sink
        self._on_event = on_event
        self._lock = threading.Lock()
        planned = (TrialId(task, repeat) for task, repeat in sink.spec.sequence)
        self._waiting = deque(trial for trial in planned if self._is_open(trial))
        self._unreached = 0
        self._spent = Spending()
        self.cancel = cancel
        self.results: list[TrialResult] = []

    def run_all(self) -> None:
        """Run trials until none remain, or the work is cancelled or drained."""
        while not self._is_ending and (trial := self._next()):
            with log_context(run=self._sink.spec.run, trial=str(trial)):
                self._run(trial)

    @property
    def _is_ending(self) -> bool:
        return self.cancel.is_cancelled or self._drain.is_set()

    def _next(self) -> TrialId | None:
        """Return the next trial; None if the budget is spent, which is reported as an event."""
        with self._lock:
            excess = self._excess if self._waiting else ""
            if not excess:
                return self._waiting.popleft() if self._waiting else None
            left = len(self._waiting)
            self._waiting.clear()
        self._emit(BudgetSpent(self._sink.spec.run, excess, left))
        return None

    @property
    def _excess(self) -> str:
        return self._job.budget.excess(self._spent)

    def _is_open(self, trial: TrialId) -> bool:
        """Return whether a trial needs an attempt: it has none, or its last one does not count."""
        attempts = self._sink.attempts(trial.task, trial.repeat)
        result = attempts[-1].result if attempts else None
        if result is None or result.reason in {Reason.CANCELLED, *self._job.retry}:
            return True
        return self._may_retry(trial, result)

    def _may_retry(self, trial: TrialId, result: TrialResult) -> bool:
        """Return whether a lost attempt is repeated; one that was late to start is, once, for free."""
        if not result.reason.is_retried:
            return False
        attempts = self._sink.attempts(trial.task, trial.repeat)
        lost = [
            outcome
            for attempt in attempts
            if (outcome := attempt.result) and outcome.reason.is_retried
        ]
        is_late = any(
            outcome.reason is Reason.ENVIRONMENT_ERROR and not outcome.started for outcome in lost
        )
        return len(lost) <= self._sink.spec.retries + is_late

    def _run(self, trial: TrialId) -> None:
        while True:
            number = len(self._sink.attempts(trial.task, trial.repeat)) + 1
            result = self._attempt(trial, number)
            ends = self.cancel.is_cancelled or bool(self._excess)
            if ends or not self._may_retry(trial, result):
                self._finish(trial, number, result)
                return
            _log.warning("attempt %d is lost (%s): %s", number, result.reason, result.detail)
            self._emit(AttemptLost(trial, number, result))

    def _attempt(self, trial: TrialId, number: int) -> TrialResult:
        context = self._job.context
        _log.info("attempt %d starts", number)
        self._emit(TrialStarted(trial, number))
        with self._sink.begin_attempt(trial.task, trial.repeat, context.clock) as log:
            episode = Episode(
                context,
                log=log,
                repeat=trial.repeat,
                on_step=lambda steps: self._emit(StepDone(trial, number, steps)),
            )
            task = self._job.suite.task(trial.task)
            seed = trial_seed(self._sink.spec.seed, trial.task, trial.repeat)
            # The episode has its own token, which it cancels when it is interrupted.
            withdraw = self.cancel.on_cancel(lambda: episode.cancel.cancel(self.cancel.reason))
            try:
                result = self._play(episode, task, self._job.driver, seed=seed)
            finally:
                withdraw()
        with self._lock:
            self._spent += Spending.of(result)
        if result.reason is Reason.CANCELLED and not self.cancel.is_cancelled:
            self._finish(trial, number, result)
            raise KeyboardInterrupt
        return result

    def _finish(self, trial: TrialId, number: int, result: TrialResult) -> None:
        with self._lock:
            self.results.append(result)
        _log.info("attempt %d ended: %s", number, _summary(result))
        self._emit(TrialEnded(trial, number, result))
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
            self._emit(RunPaused(self._sink.spec.run, left))

    def _emit(self, event: TrialEvent) -> None:
        _log.debug("%s", event)
        with self._lock:
            self._on_event(event)


class _Series:
    """The work on several runs; a thread moves to the next run when one has no trials left."""

    def __init__(
        self,
        parts: Iterable[Part],
        held: contextlib.ExitStack,
        cancel: CancelToken,
        *,
        play: PlayTrial,
    ) -> None:
        self._parts = iter(parts)
        self._held = held
        self._cancel = cancel
        self._play = play
        self._opening, self._reporting = threading.Lock(), threading.Lock()
        self._works: list[_Work] = []

    def run_all(self) -> None:
        """Run trials of all parts until none remain, or the work is cancelled."""
        number = 0
        while not self._cancel.is_cancelled and (work := self._at(number)):
            work.run_all()
            number += 1

    def _at(self, number: int) -> _Work | None:
        """Return the work on a part, starting it unless another thread already has."""
        with self._opening:
            if number == len(self._works):
                part = next(self._parts, None)
                if part is None:
                    return None
                self._works.append(self._begin(part))
            return self._works[number]

    def _begin(self, part: Part) -> _Work:
        def report(event: TrialEvent) -> None:
            with self._reporting:
                part.on_event(event)

        self._held.enter_context(part.sink.working())
        drain = threading.Event()
        return _Work(part.job, part.sink, self._cancel, drain, report, play=self._play)


def _summary(result: TrialResult) -> str:
    met = f"{result.nodes_met}/{result.nodes} nodes"
    took = f"{result.steps} step{'s' * (result.steps != 1)}, {result.seconds:.1f} s"
    return f"{result.verdict} ({result.reason}), {met}, {took}"
