"""Run a suite: every task, k repeats, one after the other on this host."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Protocol

from controller.episode.session import Trial

if TYPE_CHECKING:
    from controller.episode.context import Stage
    from controller.episode.result import TrialResult
    from controller.store.runs import RunFolder
    from evaluators.model.suite import Suite
    from evaluators.model.task import Task


class Watcher(Protocol):
    """Is told how a run goes on, for a progress display."""

    def trial_began(self, task: str, repeat: int) -> None:
        """Note that a trial begins."""
        ...

    def step_done(self, task: str, steps: int) -> None:
        """Note that a step was finished."""
        ...

    def trial_ended(self, result: TrialResult) -> None:
        """Note that a trial is over."""
        ...


class NoWatcher:
    """Does not care."""

    def trial_began(self, task: str, repeat: int) -> None:
        """Ignore it."""

    def step_done(self, task: str, steps: int) -> None:
        """Ignore it."""

    def trial_ended(self, result: TrialResult) -> None:
        """Ignore it."""


def run_suite(
    suite: Suite,
    folder: RunFolder,
    stage: Stage,
    watcher: Watcher | None = None,
    *,
    again: bool = False,
) -> list[TrialResult]:
    """Run all trials of a run that have no log yet.

    Args:
        suite: where the run's tasks are from.
        folder: of the run.
        stage: what the trials share.
        watcher: told how it goes on.
        again: trials that were begun and not ended are begun anew, on fresh machines; their logs
            are kept beside.

    Returns:
        The results of the trials run now.

    Raises:
        KeyboardInterrupt: Ctrl-C; the trial it hit is recorded as cancelled and its machines went
            back, the trials after it stay unfinished.
        StoreError: a log cannot be written.
    """
    watch = watcher or NoWatcher()
    results = []
    with folder.working():
        unfinished = {(name, repeat) for name, repeat, _ in folder.unfinished()}
        for name, repeat in folder.spec.planned:
            if again and (name, repeat) in unfinished:
                folder.set_aside(name, repeat)
            elif folder.events(name, repeat):
                continue
            trial, result = _run_one(suite.task(name), repeat, folder, stage, watch)
            results.append(result)
            if trial.is_interrupted:
                raise KeyboardInterrupt
    return results


def _run_one(
    task: Task, repeat: int, folder: RunFolder, stage: Stage, watch: Watcher
) -> tuple[Trial, TrialResult]:
    watch.trial_began(task.id, repeat)
    with folder.open_trial(task.id, repeat, stage.clock) as log:
        trial = Trial(
            task,
            repeat,
            stage=stage,
            log=log,
            seed=trial_seed(folder.spec.seed, task.id, repeat),
            on_step=lambda steps: watch.step_done(task.id, steps),
        )
        result = trial.run()
    watch.trial_ended(result)
    return trial, result


def trial_seed(seed: int, task: str, repeat: int) -> int:
    """Give a trial's own seed, independent of which other tasks the run has."""
    text = f"{seed}/{task}/{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
