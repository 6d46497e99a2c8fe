"""Evaluators accept work that a user does in the desktop's programs.

The oracles of the suite in this folder are played by keyboard and mouse on a desktop VM; input without an
effect is repeated once, as a user would. A failure prints the paths of the screenshots, the windows, the
elements and the files. A quick task is played in `make test`, the others nightly.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.trial import run_trial
from controller.wiring import open_suite
from evaluators.graph.outcome import Verdict
from foundation.settings import get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
from tests.honest_ways.solution_driver import SolutionDriver
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

    from evaluators.model.task import Task

SUITE = Path(__file__).parent
LEAST_EVALUATORS = 25
IN_A_LANDING = frozenset({"honest-files"})
TASKS = open_suite(str(SUITE)).tasks


def _param(task: Task) -> ParameterSet:
    is_now = task.id in IN_A_LANDING
    marks = [] if is_now else [nightly("`make test` plays a quick one")]
    return pytest.param(task, id=task.id, marks=marks)


@pytest.fixture(scope="module")
def context() -> RunContext:
    settings = get_settings().model_copy(update={"desktop_reset": "fork", "desktop_pool": "0"})
    fleet = LocalFleet(settings, say=print)
    fleet.prepare([ResourceSpec(DESKTOP)])
    return RunContext(fleet, vocabulary=open_suite(str(SUITE)).vocabulary)


def test_number_of_covered_evaluators_is_sufficient() -> None:
    tried = {check.check for task in TASKS for node in task.graph for check in node.checks}
    assert len(tried) >= LEAST_EVALUATORS, sorted(tried)
    assert {task.id for task in TASKS} >= IN_A_LANDING


@pytest.mark.vm
@pytest.mark.slow
@pytest.mark.timeout(3600)
@NEEDS_APPLIANCE
@pytest.mark.parametrize("task", [_param(task) for task in TASKS])
def test_honest_work_is_met(context: RunContext, task: Task, tmp_path: Path) -> None:
    result = run_trial(Episode(context), task, SolutionDriver(tmp_path))
    if "Firefox" in result.detail and result.verdict is Verdict.INCONCLUSIVE and not result.steps:
        pytest.skip(result.detail)
    assert result.verdict is Verdict.PASS, f"{result.reason}: {result.detail}"
