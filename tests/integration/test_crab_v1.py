"""The phone tasks of crab-v1 on the reference phone: passed by their solutions, untouched by doing nothing.

`make test` tries one task of each template; the nightly run tries all of them, and the desktop's.
"""

from __future__ import annotations

import contextlib
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from controller.wiring import open_suite
from evaluators.model.platforms import platform_of
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Collection

pytestmark = [pytest.mark.phone, pytest.mark.timeout(900), NEEDS_APPLIANCE]


def run_tasks(tasks: Collection[str], agent: str, *options: str) -> dict[str, Any]:
    """Return the report of a run of some tasks of the suite."""
    out = io.StringIO()
    chosen = [part for task in tasks for part in ("--task", task)]
    with contextlib.redirect_stdout(out):
        main(["run", "crab-v1", *chosen, "--agent", agent, "--json", *options])
    report: dict[str, Any] = json.loads(out.getvalue())
    return report


def tasks_of_all_templates() -> list[str]:
    """Return phone tasks that together use every template that phone tasks use, short ones first."""
    chosen: list[str] = []
    used: set[str] = set()
    for task in sorted(open_suite("crab-v1").tasks, key=lambda task: len(task.parts)):
        templates = {part.subtask for part in task.parts}
        if platform_of(task.kinds.values()) == "phone" and not templates <= used:
            chosen.append(task.id)
            used |= templates
    return chosen


def test_each_phone_template_is_passed_by_its_solution_only() -> None:
    tasks = tasks_of_all_templates()
    passed = run_tasks(tasks, "oracle", "--seed", "5")["trials"]
    assert {trial["task"]: trial["verdict"] for trial in passed} == dict.fromkeys(tasks, "PASS")
    idle = run_tasks(tasks, "noop")["trials"]
    assert [trial["nodes_met"] for trial in idle] == [0] * len(tasks)


@nightly("120 tasks take half an hour on a quiet host")
@pytest.mark.vm
@pytest.mark.timeout(14_400)
def test_all_tasks_are_passed_by_their_solutions() -> None:
    tasks = [task.id for task in open_suite("crab-v1").tasks]
    trials = run_tasks(tasks, "oracle", "--parallel", "2")["trials"]
    assert {trial["task"]: trial["verdict"] for trial in trials} == dict.fromkeys(tasks, "PASS")
