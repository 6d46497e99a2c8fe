"""Show on standard error how a run goes on."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from appliance.cli.output import console_err, progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from controller.episode.result import TrialResult


class ProgressWatcher:
    """Moves a progress bar; without a terminal it prints one line for each finished trial.

    Args:
        display: the bar's display, already begun.
        total: number of trials; None when it is not known.
    """

    def __init__(self, display: Progress, total: int | None) -> None:
        self._display = display
        self._bar: TaskID = display.add_task("starting", total=total)

    def trial_began(self, task: str, repeat: int) -> None:
        """Name the trial."""
        self._display.update(self._bar, description=f"{task}.{repeat}: getting machines ready")

    def step_done(self, task: str, steps: int) -> None:
        """Count the step."""
        self._display.update(self._bar, description=f"{task}: step {steps}")

    def trial_ended(self, result: TrialResult) -> None:
        """Move on."""
        self._display.advance(self._bar)
        console_err().print(
            f"{result.verdict:<12} {result.task}.{result.repeat}: {result.reason}, "
            f"{result.nodes_met}/{result.nodes} nodes, {result.steps} steps, {result.seconds:.1f} s",
            markup=False,
        )


@contextlib.contextmanager
def watching(total: int | None) -> Iterator[ProgressWatcher]:
    """Show a run for the length of a block."""
    with progress() as display:
        yield ProgressWatcher(display, total)
