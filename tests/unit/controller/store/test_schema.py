from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from controller.episode.result import MemberShare
from controller.models.usage import Usage
from controller.store.export import export_rows
from controller.store.report import read_report
from controller.store.runs import RunFolder, Store
from controller.store.spending import read_spending
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import StoreError
from tests.unit.controller.jobs import next_job
from tests.unit.controller.store.test_runs import make_run

if TYPE_CHECKING:
    from pathlib import Path


def test_run_with_one_agent_is_read_as_a_team_of_one(tmp_path: Path) -> None:
    """Version 2 had ``agent`` in ``run.json`` and in the first line of logs, and no members."""
    spec = make_run(tmp_path).spec
    data = spec.model_dump(mode="json", exclude={"agents"})
    agent = {
        "kind": "model",
        "model": "m",
        "endpoint": "http://host/v1",
        "usd_per_mtok_prompt": 10,
        "usd_per_mtok_completion": 30,
    }
    text = json.dumps({**data, "schema_version": 2, "agent": agent})
    (tmp_path / spec.run / "run.json").write_text(text)
    folder = Store(tmp_path).open(spec.run)
    (member,) = folder.spec.agents
    assert (member.name, folder.spec.agent_name) == ("agent", "model:m")
    with folder.begin_attempt(next_job(folder, "a"), SYSTEM_CLOCK) as log:
        log.append("step", usage={"prompt": 1000, "completion": 100})
    result = {
        "task": "a",
        "repeat": 0,
        "verdict": "PASS",
        "reason": "success",
        "nodes_met": 1,
        "nodes": 1,
        "steps": 2,
        "seconds": 3.0,
        "agent_seconds": 1.5,
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "usd": 0.5, "is_known": True},
    }
    with folder.begin_attempt(next_job(folder, "a"), SYSTEM_CLOCK) as log:
        log.append("end", result=result, graph=None)
    (trial,) = read_report(folder).trials
    usage = Usage(7, 2, 0.5)
    assert trial.members == {"agent": MemberShare(usage, agent_seconds=1.5, steps=2)}
    assert (trial.usage, trial.agent_seconds, trial.steps) == (usage, 1.5, 2)
    spent = read_spending(folder)
    assert spent.tokens == 1109
    assert spent.usd == pytest.approx(0.513)
    last = list(export_rows(folder, "trials"))[-1]
    assert [row["member"] for row in export_rows(folder, "steps")] == ["agent"]
    assert (last["agent"], last["prompt_tokens"], last["agent_seconds"]) == ("model:m", 7, 1.5)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": "two"}'])
def test_invalid_specification_is_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(StoreError, match=r"run\.json"):
        RunFolder(tmp_path)


def test_specification_of_another_version_is_rejected_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema_version": 99, "run": "later"}')
    with pytest.raises(StoreError, match="another version of Mesocosm") as caught:
        RunFolder(tmp_path)
    assert "Its schema version is 99" in caught.value.details
