"""Teams of models play on a desktop VM and the reference phone; the models are scripted, the APIs real.

The stand-in server replies what the reference solutions need, in the formats of two vendors. Verdicts are
as scripted, and what each member is charged is exact to the last digit.
"""

from __future__ import annotations

import contextlib
import io
import json
from typing import TYPE_CHECKING, Any, get_args

import pytest

from appliance.cli.main import main
from controller.model_server.server import serving
from controller.specification.team import GROUNDER, MAIN, STRUCTURES, Calls
from controller.store.runs import Store
from controller.wiring import open_suite
from foundation.settings import get_settings
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.scripted_teams import (
    USD_CACHED,
    USD_INPUT,
    USD_OUTPUT,
    Counts,
    Plan,
    ScriptedTeam,
    giving_up,
    key_of,
    plan_of,
    total,
    variable,
)
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from controller.specification.team import Structure
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite

pytestmark = [pytest.mark.vm, pytest.mark.phone, pytest.mark.timeout(1800), NEEDS_APPLIANCE]

VENDORS = ("openai", "anthropic")
CELLS = [
    (structure, how, adapter)
    for structure in STRUCTURES
    for how in get_args(Calls)
    for adapter in VENDORS
]
SLICE: dict[str, tuple[Structure, Calls, str]] = {
    "cross-dark-style": ("by-environment", "functions", "anthropic"),
    "phone-tick-off": ("planner-grounder", "json", "openai"),
}
"""Teams of `make test`, by task."""
GIVEN_UP = "desktop-badge"
_SUITE = "smoke"


def run_smoke(tasks: Collection[str], *options: str) -> dict[str, Any]:
    """Return the report of a run of some tasks of the suite."""
    out = io.StringIO()
    chosen = [part for task in tasks for part in ("--task", task)]
    with contextlib.redirect_stdout(out):
        main(["run", _SUITE, *chosen, "--json", "--retries", "0", *options])
    report: dict[str, Any] = json.loads(out.getvalue())
    return report


@pytest.fixture(scope="module")
def smoke() -> Suite:
    """Return the suite."""
    return open_suite(_SUITE)


@pytest.fixture(scope="module")
def recorded() -> dict[str, RunFolder]:
    """Return runs of the oracle by task, filled as tasks are needed."""
    runs: dict[str, RunFolder] = {}
    return runs


@pytest.fixture
def prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the prices of all models."""
    for name, price in (
        ("PROMPT", USD_INPUT),
        ("COMPLETION", USD_OUTPUT),
        ("CACHED", USD_CACHED),
    ):
        monkeypatch.setenv(f"MESOCOSM_MODEL_USD_PER_MTOK_{name}", str(price))


def plans(
    smoke: Suite, recorded: dict[str, RunFolder], tasks: Collection[str] | None
) -> tuple[Plan, ...]:
    """Return the reference solutions of tasks, with the places where the oracle found things."""
    chosen = [task for task in smoke.tasks if tasks is None or task.id in tasks]
    if missing := [task.id for task in chosen if task.id not in recorded]:
        report = run_smoke(missing, "--agent", "oracle", "--parallel", "2")
        assert report["verdicts"]["PASS"] == len(missing), report["trials"]
        folder = Store(get_settings().runs_dir).open(report["run"])
        recorded |= dict.fromkeys(missing, folder)
    return tuple(plan_of(task, recorded[task.id]) for task in chosen)


def play(
    cell: tuple[Structure, Calls, str],
    plans: tuple[Plan, ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Play plans with a team, and verify verdicts and what each member is charged."""
    structure, how, adapter = cell
    team = ScriptedTeam(structure, how, plans)
    for name in team.names:
        monkeypatch.setenv(variable(name), key_of(name))
    with serving(team.script()) as server:
        path = team.write_file(folder, server, adapter)
        options = ["--team", str(path), "--calls", how, "--no-preflight", "--parallel", "2"]
        report = run_smoke([plan.task.id for plan in plans], *options)
    assert server.responder.violations == []
    assert {record["status"] for record in server.responder.records} == {200}
    expected = team.expected(server)
    trials = {trial["task"]: trial for trial in report["trials"]}
    for plan in plans:
        trial = trials[plan.task.id]
        scripted = ("PASS", "success") if plan.passes else ("FAIL", "false_completion")
        assert (trial["verdict"], trial["reason"]) == scripted, trial
        check_shares(plan, trial, expected[plan.task.id])
    stored = Store(get_settings().runs_dir).open(report["run"]).path
    texts = [file.read_text() for file in stored.rglob("*.json*")]
    assert not [name for name in team.names for text in texts if key_of(name) in text]


def check_shares(
    plan: Plan, trial: dict[str, Any], expected: dict[str, tuple[int, Counts]]
) -> None:
    """Verify what each member of a trial is charged and credited with."""
    shares = trial["members"]
    assert {name: share["turns"] for name, share in shares.items()} == {
        name: turns for name, (turns, _) in expected.items()
    }
    for name, (_, counts) in expected.items():
        assert charged(shares[name]["usage"]) == exactly(counts), name
        assert shares[name]["refused"] == {}
    assert charged(trial["usage"]) == exactly(total(counts for _, counts in expected.values()))
    assert sum(share["steps"] for share in shares.values()) == trial["steps"]
    met = {name: set(share["met"]) for name, share in shares.items()}
    assert not any(met.get(name) for name in (MAIN, GROUNDER))
    if plan.passes:
        assert set.union(*met.values()) == {node.id for node in plan.task.credit_nodes}


def charged(usage: dict[str, Any]) -> tuple[int, int, int, str]:
    """Return what results say of a usage; the price to the last digit that it can have."""
    return usage["prompt"], usage["completion"], usage["cached"], f"{usage['usd']:.10f}"


def exactly(counts: Counts) -> tuple[int, int, int, str]:
    """Return the same of what the server reported."""
    return *counts, f"{counts.usd:.10f}"


@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize("task", SLICE)
def test_team_passes_a_task_on_machines(
    task: str,
    smoke: Suite,
    recorded: dict[str, RunFolder],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play(SLICE[task], plans(smoke, recorded, {task}), tmp_path, monkeypatch)


@nightly("sixteen teams play the whole suite; `make test` plays a task with each of two")
@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_team_plays_the_whole_suite(
    cell: tuple[Structure, Calls, str],
    smoke: Suite,
    recorded: dict[str, RunFolder],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play(cell, plans(smoke, recorded, None), tmp_path, monkeypatch)
    given_up = tuple(giving_up(task) for task in smoke.tasks if task.id == GIVEN_UP)
    play(cell, given_up, tmp_path, monkeypatch)
