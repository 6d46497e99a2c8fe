"""Keep the end states of a run, correct its suite, evaluate again: on in-memory machines."""

from __future__ import annotations

import json
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli import main as cli
from controller.store.runs import Store
from foundation.settings import get_settings
from provisioning.fake import FakeFleet
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUITE = 'name: words\nversion: "1"\ndescription: One task.\ntasks: [word.yaml]\n'
TASK = """\
id: word
instruction: Write hello into note.txt, then look at the contacts, then answer 7.
roles: {{desktop: desktop, phone: phone}}
graph:
  - {{id: looked, on: phone, check: app_in_front, with: {{package: com.google.android.contacts}}, mode: once}}
  - {{id: written, on: desktop, check: file_text_equals, with: {{path: ~/note.txt, text: {text}}}}}
  - {{id: answered, on: session, check: answer_is_number, with: {{expected: 7}}, after: [looked]}}
oracle:
  - {{on: phone, do: open_app, with: {{name: Contacts}}}}
  - {{on: phone, do: key, with: {{name: HOME}}}}
  - {{on: desktop, do: click, at: {{role: push button, name: Terminal}}}}
  - {{on: desktop, do: type_text, with: {{text: "echo hello > note.txt\\n"}}}}
  - {{do: submit, with: {{answer: "7"}}}}
  - {{do: complete}}
"""


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    get_settings.cache_clear()
    return tmp_path / "state"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "suite.yaml").write_text(SUITE)
    write_task(folder, text="helo")  # the author's mistake
    return folder


def write_task(suite: Path, *, text: str) -> None:
    (suite / "word.yaml").write_text(TASK.format(text=text))


@pytest.fixture
def mesocosm(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, Any]]]:
    def run(*args: str) -> tuple[int, dict[str, Any]]:
        code = cli.main([*args, "--json"])
        return code, json.loads(capsys.readouterr().out or "{}")

    return run


def keep(suite: Path, mesocosm: Callable[..., tuple[int, dict[str, Any]]], *args: str) -> str:
    """Run the reference solution and return the run's id."""
    _, report = mesocosm(
        "run", str(suite), "--fleet", "fake", "--agent", "oracle", "--keep-end-state", *args
    )
    return str(report["run"])


@pytest.mark.slow
def test_regrade_flips_a_verdict_and_shows_both(
    suite: Path,
    mesocosm: Callable[..., tuple[int, dict[str, Any]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = keep(suite, mesocosm, "failed")
    write_task(suite, text="hello")
    code, again = mesocosm("regrade", run, "--suite", str(suite), "--fleet", "fake")
    assert code == 0
    assert again["flipped"] == 1
    first = again["trials"][0]["regrade"]
    assert (first["former"], first["verdict"]) == (["FAIL", "false_completion"], "PASS")
    assert first["reason"] == "success"
    assert first["credited"] == ["looked"]  # the phone shows its launcher again
    assert first["differences"] == ["graph"]

    code, report = mesocosm("results", run)
    (trial,) = report["trials"]
    assert trial["verdict"] == "FAIL"
    assert [regrade["verdict"] for regrade in trial["regrades"]] == ["PASS"]
    assert cli.main(["results", run]) == 0
    assert "word.0: FAIL flips to PASS (success) by regrade 1, suite words 1" in (
        capsys.readouterr().out
    )
    write_task(suite, text="another")
    _, again = mesocosm("regrade", run, "--suite", str(suite), "--fleet", "fake")
    second = again["trials"][0]["regrade"]
    assert (second["number"], second["verdict"], again["flipped"]) == (2, "FAIL", 0)
    assert [row["node"] for row in second["unmet"]] == ["written"]


@pytest.mark.slow
def test_end_states_are_kept_on_request_and_within_budget(
    suite: Path,
    mesocosm: Callable[..., tuple[int, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_task(suite, text="hello")
    passed = keep(suite, mesocosm, "failed")
    code, _ = mesocosm("regrade", passed, "--suite", str(suite), "--fleet", "fake")
    assert code == 2  # no end state was kept
    monkeypatch.setenv("MESOCOSM_END_STATES_MIB", "0")
    get_settings.cache_clear()
    run = keep(suite, mesocosm, "all")
    log = Store(get_settings().runs_dir).open(run).events("word", 0)
    assert log[-1] | {"t": 0} == {
        "type": "end_state",
        "t": 0,
        "kept": False,
        "why": "end states use 0 MiB of 0 MiB",
        "mib": 0,
        "seconds": 0.0,
    }
    capsys.readouterr()
    _, kept = mesocosm("trial", "list")
    assert kept["trials"] == []


def test_run_on_unsaveable_machines_is_rejected_by_name(
    suite: Path,
    state_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    why = {PHONE: "such phones cannot be saved"}
    monkeypatch.setattr(FakeFleet, "unkeepable_reason", lambda _self, spec: why.get(spec.kind, ""))
    argv = ["run", str(suite), "--fleet", "fake", "--agent", "oracle", "--keep-end-state", "all"]
    assert cli.main(argv) == 1
    assert "phone: such phones cannot be saved" in capsys.readouterr().err
    assert not list((state_dir / "runs").glob("*/run.json"))


@pytest.mark.slow
def test_kept_trials_are_listed_opened_and_pruned(
    suite: Path,
    mesocosm: Callable[..., tuple[int, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = keep(suite, mesocosm, "all")
    _, kept = mesocosm("trial", "list")
    (row,) = kept["trials"]
    assert (row["run"], row["task"], row["verdict"]) == (run, "word", "FAIL")
    assert row["mib"] >= 1
    seen: list[str] = []

    def interrupt(_self: threading.Event, timeout: float | None = None) -> bool:
        del timeout
        seen.append(capsys.readouterr().out)
        os.kill(os.getpid(), signal.SIGTERM)
        return True

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    with monkeypatch.context() as patch:
        patch.setattr(threading.Event, "wait", interrupt)
        try:
            assert cli.main(["trial", "open", run, "word", "--fleet", "fake"]) == 0
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    assert seen == ["desktop: desktop-kept\nphone: phone-kept\n"]
    assert cli.main(["trial", "open", run, "word", "--repeat", "3", "--fleet", "fake"]) == 2
    prune = ("results", "prune", "--older-than", "0", "--keep", "0", "--end-states", "--yes")
    _, pruned = mesocosm(*prune)
    assert [(pruned_run["run"], pruned_run["removed"]) for pruned_run in pruned["runs"]] == [
        (run, True)
    ]
    assert mesocosm("trial", "list")[1]["trials"] == []
    assert mesocosm("results", run)[1]["trials"][0]["verdict"] == "FAIL"
    code, _ = mesocosm("regrade", run, "--suite", str(suite), "--fleet", "fake")
    assert code == 2
