"""Commands with a model of a vendor that only the tests know: preflight, limits, resume, results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from controller.models.adapters import ADAPTERS
from tests.standins.toy_vendor import ToyAdapter, told, toy_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.standins.toy_vendor import ToyServer

TINY = str(Path(__file__).resolve().parents[3] / "suites/tiny")
RUN = ["run", TINY, "--agent", "model", "--fleet", "fake", "--task", "write-file", "--json"]
SEES = (200, told(("report_colour", {"colour": "red"})))
WORKS = (
    200,
    told(
        ("desktop__open_app", {"name": "Terminal"}),
        ("desktop__type_text", {"text": "echo hello > note.txt\n"}),
        ("session__complete", {}),
    ),
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ToyServer]:
    monkeypatch.setitem(ADAPTERS, "toy", ToyAdapter())
    with toy_server(WORKS) as server:
        for name, value in (("ADAPTER", "toy"), ("BASE_URL", server.base_url), ("NAME", "m")):
            monkeypatch.setenv(f"MESOCOSM_MODEL_{name}", value)
        yield server


def output(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shown


def test_run_is_checked_judged_and_shown(
    server: ToyServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers[:0] = [SEES]
    assert main(RUN) == 0
    report = output(capsys)
    assert report["verdicts"]["PASS"] == 1
    assert (report["agent"], report["model"]) == ("model:m", "m")
    (member,) = report["spec"]["agents"]
    assert (member["name"], member["agent"]["adapter"]) == ("agent", "toy")
    (trial,) = report["trials"]
    assert trial["members"]["agent"]["usage"] == trial["usage"]
    assert trial["usage"] | {"usd": 0} == {
        "prompt": 100,
        "completion": 10,
        "cached": 60,
        "reasoning": None,
        "usd": 0,
        "is_known": True,
    }
    assert report["spent"]["tokens"] == 110
    assert len(server.requests) == 2
    assert main(["results", report["run"], "--json"]) == 0
    assert output(capsys) == report


def test_preflight_and_limits(server: ToyServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers[:] = [(200, told())]
    assert main(RUN) == 3
    assert "was asked to call a tool but did not" in capsys.readouterr().err
    server.answers[:] = [SEES, WORKS]
    assert main([*RUN, "--max-tokens-per-trial", "109"]) == 0
    (trial,) = output(capsys)["trials"]
    assert (trial["reason"], trial["ended_by"]) == ("token_limit", "agent")


@pytest.mark.slow
def test_run_whose_budget_is_spent_is_resumed_with_the_same_vendor(
    server: ToyServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers[:0] = [SEES]
    main([*RUN, "--repeats", "2", "--budget-tokens", "100"])
    report = output(capsys)
    assert (report["ended"], len(report["trials"])) == ("budget_spent", 1)
    resume = ["resume", report["run"], "--fleet", "fake", "--budget-tokens", "1000", "--json"]
    monkeypatch.setenv("MESOCOSM_MODEL_ADAPTER", "openai")
    assert main(resume) == 2
    assert "MESOCOSM_MODEL_ADAPTER: 'toy' in the run, 'openai' now" in capsys.readouterr().err
    monkeypatch.delenv("MESOCOSM_MODEL_ADAPTER")
    server.answers[:0] = [SEES]
    assert main(resume) == 0
    resumed = output(capsys)
    assert (resumed["ended"], resumed["spent"]["tokens"]) == ("complete", 220)
    assert resumed["verdicts"]["PASS"] == 2
