"""Play one trial of a task on the machines of a given fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.agents.registry import make_run_driver
from controller.executors.local import LocalExecutor
from controller.requests import specify_request
from controller.scheduling.events import ignore_event
from controller.scheduling.execution import execute_run
from controller.specification.request import RunRequest
from controller.store.report import read_report
from controller.store.runs import Store
from controller.wiring import open_trials

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from controller.scheduling.events import TrialEvent
    from controller.store.report import Report
    from foundation.settings import Settings
    from provisioning.lease import Fleet


def play_task(  # noqa: PLR0913
    suite: str,
    task: str,
    fleet: Fleet,
    settings: Settings,
    *,
    runs_dir: Path,
    agent: str = "oracle",
    has_recipes: bool = True,
    on_event: Callable[[TrialEvent], None] = ignore_event,
) -> Report:
    """Run an agent on one task, and return the report of the scored run.

    Args:
        suite: name of the suite.
        task: id of the task.
        fleet: leases the machines.
        settings: of the appliance.
        runs_dir: where the run is kept.
        agent: name of the agent.
        has_recipes: whether the machines' images are those of the current recipes, which the run's
            specification then names.
        on_event: called with each event.

    Raises:
        MesocosmError: the run could not be created; problems in the trial are in its result.
    """
    request = RunRequest(suite=suite, agent=agent, tasks=(task,), retries=0)
    spec, opened = specify_request(request, settings)
    if not has_recipes:
        spec = spec.model_copy(update={"images": {}})
    driver = make_run_driver(spec)
    trials = open_trials(spec, opened, driver, fleet, settings)
    folder = Store(runs_dir).create(spec)
    execute_run(folder, LocalExecutor(trials), on_event=on_event)
    return read_report(folder)
