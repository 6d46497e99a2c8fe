"""The profile `crab` through the whole run: table 2 of CRAB, two past turns, fifteen turns, marks from 1."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from controller.actions.marked import ELEMENTS
from controller.actions.space import ActionSpace
from controller.actions.vocabulary import action_tools, crab_tools, offered_actions
from controller.model_server.script import parse_script
from controller.model_server.server import serving
from controller.store.event_log import read_events
from foundation.settings import get_settings
from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import Iterator

TINY = str(Path(__file__).resolve().parents[3] / "suites/tiny")
TABLE_2 = {
    "desktop": {
        "click": ["elem"],
        "right_click": ["elem"],
        "double_click": ["elem"],
        "write_text": ["text"],
        "press": ["key"],
        "hotkey": ["keys"],
        "scroll": ["direction"],
        "search_app": ["name"],
    },
    "phone": {
        "tap": ["elem"],
        "long_tap": ["elem"],
        "swipe": ["elem", "dire", "dist"],
        "write_text": ["text"],
        "press": ["key"],
        "show_all_drawer": [],
    },
    "session": {"submit": ["answer"], "complete": [], "wait": []},
}
"""Source: arXiv 2407.01511, table 2."""
_LISTED = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def test_actions_have_the_signatures_of_table_2() -> None:
    tools, naming = offered_actions("crab", action_tools())
    space = ActionSpace({"desktop": DESKTOP, "phone": PHONE}, tools, has_marks=True, naming=naming)
    declared: dict[str, dict[str, list[str]]] = {}
    for tool in space.model_tools():
        role, _, name = tool.name.partition("__")
        properties = tool.parameters["properties"]
        # All of them are required, so that calls look like those of the paper.
        assert list(properties) == tool.parameters.get("required", [])
        assert tool.parameters["additionalProperties"] is False
        declared.setdefault(role, {})[name] = list(properties)
    assert declared == TABLE_2
    assert naming is ELEMENTS
    assert offered_actions("own", action_tools())[0] is not crab_tools()


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def call(name: str, /, **args: object) -> dict[str, Any]:
    return {"name": name, "with": args}


def play(folder: Path, *rules: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Play a task with the profile; return what the model was sent, and the log's events."""
    script = parse_script({"members": {"m": {"rules": list(rules)}}})
    with serving(script) as server:
        model = ["--agent", "model", "--model", "m", "--base-url", f"{server.address}/v1"]
        light = ["--observe", "marks.detector=contours", "--observe", "marks.engine=rapidocr"]
        options = ["--fleet", "fake", "--no-preflight", "--retries", "0", "--task", "dark-style"]
        main(["run", TINY, *model, "--profile", "crab", *light, *options])
    assert server.responder.violations == []
    (log,) = (folder / "state").rglob("events.jsonl")
    return server.responder.records, list(read_events(log))


@pytest.mark.slow
def test_fifteen_turns_whatever_the_actions_and_two_past_turns(tmp_path: Path) -> None:
    calls = [call("phone__tap", elem=1), call("phone__press", key="home")]
    sent, events = play(tmp_path, {"reply": {"calls": calls}})
    end = events[-1]["result"]
    assert (end["reason"], end["detail"]) == ("step_limit", "15 turns were taken.")
    # More than the task's own limit of actions, which is 8.
    assert (len(sent), end["steps"]) == (15, 30)
    assert [record["turn"] for record in sent] == [1, 2, *[3] * 13]
    # Both machines' pictures of each of these turns.
    assert [len(record["images"]) for record in sent] == [2, 4, *[6] * 13]
    for record in sent:
        numbers = [int(number) for number in _LISTED.findall(record["text"])]
        first = numbers.index(1, 1)
        assert numbers == [*range(1, first + 1), *range(1, len(numbers) - first + 1)]
    assert "desktop: a computer" in sent[0]["system"]
    (prompt,) = [row for row in events if row.get("kind") == "prompt"]
    names = {tool["name"] for tool in prompt["data"]["tools"]}
    assert names == {f"{role}__{name}" for role, rows in TABLE_2.items() for name in rows}


@pytest.mark.slow
def test_elements_are_meant_by_their_number_only(tmp_path: Path) -> None:
    def rule(*calls: dict[str, Any]) -> dict[str, Any]:
        return {"times": 1, "reply": {"calls": list(calls)}}

    sent, events = play(
        tmp_path,
        {"when": {"turn": 1, "text": r"\[(\d+)\] text 'Tasks'"},
         "reply": {"calls": [call("phone__swipe", elem=2, dire="up", dist="short")]}},
        rule(call("desktop__click", x=40, y=10)),
        rule(call("desktop__click", elem=1, x=40, y=10)),
        rule(call("phone__press", key="back")),
        rule(call("desktop__click", elem=99)),
        rule(call("desktop__open_app", name="Terminal")),
        rule(call("phone__tap", elem=2)),
        rule(call("session__complete")),
    )  # fmt: skip
    rows = [
        (row["type"], row["action"]["do"], row.get("code", ""))
        for row in events
        if row["type"] in {"step", "refused"}
    ]
    assert rows == [
        ("step", "swipe", ""),
        ("refused", "click", "invalid_arguments"),
        ("refused", "click", "invalid_arguments"),
        ("step", "press", ""),
        ("refused", "click", "unknown_mark"),
        ("refused", "open_app", "unknown_action"),
        ("step", "tap", ""),
        ("step", "complete", ""),
    ]
    why = [row["why"] for row in events if row["type"] == "refused"]
    assert "takes the number of an element, elem, and no coordinates" in why[0]
    tap = [row for row in events if row["type"] == "step"][2]
    assert re.fullmatch(r"elem 2 as \(\d+, \d+\)", tap["understood"][0])
    assert tap["points"]
    assert tap["met"] == ["tasks-opened"]
    assert why[2].startswith("There is no mark 99 on desktop")
    assert len(sent) == 8


@pytest.mark.slow
def test_search_shows_results_and_starts_nothing(tmp_path: Path) -> None:
    sent, events = play(
        tmp_path,
        {"times": 1, "reply": {"calls": [call("desktop__search_app", name="text")]}},
        {"reply": {"calls": [call("session__complete")]}},
    )
    assert sent[1]["text"].startswith("Text Editor\n")
    (search,) = [row for row in events if row["type"] == "step" and "returned" in row]
    first = next(row for row in events if row["type"] == "observation")
    assert search["screens"]["desktop"] == first["screens"]["desktop"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--action-set", "crab"], "the run shows none"),
        (["--profile", "crab", "--team", "planner-grounder"], "neither a grounder"),
        (["--profile", "crab", "--model-family", "qwen3-vl"], "neither a grounder"),
    ],
)
def test_agents_that_cannot_name_marks_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    light = ["--observe", "marks.detector=contours", "--observe", "marks.engine=rapidocr"]
    model = ["--agent", "model", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    seen = light if "--profile" in options else []
    run = ["run", TINY, "--fleet", "fake", "--task", "write-file"]
    assert main([*run, *model, *options, *seen]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_oracle_keeps_its_own_actions(tmp_path: Path) -> None:
    light = ["--observe", "marks.detector=contours", "--observe", "marks.engine=rapidocr"]
    run = ["run", TINY, "--fleet", "fake", "--task", "write-file", "--agent", "oracle"]
    assert main([*run, "--profile", "crab", *light]) == 0
    (file,) = (tmp_path / "state").rglob("run.json")
    spec = json.loads(file.read_text())
    assert "action_set" not in spec.get("actions", {})
    assert spec["observation"]["marks"]
