"""Rehearsals: the tasks of a run, played by their solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.rehearsal import Rehearsal, rehearsal_of
from controller.specification.request import parse_request
from controller.store.report import read_report

if TYPE_CHECKING:
    from tests.unit.controller.lab import Lab


def test_tasks_observation_and_limits_stay_and_models_go() -> None:
    request = parse_request(
        {
            "suite": "smoke",
            "agent": "model",
            "model": "gpt",
            "team": "by-function",
            "tasks": ["a"],
            "platforms": ["phone"],
            "limits": {"turns": 3, "seconds": 9.0},
            "budget": {"tokens": 5},
            "repeats": 4,
            "retries": 3,
            "trees": True,
            "seed": 7,
        }
    )
    rehearsed = rehearsal_of(request)
    for name in ("suite", "tasks", "platforms", "limits", "trees", "seed"):
        assert getattr(rehearsed, name) == getattr(request, name)
    assert (rehearsed.agent, rehearsed.model, rehearsed.team) == ("oracle", None, "")
    assert (rehearsed.repeats, rehearsed.budget.tokens) == (1, None)


@pytest.mark.slow
def test_it_passes_only_if_every_task_passes(lab: Lab) -> None:
    folder = lab.begin(OracleDriver())
    lab.go(folder)
    passed = Rehearsal(read_report(folder))
    assert passed.is_passed
    assert passed.to_dict()["model_tokens"] == 0
    assert passed.to_dict()["tasks"] == len(lab.suite.tasks)
    failing = lab.begin(AgentDriver(NoopAgent))
    lab.go(failing)
    failed = Rehearsal(read_report(failing))
    assert not failed.is_passed
    assert failed.to_dict()["failed"] == [task.id for task in lab.suite.tasks]
    assert [line.split(":")[0].strip() for line in failed.lines()[1:]] == [
        task.id for task in lab.suite.tasks
    ]
    unfinished = Rehearsal(read_report(lab.begin(OracleDriver())))
    assert not unfinished.is_passed
