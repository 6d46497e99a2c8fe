from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import FakeClock
from appliance.base.errors import MachineError
from appliance.base.settings import Settings
from provisioning.fleet import pool
from provisioning.fleet.pool import RESERVE_MIB, Queue, available_mib, pool_size
from provisioning.protocols import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def queue(tmp_path: Path, *readings: int) -> Queue:
    """Give a queue that measures these figures, the last one for ever."""
    left: Iterator[int] = iter(readings)
    return Queue(
        Settings(state_dir=tmp_path),
        clock=FakeClock(),
        available=lambda: next(left, readings[-1]),
    )


def test_what_fits_does_not_wait(tmp_path: Path) -> None:
    queue(tmp_path, RESERVE_MIB + 512).wait(Kind.DESKTOP, 512, timeout_s=0.0)


def test_what_does_not_fit_waits_until_it_does_and_is_seen(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    free = [RESERVE_MIB, RESERVE_MIB, RESERVE_MIB + 512]

    def measure() -> int:
        seen.append(waiting.waiting())
        return free.pop(0)

    waiting = Queue(Settings(state_dir=tmp_path), clock=FakeClock(), available=measure)
    waiting.wait(Kind.DESKTOP, 512, timeout_s=60.0)

    assert seen == [[], ["desktop"], ["desktop"]]
    assert waiting.waiting() == []


def test_what_never_fits_says_what_is_missing(tmp_path: Path) -> None:
    full = queue(tmp_path, 100)
    with pytest.raises(MachineError, match="no memory for another desktop") as caught:
        full.wait(Kind.DESKTOP, 512, timeout_s=5.0)
    assert "100 MiB are available, 1536 are needed" in caught.value.details
    assert full.waiting() == []


def test_the_dead_wait_for_nothing(tmp_path: Path) -> None:
    folder = Settings(state_dir=tmp_path).run_dir / "queue"
    folder.mkdir(parents=True)
    (folder / f"{os.getpid()}-phone").touch()
    (folder / "4194305-desktop").touch()  # above the largest process id

    assert queue(tmp_path, 0).waiting() == ["phone"]
    assert not (folder / "4194305-desktop").exists()


def test_memory_is_what_the_kernel_says(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:   2097152 kB\n")
    assert available_mib(meminfo) == 2048


def test_the_pool_is_bounded_by_memory_and_cores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings(state_dir=tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    for free, wanted in ((RESERVE_MIB, 0), (RESERVE_MIB + 1100, 2), (1 << 20, 4)):
        monkeypatch.setattr(pool, "available_mib", lambda free=free: free)
        assert pool_size(settings, need_mib=512) == wanted
    assert pool_size(Settings(state_dir=tmp_path, desktop_pool="7"), need_mib=512) == 7
