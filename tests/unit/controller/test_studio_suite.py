"""The suite studio-v1: the same tasks by API and on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.opened_suites import open_unchanged
from evaluators.metrics.suite_statistics import measure_suite
from evaluators.model.oracle import Act
from evaluators.parameters.binding import bind_task

if TYPE_CHECKING:
    from evaluators.model.task import Task

SUITE = open_unchanged("studio-v1")
PAIRS = [
    (task, SUITE.task(task.id.replace("api-", "gui-", 1)))
    for task in SUITE.tasks
    if "api" in task.tags
]


def test_figures_are_the_declared_ones() -> None:
    figures = measure_suite(SUITE.tasks, SUITE.subtasks).figures(SUITE.statistics)
    assert [figure.name for figure in figures if not figure.holds] == []
    assert len(PAIRS) == 19


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].id)
def test_both_ways_are_the_same_exam(pair: tuple[Task, Task]) -> None:
    api, gui = pair
    for name in ("instruction", "parameters", "setup", "graph", "roles"):
        assert getattr(api, name) == getattr(gui, name), name


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].id)
def test_one_call_of_code_or_thirty_steps(pair: tuple[Task, Task]) -> None:
    api, gui = pair
    assert (api.code, api.limits.steps, api.limits.seconds) == (True, 1, 30)
    assert (gui.code, gui.limits.steps, gui.limits.seconds) == (False, 30, 60)
    for steps in api.solutions.values():
        assert [step.do for step in steps if isinstance(step, Act)] == ["run_shell"]


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda task: task.id)
def test_another_seed_is_another_exam(task: Task) -> None:
    exams = {bind_task(task, seed).task.model_dump_json() for seed in range(8)}
    assert len(exams) > 1
