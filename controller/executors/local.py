"""Run a suite: every task, k repeats, one after the other on this host."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Protocol

from controller.episode.episode import Episode
from controller.episode.trial import run_trial

if TYPE_CHECKING:
    from controller.episode.context import RunContext
    from controller.episode.result import TrialResult
    from controller.episode.trial import Driver
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
    context: RunContext,
    driver: Driver,
    watcher: Watcher | None = None,
    *,
    again: bool = False,
) -> list[TrialResult]:
    """Run all trials of a run that have no log yet.

    Args:
        suite: where the run's tasks are from.
        folder: of the run.
        context: what the trials share.
        driver: chooses the actions.
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
            episode, result = _run_one(
                suite.task(name),
                repeat,
                folder=folder,
                context=context,
                driver=driver,
                watch=watch,
            )
            results.append(result)
            if episode.cancel.is_cancelled:
                raise KeyboardInterrupt
    return results


def _run_one(
    task: Task,
    repeat: int,
    *,
    folder: RunFolder,
    context: RunContext,
    driver: Driver,
    watch: Watcher,
) -> tuple[Episode, TrialResult]:
    watch.trial_began(task.id, repeat)
    with folder.open_trial(task.id, repeat, context.clock) as log:
        episode = Episode(
            context,
            log=log,
            repeat=repeat,
            on_step=lambda steps: watch.step_done(task.id, steps),
        )
        seed = trial_seed(folder.spec.seed, task.id, repeat)
        result = run_trial(episode, task, driver, seed=seed)
    watch.trial_ended(result)
    return episode, result


def trial_seed(seed: int, task: str, repeat: int) -> int:
    """Give a trial's own seed, independent of which other tasks the run has."""
    text = f"{seed}/{task}/{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
