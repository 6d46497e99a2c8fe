"""Tests of the time that a view takes of its own."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

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
    ("waits_s", "uses_s", "is_ended"), [(0, 0, True), (9, 0, False), (9, 9, True)]
)
def test_waiting_for_a_processor_does_not_count(
    waits_s: float, uses_s: float, monkeypatch: pytest.MonkeyPatch, *, is_ended: bool
) -> None:
    waits, uses = iter([0.0, *[waits_s] * 99]), iter([0.0, *[uses_s] * 99])
    monkeypatch.setattr(patience, "waited_s", lambda: next(waits))
    monkeypatch.setattr(patience, "used_s", lambda: next(uses))
    monkeypatch.setattr(patience, "_POLL_S", 0.05)
    ended = threading.Event()
    patience.watch(ended.set, limit_s=0.01)
    assert ended.wait(5 if is_ended else 0.3) == is_ended
