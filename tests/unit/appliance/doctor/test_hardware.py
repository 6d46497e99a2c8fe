from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.doctor.check import State
from appliance.doctor.hardware import (
    KVM_RESOLUTIONS,
    check_cpu,
    check_disk,
    check_kvm,
    check_memory,
)
from foundation.settings import Settings
from provisioning.accelerator.detection import KvmState

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30


def test_virtualisation_flags_are_read(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("flags\t\t: fpu vmx sse\n")
    assert check_cpu(Settings(), cpuinfo=cpuinfo).state is State.OK
    cpuinfo.write_text("flags\t\t: fpu vmx_like sse\n")
    assert check_cpu(Settings(), cpuinfo=cpuinfo).state is State.WARN


@pytest.mark.parametrize(
    ("total_gib", "free_gib", "state"),
    [(23, 20, State.OK), (5.7, 5, State.OK), (8, 2, State.WARN), (4, 4, State.FAILED)],
)
def test_memory_is_compared_with_what_is_needed(
    tmp_path: Path, total_gib: float, free_gib: float, state: State
) -> None:
    meminfo = tmp_path / "meminfo"
    rows = {"MemTotal": total_gib, "MemFree": 0.1, "MemAvailable": free_gib}
    text = "".join(f"{name}:  {int(value * GIB) >> 10} kB\n" for name, value in rows.items())
    meminfo.write_text(text)
    assert check_memory(Settings(), meminfo=meminfo).state is state


def test_too_small_disk_is_reported(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "not" / "yet")
    assert check_disk(settings, needed=1).state is State.OK
    finding = check_disk(settings, needed=1 << 60)
    assert finding.state is State.FAILED
    assert "MESOCOSM_STATE_DIR" in finding.resolution


def test_missing_kvm_is_a_warning_that_suggests_tcg(tmp_path: Path) -> None:
    finding = check_kvm(Settings(state_dir=tmp_path), device=tmp_path / "kvm")
    assert finding.state is State.WARN
    assert "TCG" in finding.resolution


def test_required_but_broken_kvm_is_a_failure(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, accelerator="kvm")
    assert check_kvm(settings, device=tmp_path / "kvm").state is State.FAILED


def test_every_kvm_state_has_a_resolution() -> None:
    assert set(KVM_RESOLUTIONS) == set(KvmState) - {KvmState.WORKS}
