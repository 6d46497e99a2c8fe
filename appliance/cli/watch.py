"""Show the progress of a run on standard error."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from appliance.cli.output import progress, say
from controller.scheduling.events import (
    AttemptLost,
    BudgetSpent,
    RunPaused,
    StepDone,
    TrialEnded,
    TrialStarted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from controller.episode.result import TrialResult
    from controller.scheduling.events import TrialEvent


class RunDisplay:
    """Shows the events of an executor as a progress bar, with one line per finished trial.

    Args:
        display: the progress display, already started.
        total: number of trials; None if unknown.
    """

    def __init__(self, display: Progress, total: int | None) -> None:
        self._display = display
        self._bar: TaskID = display.add_task("starting", total=total)

    def __call__(self, event: TrialEvent) -> None:
        """Show one event."""
        match event:
            case TrialStarted(trial):
                self._describe(f"{trial}: preparing machines")
            case StepDone(trial, _, steps):
                self._describe(f"{trial}: step {steps}")
            case AttemptLost(trial, attempt, result):
                say(f"{trial}: attempt {attempt} failed ({result.reason}), retrying")
            case TrialEnded(_, _, result):
                self.advance(_line(result))
            case BudgetSpent(_, excess, left):
                say(f"the budget is spent: {excess}; {left} were not started")
            case RunPaused(run, left):
                say(
                    "paused: three trials in a row could not reach their model; "
                    f"{left} were not started. Once the model answers: "
                    f"mesocosm resume {run} --retry inconclusive"
                )

    def advance(self, line: str) -> None:
        """Count a finished trial, and print its line."""
        self._display.advance(self._bar)
        say(line)

    def _describe(self, text: str) -> None:
        self._display.update(self._bar, description=text)


def _line(result: TrialResult) -> str:
    return (
        f"{result.verdict:<12} {result.task}.{result.repeat}: {result.reason}, "
        f"{result.nodes_met}/{result.nodes} nodes, "
        f"{result.steps} step{'s' * (result.steps != 1)}, {result.seconds:.1f} s"
    )


@contextlib.contextmanager
def watching(total: int | None) -> Iterator[RunDisplay]:
    """Show the progress of a run during a block."""
    with progress() as display:
        yield RunDisplay(display, total)
