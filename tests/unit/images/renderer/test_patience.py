"""Tests of the time that a view takes of its own."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from foundation.process import run
from images.renderer.program import patience

if TYPE_CHECKING:
    from pathlib import Path


def proc(folder: Path, waits_ns: list[int], used_ticks: int = 0) -> Path:
    for number, wait_ns in enumerate(waits_ns):
        task = folder / "7" / "task" / str(number)
        task.mkdir(parents=True, exist_ok=True)
        (task / "schedstat").write_text(f"5 {wait_ns} 1\n")
    fields = " ".join(["0"] * 10 + [str(used_ticks), "0"])
    (folder / "7" / "stat").write_text(f"7 (a) b) S {fields} 0\n")
    (folder / "self").mkdir(exist_ok=True)
    return folder


def test_times_are_those_of_all_threads_and_processes(tmp_path: Path) -> None:
    folder = proc(tmp_path, [1_000_000_000, 500_000_000], 3 * os.sysconf("SC_CLK_TCK"))
    assert patience.waited_s(folder) == 1.5
    assert patience.used_s(folder) == 3


def test_this_process_uses_a_processor(tmp_path: Path) -> None:
    (tmp_path / "1").symlink_to(f"/proc/{os.getpid()}")
    before = patience.used_s(tmp_path)
    end_s = time.process_time() + 0.1
    while time.process_time() < end_s:
        pass
    assert patience.used_s(tmp_path) > before


@pytest.mark.parametrize(
    ("waits_s", "uses_s", "is_used"), [(0, 0, True), (9, 0, False), (9, 9, True)]
)
def test_waiting_for_a_processor_does_not_count(
    waits_s: float, uses_s: float, monkeypatch: pytest.MonkeyPatch, *, is_used: bool
) -> None:
    waits, uses = iter([0.0, *[waits_s] * 5]), iter([0.0, *[uses_s] * 5])
    monkeypatch.setattr(patience, "waited_s", lambda: next(waits))
    monkeypatch.setattr(patience, "used_s", lambda: next(uses))
    monkeypatch.setattr(patience, "_POLL_S", 0.02)
    if is_used:
        patience.wait_until_used(0.01)
    else:
        with pytest.raises(StopIteration):
            patience.wait_until_used(0.01)


_PROGRAM = """
import os, sys, time
from images.renderer.program.patience import Watcher
watcher = Watcher(1, b"too slow", 0.1)
watcher.start()
time.sleep(float(sys.argv[1]))
watcher.stop()
os.write(1, b"a view")
"""


@pytest.mark.parametrize(("sleeps_s", "reply"), [("0", b"a view"), ("60", b"too slow")])
def test_one_of_both_processes_replies(sleeps_s: str, reply: bytes) -> None:
    argv = [sys.executable, "-c", _PROGRAM, sleeps_s]
    assert run(argv, timeout_s=50).stdout == reply
