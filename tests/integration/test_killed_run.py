"""Tests that killing a real ``mesocosm run`` loses no finished trial."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.store.runs import Store
from foundation.clock import wait_until
from foundation.process import run, start

if TYPE_CHECKING:
    import subprocess

    from controller.store.runs import RunFolder

TINY = Path(__file__).resolve().parents[1] / "suites/tiny"
MESOCOSM = [sys.executable, "-m", "appliance.cli.main"]
WAITS = 40


def begin(tmp_path: Path) -> tuple[subprocess.Popen[bytes], RunFolder]:  # noqa: TID251
    script = tmp_path / "wait.jsonl"
    line = '{"on": "desktop", "do": "type_text", "with": {"text": "wwwwwwwwwwwwwwwwwwwwwww\\n"}}\n'
    script.write_text(
        '{"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}}\n' + line * WAITS
    )
    args = ["run", str(TINY), "--fleet", "fake", "--agent", "script", "--script", str(script)]
    process = start(
        [*MESOCOSM, *args, "--repeats", "2", "--json"], env=environment(tmp_path), merge=False
    )
    store = Store(tmp_path / "runs")
    assert wait_until(store.names, timeout_s=30)
    return process, store.open("latest")


def environment(tmp_path: Path) -> dict[str, str]:
    return {"MESOCOSM_STATE_DIR": str(tmp_path)}


def steps(folder: RunFolder) -> int:
    return sum(
        event["type"] == "step"
        for task, repeat in folder.spec.planned
        for event in folder.events(task, repeat)
    )


def results(tmp_path: Path) -> dict[str, object]:
    done = run([*MESOCOSM, "results", "latest", "--json"], env=environment(tmp_path)).require()
    report: dict[str, object] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("after", [1, 4])
def test_kill_9_loses_no_finished_step(tmp_path: Path, after: int) -> None:
    process, folder = begin(tmp_path)
    with process:
        assert wait_until(lambda: steps(folder) >= after, timeout_s=60)
        assert folder.is_running()
        seen = steps(folder)
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert steps(folder) >= seen
    assert not folder.is_running()
    for task, repeat in folder.spec.planned:
        numbers = [e["n"] for e in folder.events(task, repeat) if e["type"] == "step"]
        assert numbers == list(range(1, len(numbers) + 1))
        for event in folder.events(task, repeat):
            for digest in event.get("screens", {}).values():
                assert (folder.path / "blobs" / f"{digest}.png").is_file()
    report = results(tmp_path)
    unfinished = report["unfinished"]
    trials = report["trials"]
    assert isinstance(unfinished, list)
    assert isinstance(trials, list)
    assert len(unfinished) + len(trials) == 8
    assert len(unfinished) >= 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_records_the_trial_as_cancelled(tmp_path: Path, number: int) -> None:
    process, folder = begin(tmp_path)
    with process:
        assert wait_until(lambda: steps(folder) >= 1, timeout_s=60)
        os.kill(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    report = json.loads(out)
    assert report["trials"][-1]["reason"] == "cancelled"
    assert report["trials"][-1]["verdict"] == "INCONCLUSIVE"
    assert len(report["unfinished"]) + len(report["trials"]) == 8
    assert b"Traceback" not in err
    assert f"To continue: mesocosm resume {report['run']}" in err.decode()
