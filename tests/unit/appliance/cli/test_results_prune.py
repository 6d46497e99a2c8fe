from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from appliance.cli import main as cli
from controller.store import pruning
from controller.store.index import DAMAGED, FINISHED, RUNNING, UNFINISHED, RunRow
from controller.store.pruning import find_old_runs, remove_run
from controller.store.runs import Store
from foundation.settings import get_settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    get_settings.cache_clear()
    return tmp_path


def run_twice(tiny: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    argv = ["run", str(tiny), "--fleet", "fake", "--task", "answer", "--agent", "noop"]
    for _ in range(2):
        assert cli.main(argv) == 0
    capsys.readouterr()
    return Store(get_settings().runs_dir).names()


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, bool]:
    rows = json.loads(capsys.readouterr().out)["runs"]
    return {row["run"]: row["removed"] for row in rows}


@pytest.mark.slow
def test_old_runs_are_removed_and_the_newest_kept(
    tiny: Path, state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = run_twice(tiny, capsys)
    assert cli.main(["results", "prune", "--older-than", "0", "--keep", "1", "--json"]) == 0
    assert shown(capsys) == {first: False}
    assert cli.main(["results", "prune", "--older-than", "0", "--keep", "1", "-y", "--json"]) == 0
    assert shown(capsys) == {first: True}
    assert {path.name for path in (state_dir / "runs").iterdir() if path.is_dir()} == {second}
    assert cli.main(["results", "prune", "--keep", "0", "--yes"]) == 0
    assert "No runs are old enough to remove." in capsys.readouterr().err
    assert cli.main(["results", "--json"]) == 0
    assert [row["run"] for row in json.loads(capsys.readouterr().out)["runs"]] == [second]


@pytest.mark.slow
def test_run_is_shown_without_the_show_subcommand(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = run_twice(tiny, capsys)
    for args in (["results", first], ["results", "show", first]):
        assert cli.main([*args, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["spec"]["run"] == first
    assert cli.main(["results"]) == 0
    assert second in capsys.readouterr().out
    assert cli.main(["results", "--help"]) == 0
    assert "prune" in capsys.readouterr().out


@pytest.mark.slow
def test_run_in_use_is_kept(
    tiny: Path, capsys: pytest.CaptureFixture[str], state_dir: Path
) -> None:
    first, _ = run_twice(tiny, capsys)
    store = Store(state_dir / "runs")
    with store.open(first).working():
        assert not remove_run(store, first)
    assert store.has(first)


@pytest.mark.slow
def test_interrupted_removal_is_completed_by_the_next(
    tiny: Path, capsys: pytest.CaptureFixture[str], state_dir: Path
) -> None:
    first, second = run_twice(tiny, capsys)
    store = Store(state_dir / "runs")
    (store.root / ".removed").mkdir()
    (store.root / first).rename(store.root / ".removed" / first)
    assert store.names() == [second]
    assert remove_run(store, second)
    assert store.names() == []
    assert not (store.root / ".removed").exists()


def test_running_and_unfinished_runs_are_kept_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = (FINISHED, RUNNING, UNFINISHED, DAMAGED)
    rows = [RunRow(state, "s", "a", 1.0, state, 1, 1, 0, 0) for state in states]
    monkeypatch.setattr(pruning, "list_runs", lambda _store: rows)
    store = Store(tmp_path)
    reasons = {old_run.run: old_run.kept for old_run in find_old_runs(store, before_s=2.0, keep=0)}
    assert reasons == {
        FINISHED: "",
        RUNNING: "it is running",
        UNFINISHED: "it can be resumed",
        DAMAGED: "it is damaged",
    }
    all_of_them = find_old_runs(store, before_s=2.0, keep=0, with_unfinished=True)
    assert {old_run.run: old_run.kept for old_run in all_of_them if old_run.kept} == {
        RUNNING: "it is running"
    }
    assert find_old_runs(store, before_s=1.0, keep=0) == []
