from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from controller.agents.custom.output import AgentOutput, printing_to
from controller.agents.registry import make_driver, specify_agent
from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict
from tests.unit.controller.bench import SET_DARK, make_task

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.controller.bench import Bench

PRINTING = f"""
import os, sys, threading, time
print("\\033[31mimported\\033[0m")

class Mine:
    def __init__(self):
        print("made")
        self.turns = [
            {{"on": "desktop", "do": "open_app", "with": {{"name": "Terminal"}}}},
            {{"on": "desktop", "do": "type_text", "with": {{"text": {SET_DARK!r} + chr(10)}}}},
        ]

    def act(self, observation):
        print("asked")
        print("warned", file=sys.stderr)
        sys.stdout.buffer.write(b"bytes")
        thread = threading.Thread(target=print, args=("threaded",))
        thread.start()
        thread.join()
        return self.turns.pop(0)

    def close(self):
        print("closed")
"""
HANGING = """
import time

class Mine:
    def act(self, observation):
        print("before it hangs")
        time.sleep(30)
"""


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


def texts(bench: Bench, kind: str) -> list[str]:
    rows: list[dict[str, Any]] = [row for row in bench.events if row["type"] == "agent"]
    return [row["data"]["text"] for row in rows if row["kind"] == kind]


def test_output_of_a_class_is_in_its_trial_log_and_not_on_stdout(
    bench: Bench, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(PRINTING)
    driver = make_driver(specify_agent("mine.py:Mine"))
    assert bench.drive(make_task(), driver).verdict is Verdict.PASS
    sys.stdout.write("our own\n")
    captured = capfd.readouterr()
    assert captured.out == "our own\n"
    assert texts(bench, "stdout") == ["made\n", "asked\nbytes", "asked\nbytes"]
    assert texts(bench, "stderr") == ["warned\n"] * 2
    assert "imported\n" in captured.err
    assert "threaded\n" in captured.err
    assert "\x1b" not in captured.err


@pytest.mark.slow
def test_output_before_a_hang_is_kept(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HANGING)
    limits = {"seconds": 60.0, "wall_seconds": 1.0}
    result = bench.drive(make_task(limits=limits), make_driver(specify_agent("mine.py:Mine")))
    assert result.reason is Reason.WALL_LIMIT
    assert texts(bench, "stdout") == ["before it hangs\n"]


def test_parallel_trials_get_the_output_of_their_own_agents() -> None:
    outputs = [AgentOutput() for _ in range(4)]
    barrier = threading.Barrier(len(outputs))

    def run(number: int) -> None:
        with printing_to(outputs[number]):
            barrier.wait(10)
            for _ in range(50):
                sys.stdout.write(f"{number}\n")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(outputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, output in enumerate(outputs):
        assert output.take() == {"stdout": f"{number}\n" * 50}
        assert output.take() == {}
