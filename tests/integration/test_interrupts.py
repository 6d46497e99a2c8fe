"""Tests that ``mesocosm`` ends cleanly on SIGINT and SIGTERM, regardless of how it was started."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.store.runs import Store
from foundation.clock import wait_until
from foundation.process import run, start
from tests.tiers import nightly

if TYPE_CHECKING:
    from controller.store.runs import RunFolder

TINY = Path(__file__).resolve().parents[1] / "suites/tiny"
MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]
LINE = '{"on": "desktop", "do": "type_text", "with": {"text": "wwwwwwwwwwwwwwwwwwwwww\\n"}}\n'


def has_step(folder: RunFolder) -> bool:
    return any(
        event["type"] == "step"
        for task, repeat in folder.spec.planned
        for event in folder.events(task, repeat)
    )


@pytest.mark.parametrize(
    ("number", "parallel"),
    [
        pytest.param(signal.SIGINT, 1, marks=nightly("`make test` ends three trials at once")),
        (signal.SIGTERM, 3),
    ],
)
def test_background_command_of_a_script_can_be_interrupted_and_resumed(
    tmp_path: Path, number: signal.Signals, parallel: int
) -> None:
    actions = tmp_path / "wait.jsonl"
    actions.write_text(
        '{"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}}\n' + LINE * 60
    )
    argv = [
        *(*MESOCOSM, "run", str(TINY), "--fleet", "fake"),
        *("--agent", "script", "--script", str(actions), "--repeats", "2", "--json"),
        *("--parallel", str(parallel)),
    ]
    # A shell without job control starts background commands with SIGINT ignored.
    line = f"{shlex.join(argv)} >out.json & echo $! >pid; wait $!; echo $? >code"
    env = {"MESOCOSM_STATE_DIR": str(tmp_path), "PYTHONPATH": str(TINY.parents[2])}
    store = Store(tmp_path / "runs")
    with start(["sh", "-c", line], env=env, cwd=tmp_path) as shell:
        assert wait_until(store.names, timeout_s=60)
        folder = store.open("latest")
        assert wait_until(lambda: has_step(folder), timeout_s=60)
        os.kill(int((tmp_path / "pid").read_text()), number)
        _, err = shell.communicate(timeout=60)
    assert (tmp_path / "code").read_text() == "130\n"
    assert b"Traceback" not in err
    report = json.loads((tmp_path / "out.json").read_text())
    assert "cancelled" in {trial["reason"] for trial in report["trials"]}
    assert not folder.is_running()
    again = [*MESOCOSM, "resume", "latest", "--suite", str(TINY), "--fleet", "fake", "--json"]
    resumed = json.loads(run(again, env=env, timeout_s=120).require().stdout)
    assert resumed["unfinished"] == []
    assert len({(trial["task"], trial["repeat"]) for trial in resumed["trials"]}) == 8
    assert "cancelled" not in {trial["reason"] for trial in resumed["trials"]}
    second = [trial for trial in resumed["trials"] if trial["attempts"] == 2]
    assert len(second) == sum(trial["reason"] == "cancelled" for trial in report["trials"])
    assert folder.is_complete()
