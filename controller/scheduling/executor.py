"""Interface of executors, which decide where jobs are executed, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.episode.result import TrialResult
    from controller.scheduling.scheduler import Scheduler
    from controller.scheduling.sink import TrialSink
    from controller.specification.job import TrialJob
    from foundation.cancel import CancelToken


class RunJob(Protocol):
    """Executes one job to its end, wherever the executor places it."""

    def __call__(
        self,
        job: TrialJob,
        sink: TrialSink,
        *,
        cancel: CancelToken,
        on_step: Callable[[int], None],
    ) -> TrialResult:
        """Execute a job, and return the result that the sink has recorded.

        Ctrl-C ends the attempt: the result's reason is then ``cancelled`` although `cancel` is not.

        Args:
            job: the attempt.
            sink: records it.
            cancel: ends it as cancelled.
            on_step: called after each turn with the number of executed actions.

        Raises:
            StoreError: the attempt cannot be recorded.
            MesocosmError: the job cannot be executed at all; nothing was recorded.
        """
        ...


class Executor(Protocol):
    """Places the jobs of a run; how many run at once is its own affair."""

    def run(self, scheduler: Scheduler) -> None:
        """Take jobs from a scheduler until it has none left, execute them, and report to it.

        Args:
            scheduler: of the run; if its token is cancelled, running jobs end.

        Raises:
            KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
            MesocosmError: a job cannot be executed, or its result cannot be recorded.
        """
        ...
