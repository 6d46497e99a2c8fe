"""Reports of a guest's kernel on its console."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from provisioning.desktop.qemu.console import find_report, size_of

if TYPE_CHECKING:
    from pathlib import Path

NOW_S = 1_800_000_000.0
KILLED = "[   95.5] Out of memory: Killed process 812 (python3) total-vm:9kB\r\n"
IN_GROUP = "[   95.5] Memory cgroup out of memory: Killed process 812 (python3)\r\n"
PANIC = "[   96.1] Kernel panic - not syncing: System is deadlocked on memory\r\n"
LOGIN = "mesocosm-desktop login: "


def console(folder: Path, text: str, *, age_s: float = 1.0) -> Path:
    log = folder / "serial.log"
    log.write_text(text)
    os.utime(log, (NOW_S - age_s, NOW_S - age_s))
    return log


@pytest.mark.parametrize(
    ("text", "report"),
    [
        (LOGIN, ""),
        (LOGIN + KILLED, "the guest's kernel ran out of memory"),
        (LOGIN + PANIC, "the guest's kernel ran out of memory"),
        (LOGIN + IN_GROUP, ""),
        ("[ 9.1] Kernel panic - not syncing: Fatal exception\r\n", "the guest's kernel panicked"),
    ],
)
def test_kernel_reports_its_end(tmp_path: Path, text: str, report: str) -> None:
    assert find_report(console(tmp_path, text), 0, NOW_S) == report


def test_reports_before_a_rewind_do_not_count(tmp_path: Path) -> None:
    log = console(tmp_path, LOGIN + KILLED)
    begin = size_of(log)
    assert find_report(log, begin, NOW_S) == ""
    log = console(tmp_path, LOGIN + KILLED + KILLED)
    assert find_report(log, begin, NOW_S) != ""


def test_old_reports_do_not_count(tmp_path: Path) -> None:
    assert find_report(console(tmp_path, KILLED, age_s=700), 0, NOW_S) == ""


def test_missing_console_reports_nothing(tmp_path: Path) -> None:
    assert (size_of(tmp_path / "none"), find_report(tmp_path / "none", 0, NOW_S)) == (0, "")
