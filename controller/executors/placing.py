"""Take jobs from schedulers in several threads, and execute each where a function places it."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from controller.episode.result import Reason
from controller.executors.threads import run_in_threads
from controller.scheduling.events import TrialId
from foundation.logging import log_context

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.scheduling.executor import RunJob
    from controller.scheduling.scheduler import Scheduler
    from controller.specification.job import TrialJob
    from foundation.cancel import CancelToken


class Part(NamedTuple):
    """One of several runs that are executed together.

    Attributes:
        scheduler: hands out the run's jobs.
        run_job: executes them.
    """

    scheduler: Scheduler
    run_job: RunJob


def place_all(scheduler: Scheduler, run_job: RunJob, parallel: int) -> None:
    """Execute all jobs of a scheduler.

    Args:
        scheduler: hands out the jobs.
        run_job: executes one.
        parallel: number of simultaneous jobs, at least 1. A single one is executed in the calling
            thread, where an interrupt ends it immediately; several end at their next step.

    Raises:
        KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
        MesocosmError: a job cannot be executed or recorded.
    """
    place_each([Part(scheduler, run_job)], parallel, scheduler.cancel)


def place_each(parts: Iterable[Part], parallel: int, cancel: CancelToken) -> None:
    """Execute several runs in sequence without waiting for the last trials of the previous one.

    Args:
        parts: the runs; each is opened when a thread is free for one of its jobs.
        parallel: number of simultaneous jobs; see `place_all`.
        cancel: the token of all their schedulers.

    Raises:
        KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
        MesocosmError: a job cannot be executed or recorded.
    """
    run_in_threads(_Series(parts, cancel).work, parallel, cancel)


class _Series:
    """Several runs; a thread moves to the next one when one has no jobs left."""

    def __init__(self, parts: Iterable[Part], cancel: CancelToken) -> None:
        self._parts = iter(parts)
        self._cancel = cancel
        self._opening = threading.Lock()
        self._opened: list[Part] = []

    def work(self) -> None:
        """Execute jobs of all parts until none remain, or the work is cancelled."""
        number = 0
        while not self._cancel.is_cancelled and (part := self._at(number)):
            _work_through(part)
            number += 1

    def _at(self, number: int) -> Part | None:
        """Return a part, opening it unless another thread already has."""
        with self._opening:
            if number == len(self._opened):
                part = next(self._parts, None)
                if part is None:
                    return None
                self._opened.append(part)
            return self._opened[number]


def _work_through(part: Part) -> None:
    scheduler = part.scheduler
    while job := scheduler.next():
        trial = TrialId(job.task, job.repeat)
        with log_context(run=scheduler.run, trial=str(trial)):
            following = _execute(job, part)
            while following is not None:
                following = _execute(following, part)


def _execute(job: TrialJob, part: Part) -> TrialJob | None:
    """Execute a job; return the next attempt at its trial, if there is to be one."""
    scheduler = part.scheduler
    scheduler.begin(job)
    result = part.run_job(
        job,
        scheduler.sink,
        cancel=scheduler.cancel,
        on_step=partial(scheduler.advance, job),
    )
    following = scheduler.end(job, result)
    if result.reason is Reason.CANCELLED and not scheduler.cancel.is_cancelled:
        raise KeyboardInterrupt
    return following
