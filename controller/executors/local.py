"""Execute jobs in this process, sequentially or in parallel threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from controller.episode.episode import Episode
from controller.episode.trial import run_trial
from controller.executors.placing import place_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.episode.context import RunContext
    from controller.episode.result import TrialResult
    from controller.episode.trial import Driver
    from controller.scheduling.scheduler import Scheduler
    from controller.scheduling.sink import TrialSink
    from controller.specification.job import TrialJob
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from foundation.cancel import CancelToken


class PlayTrial(Protocol):
    """Runs one attempt, as `controller.episode.trial.run_trial`."""

    def __call__(self, episode: Episode, task: Task, driver: Driver, *, seed: int) -> TrialResult:
        """Run the attempt to its end."""
        ...


@dataclass(frozen=True, slots=True)
class LocalTrials:
    """What a process needs to execute jobs of one run, opened once.

    Attributes:
        suite: the suite of the run's tasks.
        context: the context that the trials share.
        driver: chooses the actions; used by several threads at once when trials run in parallel.
        play: runs one attempt.
    """

    suite: Suite
    context: RunContext
    driver: Driver
    play: PlayTrial = run_trial

    def run_job(
        self,
        job: TrialJob,
        sink: TrialSink,
        *,
        cancel: CancelToken,
        on_step: Callable[[int], None],
    ) -> TrialResult:
        """Execute a job in the calling thread; see `controller.scheduling.executor.RunJob`."""
        with sink.begin_attempt(job, self.context.clock) as log:
            episode = Episode(self.context, log=log, repeat=job.repeat, on_step=on_step)
            # The episode has its own token, which it cancels when it is interrupted.
            withdraw = cancel.on_cancel(lambda: episode.cancel.cancel(cancel.reason))
            try:
                return self.play(episode, self.suite.task(job.task), self.driver, seed=job.seed)
            finally:
                withdraw()

    def announce(self, tasks: Sequence[str]) -> None:
        """Tell the fleet what the next trials need."""
        specs = [spec for name in tasks for spec in self.suite.task(name).roles.values()]
        self.context.fleet.announce(specs)


class LocalExecutor:
    """A `controller.scheduling.executor.Executor` that executes jobs in this process.

    Threads wait for the machines that their trials need; if memory does not suffice for `parallel`
    trials, fewer run at a time.

    Args:
        trials: of the run.
        parallel: number of simultaneous trials. A single one runs in the calling thread, where an
            interrupt ends it immediately; several end at their next step.

    Raises:
        ValueError: `parallel` is below 1.
    """

    def __init__(self, trials: LocalTrials, parallel: int = 1) -> None:
        if parallel < 1:
            raise ValueError(f"parallel must be at least 1, got {parallel}")
        self._trials = trials
        self._parallel = parallel

    def run(self, scheduler: Scheduler) -> None:
        """Execute all jobs of a scheduler; see `controller.scheduling.executor.Executor`."""

        def run_job(
            job: TrialJob,
            sink: TrialSink,
            *,
            cancel: CancelToken,
            on_step: Callable[[int], None],
        ) -> TrialResult:
            self._trials.announce(scheduler.coming(self._parallel))
            return self._trials.run_job(job, sink, cancel=cancel, on_step=on_step)

        place_all(scheduler, run_job, self._parallel)
