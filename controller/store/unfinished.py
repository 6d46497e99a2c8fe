"""Reconstruct the progress of a trial that never ended, from its log.

A trial whose controller was killed cannot be continued: its machines were reset and its agent is
gone, so nodes that its log records as met may no longer be met. The logged graph is therefore only
reported, and `mesocosm resume` starts another attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.specification.run import trial_seed
from evaluators.graph.feedback import Feedback, explain
from evaluators.graph.progress import Progress
from evaluators.parameters.binding import bind_task

if TYPE_CHECKING:
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A trial without an end.

    Attributes:
        task: id of the task.
        repeat: number of the repetition, from 0.
        steps: number of steps in its log.
        nodes_met: number of nodes that were met after the last step; None if its suite is not
            available, or the trial never started.
        unmet: why the other nodes were not met.
    """

    task: str
    repeat: int
    steps: int
    nodes_met: int | None = None
    unmet: tuple[Feedback, ...] = ()


def read_unfinished(folder: RunFolder, suite: Suite | None = None) -> list[Unfinished]:
    """Return the trials of a run that did not end, in the planned order.

    Args:
        folder: the run's folder.
        suite: the run's suite; if it is missing or has changed, nodes are not reported.

    Raises:
        StoreError: a log is damaged.
    """
    rows = [Unfinished(*row) for row in folder.unfinished()]
    if suite is None or suite.digest != folder.spec.suite.digest:
        return rows
    return [_with_nodes(row, folder, suite) for row in rows]


def _with_nodes(row: Unfinished, folder: RunFolder, suite: Suite) -> Unfinished:
    events = folder.events(row.task, row.repeat)
    if not events:
        return row  # it never started
    seed = trial_seed(folder.spec.seed, row.task, row.repeat)
    task = bind_task(suite.task(row.task), seed).task
    progress = Progress(task.graph)
    progress.restore_last(events)
    unmet = explain(progress, task, suite.vocabulary.evaluators)
    return Unfinished(row.task, row.repeat, row.steps, len(progress.met), unmet)
