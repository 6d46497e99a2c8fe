"""The example suite ``first``: it is read, and its script and tasks run as far as fakes allow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.validation.validator import Validator
from controller.wiring import open_suite
from evaluators.parameters.binding import bind_task
from tests.unit.controller.lab import ignore

if TYPE_CHECKING:
    from tests.unit.controller.lab import Lab

FIRST = Path(__file__).resolve().parents[3] / "examples/suites/first"


def test_seven_tasks_show_the_features_of_task_files() -> None:
    suite = open_suite(str(FIRST))
    assert len(suite.tasks) == 7
    assert all(task.must_fail and task.tags and task.source for task in suite.tasks)
    assert set(suite.task("sheet").solutions) == {"script", "gui"}
    for task in suite.tasks:
        assert task.parameters == {} or (
            bind_task(task, 1).task.instruction != bind_task(task, 4).task.instruction
        )


@pytest.mark.slow
def test_two_tasks_are_sound_on_machines_in_memory(lab: Lab) -> None:
    lab.suite = open_suite(str(FIRST))
    validator = Validator(lab.suite, lab.fleet, lab.folder, lab.clock, ignore)
    rows = validator.run(validator.plan(("booking", "contact")))
    assert {row.task: row.faults for row in rows} == {"booking": (), "contact": ()}
