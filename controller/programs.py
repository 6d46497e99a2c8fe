"""Run a suite with an agent of one's own program, recorded like any other run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.agents.driver import AgentDriver
from controller.executors.local import LocalExecutor
from controller.planning import recipes_of, specify_run
from controller.scheduling.execution import execute_run
from controller.selection import choose_tasks
from controller.specification.agent import CustomSpec
from controller.store.report import read_report
from controller.store.runs import Store
from controller.wiring import open_fleet, open_suite, open_trials
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from controller.protocol import MakeAgent
    from controller.store.report import Report
    from evaluators.loading.suite import Suite
    from foundation.settings import Settings


def run_suite(  # noqa: PLR0913 - what a user may say of a run
    suite: str,
    make_agent: MakeAgent,
    *,
    name: str,
    tasks: Collection[str] = (),
    repeats: int = 1,
    seed: int = 0,
    parallel: int = 1,
    fleet: str = "real",
) -> Report:
    """Run the tasks of a suite, store the run, and return its report.

    Args:
        suite: name of a built-in or registered suite, or its folder.
        make_agent: creates the agent of a trial, such as its class.
        name: the agent's name in results. Only this program knows the agent, so that `mesocosm
            resume` cannot continue the run.
        tasks: ids or patterns of the tasks to run; all by default.
        repeats: trials per task.
        seed: determines everything random.
        parallel: trials at the same time.
        fleet: ``real``, or ``fake`` for machines in memory.

    Raises:
        UnknownNameError: there is no such suite or task.
        SpecError: a file of the suite is invalid.
        KeyboardInterrupt: Ctrl-C; running trials are recorded as cancelled.
        MesocosmError: a trial cannot be executed.
    """
    settings = get_settings()
    opened = open_suite(suite, tasks)
    wanted = choose_tasks(opened, tuple(tasks))
    spec = specify_run(
        opened,
        CustomSpec(name=name),
        tasks=wanted,
        repeats=repeats,
        seed=seed,
        images=_images(opened, settings) if fleet == "real" else None,
        fleet="real" if fleet == "real" else "fake",
    )
    folder = Store(settings.runs_dir).create(spec)
    machines = open_fleet(fleet, settings)
    trials = open_trials(spec, opened, AgentDriver(make_agent), machines, settings)
    execute_run(folder, LocalExecutor(trials, parallel=parallel))
    return read_report(folder)


def _images(suite: Suite, settings: Settings) -> Mapping[str, str]:
    return recipes_of(settings, {spec for task in suite.tasks for spec in task.roles.values()})
