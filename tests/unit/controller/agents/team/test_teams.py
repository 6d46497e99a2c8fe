"""Teams on machines in memory, with the stand-in server of models in place of vendors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from controller.model_server.script import parse_script
from controller.model_server.server import serving
from controller.models.usage import Usage
from controller.store.event_log import read_events
from foundation.settings import get_settings
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
