"""Programs that the probe runs, and their background children."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from provisioning.probe.system import run
from provisioning.probe.system.identity import Identity
from provisioning.probe.system.run import BACKGROUND_READER, MAX_BACKGROUND, run_program

if TYPE_CHECKING:
    from pathlib import Path


def _start_in_background(script: str) -> None:
    done = run_program(
        ["/bin/sh", "-c", f"({script}) & :"],
        identity=Identity.own(),
        env={"PATH": os.environ["PATH"]},
        timeout_s=20.0,
    )
    assert done.exit_code == 0


def _readers() -> int:
    return sum(thread.name == BACKGROUND_READER for thread in threading.enumerate())


@pytest.mark.slow
def test_pipes_of_background_programs_are_limited_and_released(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # Each holds two pipes until the gate opens: more than the limit.
    for _ in range(MAX_BACKGROUND // 2 + 2):
        _start_in_background(f"read line < {gate}; echo word")
    assert _readers() == MAX_BACKGROUND
    holder = os.open(gate, os.O_RDWR)
    try:
        os.write(holder, b"open\n" * MAX_BACKGROUND)
        assert wait_until(lambda: _readers() == 0, timeout_s=30)
    finally:
        os.close(holder)
    path = tmp_path / "after"
    _start_in_background(f"sleep 0.5; echo word; echo done > {path}")
    assert wait_until(path.is_file, timeout_s=20)
    assert wait_until(lambda: run._background._value == MAX_BACKGROUND, timeout_s=20)
