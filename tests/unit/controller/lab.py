"""Runs of the tiny suite on fake machines and a fake clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.agents.oracle import Oracle
from controller.executors.local import LocalExecutor, LocalTrials
from controller.planning import specify_run
from controller.scheduling.execution import execute_run
from controller.specification.agent import CustomSpec
from controller.store.runs import Store
from controller.wiring import make_context, open_suite
from foundation.clock import FakeClock
from provisioning.fake import FakeFleet

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from controller.episode.episode import Episode
    from controller.episode.result import Reason, TrialResult
    from controller.episode.trial import Driver
    from controller.observation.observer import Observation
    from controller.scheduling.events import TrialEvent
    from controller.specification.run import BudgetSpec
    from controller.store.runs import RunFolder


def ignore(name: str, value: float = 1.0, **labels: str) -> None:
    del name, value, labels


class Lab:
    """Runs the tiny suite on fake machines and a fake clock."""

    def __init__(self, suite: Path, folder: Path) -> None:
        self.suite = open_suite(str(suite))
        self.folder = folder
        self.clock = FakeClock()
        self.fleet = FakeFleet(self.clock)
        self.events: list[TrialEvent] = []

    def begin(
        self,
        driver: Driver,
        *tasks: str,
        repeats: int = 1,
        retries: int = 0,
        budget: BudgetSpec | None = None,
    ) -> RunFolder:
        spec = specify_run(
            self.suite,
            CustomSpec(name="test"),
            tasks=tasks,
            repeats=repeats,
            retries=retries,
            budget=budget,
            clock=self.clock,
        )
        self.use(driver)
        return Store(self.folder).create(spec)

    def use(self, driver: Driver) -> None:
        spec = specify_run(self.suite, CustomSpec(name="test"), clock=self.clock)
        context = make_context(spec, self.suite, self.fleet, clock=self.clock, take=ignore)
        self.trials = LocalTrials(self.suite, context, driver)

    def go(
        self, run: RunFolder, parallel: int = 1, *, retry: Collection[Reason] = ()
    ) -> list[TrialResult]:
        self.events.clear()
        executor = LocalExecutor(self.trials, parallel)
        return execute_run(run, executor, retry=retry, on_event=self.events.append)


class Killed(BaseException):
    """Raised by a test to simulate a killed process."""


class Victim:
    """Acts like the oracle until its process is killed in the third step."""

    def drive(self, episode: Episode, observation: Observation) -> None:
        context = episode.oracle_context()
        oracle = Oracle(context, context.task.oracle)
        while observation.step < 2:
            observation = episode.step(oracle.act(observation)).observation
        raise Killed


def killed(lab: Lab) -> RunFolder:
    run = lab.begin(Victim(), "two-apps", "answer")
    with pytest.raises(Killed):
        lab.go(run)
    return run
