"""The example and the tools of docs/teams.md, on machines in memory."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from controller.model_server.script import parse_script, read_script
from controller.model_server.server import serving
from foundation.settings import REPOSITORY, get_settings
from tests.unit.controller.agents.team.test_teams import TASK, TINY, team, team_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEAMS = REPOSITORY / "examples/teams"
SHOWN = re.compile(r"^`(examples/teams/[\w.-]+)`:\n\n```yaml\n(.*?)```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8765"
SESSION = {f"session__{name}" for name in ("wait", "submit", "complete", "declare_infeasible")}
TELL, SKIP = {"session__tell"}, {"session__skip"}
ROLES = {"desktop", "phone"}
OFFERED: dict[str, dict[str, tuple[set[str], set[str]]]] = {
    "by-function": {"main": (set(), TELL), "tool": (ROLES, SESSION)},
    "by-environment": {
        "main": (set(), TELL),
        "phone": ({"phone"}, SKIP),
        "desktop": ({"desktop"}, SKIP),
    },
    "planner-grounder": {"planner": (ROLES, SESSION), "grounder": (set(), {"point"})},
}
"""Roles whose actions each member is offered, and its other tools."""


@pytest.fixture(autouse=True)
def _state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def test_page_shows_the_example_verbatim() -> None:
    shown = dict(SHOWN.findall((REPOSITORY / "docs/teams.md").read_text()))
    assert shown == {f"examples/teams/{file.name}": file.read_text() for file in TEAMS.iterdir()}


@pytest.mark.slow
def test_example_passes_its_preflight_and_its_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "team.yaml"
    with serving(read_script(TEAMS / "by-function-models.yaml")) as server:
        text = (TEAMS / "by-function.yaml").read_text()
        path.write_text(text.replace(ADDRESS, server.address))
        argv = ["run", "smoke", "--team", str(path), "--task", "desktop-badge", "--fleet", "fake"]
        assert main([*argv, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdicts"]["PASS"] == 1
    assert server.responder.violations == []
    members = report["trials"][0]["members"]
    assert {name: bool(share["met"]) for name, share in members.items()} == {
        "main": False,
        "tool": True,
    }


@pytest.mark.slow
@pytest.mark.parametrize("structure", OFFERED)
def test_members_are_offered_the_tools_of_the_table(
    structure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = parse_script({"members": team(structure, "functions")})
    for name in script.members:
        monkeypatch.setenv(f"KEY_OF_{name}", "sk-any")
    with serving(script) as server:
        path = team_file(tmp_path, server, structure, "openai")
        argv = ["run", TINY, "--task", TASK, "--fleet", "fake", "--team", path, "--json"]
        main([*argv, "--no-preflight"])
    records: list[dict[str, Any]] = server.responder.records
    assert {record["model"] for record in records} == set(OFFERED[structure])
    for record in records:
        roles, others = OFFERED[structure][record["model"]]
        parts = [name.partition("__") for name in record["tools"]]
        acting = {role for role, _, _ in parts if role in ROLES}
        rest = {name for name in record["tools"] if name.partition("__")[0] not in ROLES}
        assert (acting, rest) == (roles, others), record["model"]
