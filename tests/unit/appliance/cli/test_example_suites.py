"""The suites in ``examples/``, run end to end on machines in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

RECEIPTS = str(Path(__file__).resolve().parents[4] / "examples/suites/receipts")


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def run(capsys: pytest.CaptureFixture[str], agent: str) -> list[Any]:
    assert main(["run", RECEIPTS, "--agent", agent, "--fleet", "fake", "--json"]) == 0
    trials: list[Any] = json.loads(capsys.readouterr().out)["trials"]
    return trials


@pytest.mark.slow
def test_oracle_passes_with_functions_of_the_suite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {trial["verdict"] for trial in run(capsys, "oracle")} == {"PASS"}


@pytest.mark.slow
def test_unmet_node_is_described_by_the_docstring_in_the_suite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trials = run(capsys, "noop")
    assert {trial["verdict"] for trial in trials} == {"FAIL"}
    reasons = [row["why"] for trial in trials for row in trial["unmet"]]
    assert any("a report states the sum of the amounts" in reason for reason in reasons)


@pytest.mark.slow
def test_suite_evaluators_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluators", "list", "--suite", RECEIPTS, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {evaluator["name"] for evaluator in listed} == {"receipts_total_is", "answer_is_amount"}
    assert main(["evaluators", "show", "receipts_total_is", "--suite", RECEIPTS, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["example"]["check"] == "receipts_total_is"
    assert main(["evaluators", "show", "receipts_total_is"]) != 0


def test_suite_show_lists_its_functions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "show", RECEIPTS, "--json"]) == 0
    functions = json.loads(capsys.readouterr().out)["functions"]
    assert {"kind": "action", "on": "desktop", "name": "run_command"} in functions
    assert main(["suite", "show", RECEIPTS]) == 0
    assert "setup put_receipts" in capsys.readouterr().out


def test_suite_evaluator_is_tried_on_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["evaluators", "try", "answer_is_amount", "amount=103.10", "--suite", RECEIPTS]
    assert main([*argv, "--answer", "CHF 103.10"]) == 0
    assert main([*argv, "--answer", "CHF 103.20"]) == 1


@pytest.mark.slow
def test_terminal_tasks_pass_in_memory_and_others_end_soon(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "smoke", "--agent", "oracle", "--fleet", "fake", "--json"]) == 0
    trials = json.loads(capsys.readouterr().out)["trials"]
    passed = {trial["task"] for trial in trials if trial["verdict"] == "PASS"}
    assert passed >= {"desktop-badge", "desktop-invoice", "cross-contact-number"}
    reasons = {trial["reason"] for trial in trials if trial["verdict"] != "PASS"}
    assert reasons == {"agent_error"}, "their programs are not there"
    details = " ".join(trial["detail"] for trial in trials)
    assert "within 1 s" in details


def test_guards_are_counted_separately_from_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    first = str(Path(RECEIPTS).with_name("first"))
    assert main(["suite", "show", first]) == 0
    assert "1 guard" in " ".join(capsys.readouterr().out.split())
