"""The clock of registered agents; the stand-in for a container is a process without isolation."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from controller.agents.custom import container
from controller.agents.custom.container import ContainerAgent
from controller.agents.driver import AgentDriver
from controller.episode.result import Reason
from controller.models.gateway import ModelGateway
from controller.models.settings import ModelSettings
from controller.registered.agents import AgentDefinition
from evaluators.graph.outcome import Verdict
from tests.unit.controller.bench import SET_DARK, make_task
from tests.unit.controller.stand_in import completion, stand_in

if TYPE_CHECKING:
    from pathlib import Path

    from controller.episode.result import TrialResult
    from tests.unit.controller.bench import Bench

OPEN = {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}}
TYPE = {"on": "desktop", "do": "type_text", "with": {"text": f"{SET_DARK}\n"}}
REPLY = completion(("session__complete", "{}"))
ASKER = """
import http.client, json, socket, sys

def ask():
    connection = http.client.HTTPConnection("model")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(sys.argv[1])
    connection.request("POST", "/v1/chat/completions", json.dumps({"model": "m"}))
    return connection.getresponse().status

turns = json.loads(sys.argv[2])
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        while ask() != 200:
            pass
        print(json.dumps({"actions": [turns.pop(0)], "outage_s": 1000}), flush=True)
"""


def tried(
    bench: Bench,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    statuses: list[int],
    *,
    takes_s: float,
    budget_s: float = 300.0,
) -> TrialResult:
    """Run an agent that reports outages, on a model whose answers take a time of the fake clock."""
    monkeypatch.setattr(container, "_remove", lambda _: None)
    monkeypatch.setattr(container, "container_argv", lambda _, made, *__: [*made.command])
    command = (sys.executable, "-c", ASKER, str(folder / "s"), json.dumps([OPEN, TYPE]))
    definition = AgentDefinition(name="asker", command=command, model=True)
    with stand_in(*((status, REPLY) for status in statuses)) as server:
        server.on_request = lambda: bench.clock.advance(takes_s)
        settings = ModelSettings(name="m", base_url=server.base_url, outage_s=budget_s)
        make_gateway = lambda _: ModelGateway(settings, folder / "s", bench.clock)  # noqa: E731
        driver = AgentDriver(
            lambda context: ContainerAgent(context, definition, folder, "", make_gateway),  # type: ignore[arg-type]
            measures_outage=True,
        )
        return bench.drive(make_task(limits={"seconds": 60.0}), driver)


def test_unanswered_requests_are_measured_and_not_charged(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = tried(bench, tmp_path, monkeypatch, [503, 429, 200, 200], takes_s=25)
    assert (result.verdict, result.reason) == (Verdict.PASS, Reason.SUCCESS)
    assert result.agent_seconds == pytest.approx(50, abs=0.1)  # both answered requests
    logged = [row["data"] for row in bench.events if row.get("kind") == "outage"]
    assert [row["reported_s"] for row in logged] == [1000, 1000]
    assert [row["measured_s"] for row in logged] == pytest.approx([50, 0], abs=0.1)


def test_answered_requests_are_charged_whatever_is_reported(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = tried(bench, tmp_path, monkeypatch, [200], takes_s=31)
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.TIME_LIMIT)
    assert result.agent_seconds == pytest.approx(62)


def test_outages_beyond_the_budget_are_charged(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses = [503, 503, 503, 200]
    result = tried(bench, tmp_path, monkeypatch, statuses, takes_s=20, budget_s=15)
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.TIME_LIMIT)
    assert result.agent_seconds == pytest.approx(4 * 20 - 15)
