"""Teams on machines in memory, with the stand-in server of models in place of vendors."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from controller.model_server.script import parse_script
from controller.model_server.server import serving
from controller.models.calls_as_json import without_tools
from controller.models.families.table import find_family
from controller.models.messages import Message, Request, Role, Tool
from controller.models.openai.requests import chat_message
from controller.models.pictures.sizing import Size
from controller.models.usage import Usage
from controller.store.event_log import read_events
from foundation.settings import get_settings
from tests.unit.controller.agents.model.test_screen_agent import (
    FAMILIES,
    TERMINAL,
    replies,
    written,
)
from tests.unit.controller.bench import SET_DARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.model_server.server import ModelServer

TINY = str(Path(__file__).resolve().parents[4] / "suites/tiny")
TASK = "dark-style"
INPUT, OUTPUT, CACHED = 100, 10, 40
OPEN_TASKS = ("phone__open_app", {"name": "Tasks"})
OPEN_TERMINAL = ("desktop__open_app", {"name": "Terminal"})
TYPE = ("desktop__type_text", {"text": f"{SET_DARK}\n"})
Calls = tuple[tuple[str, dict[str, Any]], ...]


def tell(member: str, message: str) -> tuple[str, dict[str, Any]]:
    return "session__tell", {"member": member, "message": message}


def rule(calls: Calls, how: str, **when: object) -> dict[str, Any]:
    rows = [{"name": name, "arguments": args} for name, args in calls]
    usage = {"input": INPUT, "output": OUTPUT, "cached": CACHED}
    reply: dict[str, Any] = {"usage": usage}
    if how == "json":
        reply["text"] = json.dumps({"thought": "So.", "calls": rows})
    else:
        reply["calls"] = [{"name": row["name"], "with": row["arguments"]} for row in rows]
    return {"when": when, "reply": reply}


def team(structure: str, how: str) -> dict[str, dict[str, Any]]:
    """Return the script of each member; what none of them may see is named."""

    def member(*rules: dict[str, Any], **more: object) -> dict[str, Any]:
        return {"rules": list(rules), **more}

    match structure:
        case "single":
            return {
                "agent": member(
                    rule((OPEN_TASKS,), how, turn=1),
                    rule((OPEN_TERMINAL, TYPE), how, turn=2),
                    must_see=["phone, \\d+ x", "desktop, \\d+ x"],
                )
            }
        case "by-function":
            return {
                "main": member(
                    rule((tell("tool", "Open Tasks on the phone."),), how, turn=1),
                    rule((tell("tool", "Make the desktop dark."),), how, turn=2, text="tool did"),
                    must_not_see=["desktop__click"],
                ),
                "tool": member(
                    rule((OPEN_TASKS,), how, text="main tells you: Open Tasks"),
                    rule((OPEN_TERMINAL, TYPE), how, text="main tells you: Make"),
                    images=False,
                ),
            }
        case "by-environment":
            return {
                "main": member(
                    rule((tell("phone", "Open Tasks."), tell("desktop", "Look.")), how, turn=1),
                    rule((tell("desktop", "Make it dark."),), how, text="desktop skipped"),
                    must_not_see=["desktop__click", "phone__tap"],
                ),
                "phone": member(
                    rule((OPEN_TASKS,), how, text="main tells you: Open Tasks", images=1),
                    must_not_see=["desktop, \\d+ x", "desktop__", "Make it dark"],
                ),
                "desktop": member(
                    rule((("session__skip", {}),), how, turn=1, images=1),
                    rule((OPEN_TERMINAL, TYPE), how, text="Make it dark"),
                    must_not_see=["phone, \\d+ x", "phone__"],
                ),
                "root": member(rule((("session__complete", {}),), how)),
            }
        case _:
            find = rule((("point", {"x": 40, "y": 10}),), how, text="Find: the Terminal button")
            return {
                "planner": member(
                    rule((OPEN_TASKS,), how, turn=1),
                    rule((("desktop__click", {"target": "the Terminal button"}),), how, turn=2),
                    rule((TYPE,), how, turn=3),
                    must_not_see=['"x": 40', '"x":40'],
                ),
                "grounder": member(find, must_not_see=["desktop__", "Switch the desktop"]),
            }


@pytest.fixture
def prices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MESOCOSM_MODEL_USD_PER_MTOK_PROMPT", "2")
    monkeypatch.setenv("MESOCOSM_MODEL_USD_PER_MTOK_COMPLETION", "8")
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def team_file(folder: Path, server: ModelServer, structure: str, adapter: str) -> str:
    """Write a team whose members query models that have their names."""
    base = server.address + ("/v1" if adapter == "openai" else "")
    names = {
        "single": ("agent",),
        "by-function": ("main", "tool"),
        "by-environment": ("main", "phone", "desktop", "root"),
        "planner-grounder": ("planner", "grounder"),
    }[structure]
    rows = [f"structure: {structure}", "members:"]
    rows += [
        f"  {name}: {{model: {name}, adapter: {adapter}, base_url: '{base}', key: KEY_OF_{name}}}"
        for name in names
    ]
    path = folder / "team.yaml"
    path.write_text("\n".join(rows))
    return str(path)


TURNS = {
    "single": {"agent": 2},
    "by-function": {"main": 2, "tool": 2},
    "by-environment": {"main": 2, "phone": 1, "desktop": 2},
    "planner-grounder": {"planner": 3, "grounder": 1},
}
MET = {
    "single": {"agent": ["tasks-opened", "dark"]},
    "by-function": {"main": [], "tool": ["tasks-opened", "dark"]},
    "by-environment": {"main": [], "phone": ["tasks-opened"], "desktop": ["dark"]},
    "planner-grounder": {"planner": ["tasks-opened", "dark"], "grounder": []},
}


WAYS = [
    (structure, how, adapter)
    for structure in TURNS
    for how in ("functions", "json")
    for adapter in ("openai", "anthropic")
]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.usefixtures("prices")
def test_team_passes_a_task_and_each_member_is_counted(
    way: tuple[str, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    structure, how, adapter = way
    script = parse_script(
        {
            "members": {
                name: {**row, "key": f"sk-{name}"} for name, row in team(structure, how).items()
            }
        }
    )
    for name in script.members:
        monkeypatch.setenv(f"KEY_OF_{name}", f"sk-{name}")
    with serving(script) as server:
        path = team_file(tmp_path, server, structure, adapter)
        command = ["run", TINY, "--task", TASK, "--fleet", "fake", "--team", path, "--json"]
        status = main([*command, "--calls", how, "--no-preflight", "--retries", "0"])
    report = json.loads(capsys.readouterr().out)
    assert server.responder.violations == []
    assert (status, report["verdicts"]["PASS"]) == (0, 1), report["trials"]
    (trial,) = report["trials"]
    shares = trial["members"]
    assert {name: share["turns"] for name, share in shares.items()} == TURNS[structure]
    assert {name: share["met"] for name, share in shares.items()} == MET[structure]
    for name, turns in TURNS[structure].items():
        usage = shares[name]["usage"]
        expected = Usage(INPUT * turns, OUTPUT * turns)
        assert (usage["prompt"], usage["completion"]) == (
            expected.input_tokens,
            expected.output_tokens,
        )
        assert usage["usd"] == pytest.approx((INPUT * 2 + OUTPUT * 8) * turns / 1e6, abs=1e-12)
    turns = sum(TURNS[structure].values())
    assert (trial["usage"]["prompt"], trial["usage"]["cached"]) == (INPUT * turns, CACHED * turns)


@pytest.mark.slow
def test_handovers_and_skips_are_logged(
    prices: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = parse_script({"members": team("by-environment", "functions")})
    for name in script.members:
        monkeypatch.setenv(f"KEY_OF_{name}", "sk-any")
    with serving(script) as server:
        path = team_file(tmp_path, server, "by-environment", "openai")
        assert (
            main(["run", TINY, "--task", TASK, "--fleet", "fake", "--team", path, "--no-preflight"])
            == 0
        )
    capsys.readouterr()
    (log,) = (tmp_path / "state").rglob("events.jsonl")
    rows = [row for row in read_events(log) if row["type"] == "consulted"]
    told = [(row["member"], row.get("handovers"), row.get("skipped")) for row in rows]
    assert told == [
        (
            "main",
            [{"to": "phone", "message": "Open Tasks."}, {"to": "desktop", "message": "Look."}],
            None,
        ),
        ("desktop", None, True),
        ("main", [{"to": "desktop", "message": "Make it dark."}], None),
    ]
    (run,) = (tmp_path / "state").rglob("run.json")
    spec = json.loads(run.read_text())
    assert spec["team"]["structure"] == "by-environment"
    assert "sk-any" not in run.read_text() + log.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("structure: by-magic", "structure"),
        ("structure: by-function\nmembers: {boss: {model: m}}", "boss"),
        ("structure: by-function\nmembers: {main: {modell: m}}", "modell"),
        ("[", "YAML"),
    ],
)
def test_wrong_teams_are_named(
    text: str, words: str, prices: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "team.yaml"
    path.write_text(text)
    run = ["run", TINY, "--fleet", "fake", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    assert main([*run, "--team", str(path)]) == 2
    assert words in capsys.readouterr().err
    assert main([*run, "--team", str(tmp_path / "missing.yaml")]) == 2
    assert "by-environment" in capsys.readouterr().err
    assert main([*run, "--team", "by-function", "--agent", "oracle"]) == 2
    assert "models" in capsys.readouterr().err


GROUNDERS = [*FAMILIES, ("gta1", "openai")]


def grounder_reply(family: str) -> dict[str, Any]:
    """Return a reply that names the place of the terminal's button."""
    if family != "gta1":
        return replies(family)[0]
    x, y = written(family)
    return {"text": f"({x},{y})"}


def play_grounded(
    folder: Path, family: str, adapter: str, find: dict[str, Any]
) -> tuple[dict[str, Any], ModelServer]:
    """Return the report of a run whose grounder acts in the format of a family, and the server."""
    members = team("planner-grounder", "functions")
    usage = {"input": INPUT, "output": OUTPUT, "cached": CACHED}
    rules = [{"when": {"turn": 1, "images": 1}, "reply": {**find, "usage": usage}}]
    seen = {"must_see": ["the Terminal button"], "must_not_see": ["desktop__", "Switch the"]}
    members["grounder"] = {"rules": rules, **seen}
    with serving(parse_script({"members": members})) as server:
        base = server.address + ("/v1" if adapter.startswith("openai") else "")
        path = folder / "team.yaml"
        grounder = f"{{model: grounder, adapter: {adapter}, family: {family}, base_url: '{base}'}}"
        planner = f"{{model: planner, adapter: openai, base_url: '{server.address}/v1'}}"
        path.write_text(
            f"structure: planner-grounder\nmembers:\n  planner: {planner}\n  grounder: {grounder}\n"
        )
        out = folder / "report.json"
        with out.open("w") as file, contextlib.redirect_stdout(file):
            main(
                ["run", TINY, "--task", TASK, "--fleet", "fake", "--team", str(path), "--json",
                 "--no-preflight", "--retries", "0"]
            )  # fmt: skip
    return json.loads(out.read_text()), server


@pytest.mark.slow
@pytest.mark.parametrize(("family", "adapter"), GROUNDERS)
@pytest.mark.usefixtures("prices")
def test_any_family_is_a_grounder_in_its_own_format(
    family: str, adapter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-any")
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", "sk-any")
    report, server = play_grounded(tmp_path, family, adapter, grounder_reply(family))
    assert server.responder.violations == []
    (trial,) = report["trials"]
    assert (trial["verdict"], trial["steps"]) == ("PASS", 3)
    usage = trial["members"]["grounder"]["usage"]
    exact = (INPUT * Decimal(2) + OUTPUT * Decimal(8)) / 1_000_000
    assert (usage["prompt"], usage["completion"]) == (INPUT, OUTPUT)
    assert f"{usage['usd']:.9f}" == f"{exact:.9f}"
    (log,) = (tmp_path / "state").rglob("events.jsonl")
    events = list(read_events(log))
    (row,) = [row for row in events if row.get("kind") == "parsed"]
    parsed = row["data"]
    assert (row["member"], parsed["family"]) == ("grounder", family)
    sent = find_family(family).sizer.size(Size(*parsed["screen_px"]))
    assert tuple(parsed["sent_px"]) == sent
    (found,) = [row for row in events if row["type"] == "consulted"]
    assert max(abs(a - b) for a, b in zip(found["point"], TERMINAL, strict=True)) <= 1
    clicks = [row["action"] for row in events if row["type"] == "step"][1:2]
    assert clicks[0]["do"] == "click"
    (run,) = (tmp_path / "state").rglob("run.json")
    assert json.loads(run.read_text())["agents"][1]["agent"]["family"] == family


@pytest.mark.usefixtures("prices")
def test_place_that_a_family_does_not_name_is_told_to_the_planner(tmp_path: Path) -> None:
    report, server = play_grounded(tmp_path, "gta1", "openai", {"text": "I see no such thing."})
    # The planner's script has no reply to what it is told then.
    assert any("no rule of planner" in row for row in server.responder.violations)
    (trial,) = report["trials"]
    assert trial["members"]["planner"]["refused"] == {"unusable_reply": 1}
    (log,) = (tmp_path / "state").rglob("events.jsonl")
    (refused,) = [row for row in read_events(log) if row["type"] == "refused"]
    assert "'the Terminal button' was not found" in refused["why"]


def test_members_that_act_have_no_family(
    prices: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "team.yaml"
    path.write_text("structure: planner-grounder\nmembers: {planner: {family: qwen3-vl}}")
    run = ["run", TINY, "--fleet", "fake", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    assert main([*run, "--team", str(path)]) == 2
    assert "member planner acts in the format" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("how", ["functions", "json"])
def test_preflight_asks_each_member_in_its_own_way(
    how: str, prices: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = team("planner-grounder", how)
    asked = ("report_colour", {"colour": "red"})
    members["planner"]["rules"].insert(0, rule((asked,), how, text="Which colour"))
    red = {"text": "(${x},${y})", "point": {"colour": [220, 20, 20]}}
    find = {"text": "(40,10)"}
    members["grounder"] = {
        "rules": [
            {"when": {"text": "red square"}, "reply": red},
            {"when": {"text": "the Terminal button"}, "reply": find},
        ]
    }
    with serving(parse_script({"members": members})) as server:
        path = tmp_path / "team.yaml"
        base = f"base_url: '{server.address}/v1'"
        path.write_text(
            "structure: planner-grounder\nmembers:\n"
            f"  planner: {{model: planner, {base}}}\n  grounder: {{model: grounder, family: gta1, {base}}}\n"
        )
        run = ["run", TINY, "--task", TASK, "--fleet", "fake", "--team", str(path)]
        status = main([*run, "--calls", how, "--retries", "0"])
    assert (status, server.responder.violations) == (0, []), capsys.readouterr().err


def test_system_prompt_with_json_calls_is_one_text() -> None:
    tool = Tool("point", "Name a place.", {"type": "object", "properties": {}})
    request = without_tools(Request((Message(Role.SYSTEM, ("You lead.",)),), (tool,)))
    content = chat_message(request.messages[0], with_reasoning=False)["content"]
    assert content.startswith("You lead.")
    assert '"point"' in content
