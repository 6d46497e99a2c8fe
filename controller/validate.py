"""Validate a suite: each task can be passed, and only by doing it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.executors.local import LocalExecutor, ignore_event
from controller.executors.protocol import Job
from controller.planning import Plan, create_run
from controller.store.spec import CustomSpec
from controller.wiring import make_context
from evaluators.graph.outcome import Verdict
from evaluators.parameters.binding import bind_task

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from appliance.base.clock import Clock
    from controller.episode.context import Record
    from controller.episode.result import TrialResult
    from controller.episode.trial import Driver
    from controller.executors.protocol import TrialEvent
    from evaluators.model.oracle import OracleStep
    from evaluators.model.suite import Suite
    from evaluators.model.task import Task
    from provisioning.fleet.protocol import Fleet
    from provisioning.protocols import Json

FOREIGN = 3
"""How many other tasks' reference solutions each task must fail."""

_PATIENCE_S = 3.0


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether one task is sound.

    Attributes:
        task: its id.
        oracle: results of its own reference solution.
        noop: result of doing nothing.
        foreign: results of other tasks' reference solutions, by the other task's id.
    """

    task: str
    oracle: tuple[TrialResult, ...]
    noop: TrialResult
    foreign: dict[str, TrialResult]

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the task; empty when it is sound."""
        faults = [
            f"the oracle ended with {trial.verdict} ({trial.reason}): {trial.detail}".rstrip(": ")
            for trial in self.oracle
            if trial.verdict is not Verdict.PASS
        ]
        if self.noop.verdict is not Verdict.FAIL or self.noop.nodes_met:
            faults.append(
                f"doing nothing gives {self.noop.verdict} and {self.noop.nodes_met} nodes: "
                f"{self.noop.detail}".rstrip(": ")
            )
        faults += [
            f"the oracle of {other} ended with {trial.verdict}: {trial.detail}".rstrip(": ")
            for other, trial in self.foreign.items()
            if trial.verdict is not Verdict.FAIL
        ]
        if len(self.foreign) < FOREIGN:
            faults.append(f"only {len(self.foreign)} other tasks to try, {FOREIGN} are needed")
        return tuple(faults)

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {
            "task": self.task,
            "ok": not self.faults,
            "oracle": [trial.verdict.value for trial in self.oracle],
            "noop": {"verdict": self.noop.verdict.value, "nodes_met": self.noop.nodes_met},
            "foreign": {other: trial.verdict.value for other, trial in self.foreign.items()},
            "faults": list(self.faults),
        }


@dataclass(frozen=True, slots=True)
class Validator:
    """Runs the trials that a validation needs.

    Attributes:
        suite: what is validated.
        fleet: lends the machines.
        runs_dir: where the logs go, one run for each agent.
        clock: measures and waits.
        take: takes metrics.
        on_event: receives what happens.
    """

    suite: Suite
    fleet: Fleet
    runs_dir: Path
    clock: Clock
    take: Record
    on_event: Callable[[TrialEvent], None] = ignore_event

    def run(self, tasks: tuple[str, ...] = (), *, repeats: int = 1) -> list[Validation]:
        """Validate tasks, all by default.

        Args:
            tasks: ids.
            repeats: of each task's own reference solution.

        Raises:
            UnknownNameError: the suite has no such task.
            KeyboardInterrupt: Ctrl-C; what was run so far is in its logs.
        """
        chosen = [self.suite.task(name) for name in tasks] or list(self.suite.tasks)
        oracle = self._trials("oracle", OracleDriver(), chosen, repeats)
        noop = self._trials("noop", AgentDriver(NoopAgent), chosen)
        foreign: dict[str, dict[str, TrialResult]] = {task.id: {} for task in chosen}
        for offset in range(1, min(FOREIGN, len(self.suite.tasks) - 1) + 1):
            driver = OracleDriver(partial(self._foreign_steps, offset=offset))
            run = self._trials(f"foreign-oracle-{offset}", driver, chosen)
            for task in chosen:
                foreign[task.id][self._neighbour(task, offset).id] = run[task.id][0]
        return [
            Validation(task.id, tuple(oracle[task.id]), noop[task.id][0], foreign[task.id])
            for task in chosen
        ]

    def _neighbour(self, task: Task, offset: int) -> Task:
        tasks = self.suite.tasks
        number = next(number for number, each in enumerate(tasks) if each.id == task.id)
        return tasks[(number + offset) % len(tasks)]

    def _foreign_steps(self, task: Task, seed: int, *, offset: int) -> list[OracleStep]:
        neighbour = bind_task(self._neighbour(task, offset), seed).task
        return [_impatient(step) for step in neighbour.oracle]

    def _trials(
        self, agent: str, driver: Driver, tasks: list[Task], repeats: int = 1
    ) -> dict[str, list[TrialResult]]:
        names = tuple(task.id for task in tasks)
        plan = Plan(self.suite, CustomSpec(name=agent), driver, names, repeats)
        folder = create_run(plan, self.runs_dir, clock=self.clock)
        context = make_context(
            plan,
            self.fleet,
            clock=self.clock,
            take=self.take,
            baselines_dir=self.runs_dir.parent / "baselines",
        )
        job = Job(self.suite, context, driver)
        results: dict[str, list[TrialResult]] = {}
        for result in LocalExecutor().run(job, folder, on_event=self.on_event):
            results.setdefault(result.task, []).append(result)
        return results


def _impatient(step: OracleStep) -> OracleStep:
    """Make a step give up soon: on a foreign task what it waits for rarely comes."""
    return step.model_copy(update={"seconds": min(step.seconds, _PATIENCE_S)})
