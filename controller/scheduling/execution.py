"""Execute the remaining trials of a run in a local folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.scheduling.events import ignore_event
from controller.scheduling.scheduler import Scheduler
from controller.store.spending import open_budget

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection

    from controller.episode.result import Reason, TrialResult
    from controller.scheduling.events import TrialEvent
    from controller.scheduling.executor import Executor
    from controller.store.runs import RunFolder
    from foundation.cancel import CancelToken


def execute_run(
    folder: RunFolder,
    executor: Executor,
    *,
    retry: Collection[Reason] = (),
    cancel: CancelToken | None = None,
    drain: threading.Event | None = None,
    on_event: Callable[[TrialEvent], None] = ignore_event,
) -> list[TrialResult]:
    """Execute all trials of a run without a final result, within its budget; see `Scheduler`.

    Args:
        folder: the run; locked meanwhile.
        executor: places the jobs.
        retry: trials that ended for these reasons get another attempt.
        cancel: ends running trials as cancelled and starts no others.
        drain: when set, running trials finish and no others start.
        on_event: called by one thread at a time.

    Returns:
        The results of the trials that ended during this call, in the order in which they ended.

    Raises:
        KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
        StoreError: another process executes the run, or a log cannot be written.
        MesocosmError: a job cannot be executed.
    """
    with folder.working():
        scheduler = Scheduler(
            folder,
            budget=open_budget(folder),
            retry=retry,
            cancel=cancel,
            drain=drain,
            on_event=on_event,
        )
        executor.run(scheduler)
        return scheduler.results
