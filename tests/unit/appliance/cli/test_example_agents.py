"""The programs of docs/agents.md and docs/python.md, run on machines in memory."""

from __future__ import annotations

import json
import re
import runpy
import sys
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from appliance.cli.main import main
from controller.registered.agents import read_definition
from foundation.settings import REPOSITORY, get_settings
from tests.unit.controller.stand_in import completion, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGENTS = REPOSITORY / "examples/agents"
TINY = str(REPOSITORY / "tests/suites/tiny")
SHOWN = re.compile(r"^`(examples/[\w/.-]+)`:\n\n```\w+\n(.*?)```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def test_pages_show_the_programs_verbatim() -> None:
    pages = [(REPOSITORY / "docs" / name).read_text() for name in ("agents.md", "python.md")]
    shown = dict(row for page in pages for row in SHOWN.findall(page))
    paths = [
        path
        for name in ("agents", "python")
        for path in (REPOSITORY / "examples" / name).glob("*.*")
    ]
    assert shown == {str(path.relative_to(REPOSITORY)): path.read_text() for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ["--agent", f"{AGENTS / 'typist.py'}:Typist"],
        ["--agent-command", f"{sys.executable} {AGENTS / 'typist_stdio.py'}"],
        ["--agent", "script", "--script", str(AGENTS / "typist.yaml")],
    ],
)
def test_agents_pass_and_their_runs_can_be_resumed(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["run", TINY, "--fleet", "fake", "--task", "write-file", "--json"]
    assert main([*asked, *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdicts"]["PASS"] == 1
    assert main(["resume", report["run"], "--suite", TINY, "--fleet", "fake", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == report
    assert main(["resume", report["run"], "--suite", TINY, "--model", "gpt"]) == 2
    assert "has no model" in capsys.readouterr().err


@pytest.mark.slow
def test_agent_behind_an_endpoint_passes(capsys: pytest.CaptureFixture[str]) -> None:
    handler = runpy.run_path(str(AGENTS / "typist_http.py"))["Typist"]
    asked = ["run", TINY, "--fleet", "fake", "--task", "write-file", "--json"]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        assert main([*asked, "--agent", address, "--repeats", "2", "--parallel", "2"]) == 0
        server.shutdown()
    report = json.loads(capsys.readouterr().out)
    assert (report["verdicts"]["PASS"], report["agents"][0]["agent"]) == (2, address)
    assert main([*asked, "--agent", address]) == 3
    assert "No agent answers" in capsys.readouterr().err


@pytest.mark.slow
def test_agent_asks_the_model_of_its_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = (
        ("desktop__open_app", '{"name": "Terminal"}'),
        ("desktop__type_text", json.dumps({"text": "echo hello > note.txt\n"})),
        ("session__complete", "{}"),
    )
    definition = read_definition(REPOSITORY / "examples/asker")
    assert (definition.command, definition.model) == (("python3", "main.py"), True)
    command = f"{sys.executable} {REPOSITORY / 'examples/asker/main.py'}"
    with stand_in((200, completion(*calls, tokens=(7, 3)))) as server:
        monkeypatch.setenv("MESOCOSM_MODEL_BASE_URL", server.base_url)
        monkeypatch.setenv("MESOCOSM_MODEL_NAME", "m")
        asked = ["run", TINY, "--fleet", "fake", "--task", "write-file", "--json"]
        assert main([*asked, "--agent-command", command]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdicts"]["PASS"] == 1
    (request,) = server.requests
    assert request["model"] == "m"
    kinds = [part["type"] for part in request["messages"][0]["content"]]
    assert kinds[:2] == ["text", "image_url"]
    assert {name for name, _ in calls} <= {tool["function"]["name"] for tool in request["tools"]}


def test_episode_passes(capsys: pytest.CaptureFixture[str]) -> None:
    program = runpy.run_path(str(REPOSITORY / "examples/python/episode.py"))
    program["main"](TINY, "write-file", "fake")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "PASS: success, 1/1 nodes"
    assert lines[1].endswith("met ['written']")


def test_machines_are_fresh_after_a_reset(capsys: pytest.CaptureFixture[str]) -> None:
    program = runpy.run_path(str(REPOSITORY / "examples/python/machines.py"))
    program["main"]("fake")
    output, machine = capsys.readouterr().out.splitlines()
    assert output == "hello"
    assert machine.startswith("desktop-fake0 (")


@pytest.mark.slow
def test_run_is_stored_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    program = runpy.run_path(str(REPOSITORY / "examples/python/run.py"))
    program["main"](TINY, "fake")
    run, counts, *_ = capsys.readouterr().out.splitlines()
    assert counts == "0 PASS, 4 FAIL, 0 INCONCLUSIVE"
    assert main(["results", run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agent"] == "patient"


@pytest.mark.slow
def test_page_names_what_the_oracle_passes_on_machines_in_memory(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "smoke", "--agent", "oracle", "--fleet", "fake", "--json"]) == 0
    trials = json.loads(capsys.readouterr().out)["trials"]
    passed = [trial["task"] for trial in trials if trial["verdict"] == "PASS"]
    page = (REPOSITORY / "docs/agents.md").read_text()
    (named,) = re.findall(r"even the oracle passes there only ([^;]*);", page)
    assert sorted(re.findall(r"`([\w-]+)`", named)) == sorted(passed)
