"""Runs of the tiny suite on fake machines that other processes can execute, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.agents.custom.python_class import specify_class
from controller.agents.registry import make_driver
from controller.executors.local import LocalExecutor
from controller.planning import specify_run, suite_for
from controller.scheduling.execution import execute_run
from controller.store.runs import Store
from controller.wiring import (
    isolated_executor,
    open_fleet,
    open_suite,
    open_suite_of,
    open_trials,
)
from foundation.settings import Settings

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from controller.episode.result import TrialResult
    from controller.scheduling.events import TrialEvent
    from controller.scheduling.executor import Executor
    from controller.specification.agent import AgentSpec
    from controller.store.runs import RunFolder
    from foundation.cancel import CancelToken

WAITING = """
class Agent:
    def act(self, observation):
        return {"do": "wait", "with": {"seconds": 0.2}}
"""


class Shop:
    """Runs of the tiny suite on fake machines, executed by the executor under test."""

    def __init__(self, kind: str, suite: Path, folder: Path) -> None:
        self.kind = kind
        self.suite = open_suite(str(suite))
        self.settings = Settings(state_dir=folder)
        self.events: list[TrialEvent] = []

    def begin(self, agent: AgentSpec, *tasks: str, repeats: int = 1, retries: int = 0) -> RunFolder:
        spec = specify_run(
            self.suite, agent, tasks=tasks, repeats=repeats, retries=retries, fleet="fake"
        )
        return Store(self.settings.runs_dir).create(spec)

    def executor(self, run: RunFolder, parallel: int = 1) -> Executor:
        suite = suite_for(run.spec, open_suite_of(run.spec))
        driver = make_driver(run.spec.only_agent)
        fleet = open_fleet("fake", self.settings)
        trials = open_trials(run.spec, suite, driver, fleet, self.settings)
        if self.kind == "local":
            return LocalExecutor(trials, parallel)
        return isolated_executor(trials, run, self.settings, "fake", parallel=parallel)

    def go(
        self,
        run: RunFolder,
        parallel: int = 1,
        *,
        cancel: CancelToken | None = None,
        drain: threading.Event | None = None,
        then: Callable[[TrialEvent], None] = lambda _: None,
    ) -> list[TrialResult]:
        self.events.clear()

        def note(event: TrialEvent) -> None:
            self.events.append(event)
            then(event)

        executor = self.executor(run, parallel)
        return execute_run(run, executor, cancel=cancel, drain=drain, on_event=note)


def class_in(folder: Path, code: str) -> AgentSpec:
    """Write an agent's class, and return its specification."""
    (folder / "own.py").write_text(code)
    return specify_class("own.py:Agent", folder)
