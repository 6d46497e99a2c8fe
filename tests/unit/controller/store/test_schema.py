"""Runs recorded before ``run.json`` had a schema version can still be read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from controller.comparison.comparison import compare_runs
from controller.spec.agent import ModelSpec, OracleSpec, ScriptSpec
from controller.store.index import list_runs
from controller.store.report import read_report
from controller.store.runs import RunFolder, Store
from controller.store.schema import _agent_from_v1
from evaluators.graph.outcome import Verdict
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import StoreError, UsageError
from tests.unit.controller.jobs import next_job

GOLDEN = Path(__file__).resolve().parents[3] / "golden/runs/v1"


@pytest.fixture
def old(tmp_path: Path) -> RunFolder:
    shutil.copytree(GOLDEN, tmp_path / "runs")
    return Store(tmp_path / "runs").open("latest")


def test_old_specification_is_read(old: RunFolder) -> None:
    spec = old.spec
    assert (spec.schema_version, spec.suite.name, spec.agent) == (1, "tiny", OracleSpec())
    assert spec.planned == [("answer", 0), ("two-apps", 0), ("write-file", 0)]
    assert not any(task.has_digests for task in spec.tasks)


def test_old_results_and_lost_attempts_are_read(old: RunFolder) -> None:
    report = read_report(old)
    assert [(trial.task, trial.verdict, trial.steps) for trial in report.trials] == [
        ("answer", Verdict.PASS, 1),
        ("two-apps", Verdict.PASS, 3),
    ]
    assert [(row.task, row.steps) for row in report.unfinished] == [("write-file", 2)]
    lost, last = old.attempts("two-apps", 0)
    assert lost.result is None
    assert last.result == report.trials[1]
    assert report.to_dict()["agent"] == "oracle"
    (row,) = list_runs(Store(old.path.parent))
    assert (row.state, row.suite, row.planned, row.passed) == ("unfinished", "tiny", 3, 2)


def test_old_run_is_not_continued(old: RunFolder) -> None:
    with pytest.raises(StoreError, match="older schema"):
        old.begin_attempt(next_job(old, "answer"), SYSTEM_CLOCK)


def test_comparison_without_a_comparable_task_is_rejected(old: RunFolder) -> None:
    with pytest.raises(UsageError, match="no comparable task") as caught:
        compare_runs(old, old)
    for name in ("answer", "two-apps", "write-file"):
        assert f"{name}: recorded without digests (schema 1)" in caught.value.details


def test_agents_of_the_first_schema_become_typed() -> None:
    options = {"model": "m", "base_url": "http://me:pass@host/v1"}
    assert _agent_from_v1("model", options) == ModelSpec(model="m", endpoint="http://host/v1")
    assert _agent_from_v1("script", {"script": "a.yaml"}) == ScriptSpec(path="a.yaml")
    assert _agent_from_v1("foreign-oracle-1", {}).kind == "custom"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": "two"}'])
def test_invalid_specification_is_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(StoreError, match=r"run\.json"):
        RunFolder(tmp_path)
