from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from foundation.process import find_tool
from foundation.settings import Settings
from provisioning.accelerator import detection as module
from provisioning.accelerator.boot_sector import EXIT_CODE, boot_sector
from provisioning.accelerator.detection import (
    QEMU,
    Accelerator,
    GuestRun,
    KvmState,
    accelerator_of,
    compare,
    find_accelerator,
    qemu_argv,
    run_on_host,
    try_kvm,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

needs_qemu = pytest.mark.skipif(not find_tool(QEMU), reason="QEMU is not installed")


def test_boot_sector_is_bootable_by_a_bios() -> None:
    sector = boot_sector()
    assert len(sector) == 512
    assert sector[-2:] == b"\x55\xaa"


@needs_qemu
def test_boot_sector_reports_from_a_real_guest() -> None:
    ran = run_on_host(20, "tcg")
    assert ran.exit_code == EXIT_CODE, ran.stderr


@needs_qemu
def test_guest_that_never_runs_is_killed_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    halted = b"\xfa\xf4\xeb\xfd".ljust(510, b"\0") + b"\x55\xaa"  # cli; hlt; jmp to hlt
    monkeypatch.setattr(module, "boot_sector", lambda: halted)
    ran = run_on_host(1.0, "tcg")
    assert ran.exit_code is None
    assert accelerator_of(ran, 1.0).state is KvmState.HANGS


def test_missing_device_is_distinguished(tmp_path: Path) -> None:
    accelerator = try_kvm(Settings(state_dir=tmp_path), device=tmp_path / "kvm")
    assert (accelerator.name, accelerator.state) == ("tcg", KvmState.MISSING)


def test_missing_permission_is_distinguished(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    device = tmp_path / "kvm"
    device.touch()

    def refuse(path: Path, mode: int) -> bool:
        return False

    monkeypatch.setattr("os.access", refuse)
    accelerator = try_kvm(Settings(state_dir=tmp_path), device=device)
    assert (accelerator.name, accelerator.state) == ("tcg", KvmState.DENIED)


@pytest.mark.parametrize(
    ("ran", "name", "state"),
    [
        (GuestRun(EXIT_CODE, "warning: host lacks pni"), "kvm", KvmState.WORKS),
        (GuestRun(None, ""), "tcg", KvmState.HANGS),
        (
            GuestRun(-6, "qemu: warning: x\nqemu: error: failed to set MSR 0x10a to 0x69"),
            "tcg",
            KvmState.REFUSED,
        ),
        (
            GuestRun(1, "Could not access KVM kernel module: Permission denied"),
            "tcg",
            KvmState.DENIED,
        ),
        (GuestRun(0, ""), "tcg", KvmState.REFUSED),
    ],
)
def test_guest_outcomes_are_distinguished(ran: GuestRun, name: str, state: KvmState) -> None:
    accelerator = accelerator_of(ran, 3.0)
    assert (accelerator.name, accelerator.state) == (name, state)


def test_kvm_slower_than_emulation_is_not_used() -> None:
    accelerator = compare(8.9, GuestRun(EXIT_CODE, "", 0.7))
    assert (accelerator.name, accelerator.state) == ("tcg", KvmState.SLOW)
    assert "8.9 s" in accelerator.reason
    assert "0.7 s" in accelerator.reason


@pytest.mark.parametrize(
    "tcg", [GuestRun(EXIT_CODE, "", 0.5), GuestRun(EXIT_CODE, "", 0.21), GuestRun(1, "", 0)]
)
def test_kvm_as_fast_as_emulation_is_used(tcg: GuestRun) -> None:
    assert compare(0.3, tcg).state is KvmState.WORKS


@needs_qemu
def test_kvm_is_compared_with_emulation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried: list[str] = []

    def emulated(deadline_s: float, accelerator: str) -> GuestRun:
        tried.append(accelerator)
        ran = run_on_host(20, "tcg")
        return GuestRun(
            ran.exit_code, ran.stderr, ran.seconds * (100 if accelerator == "kvm" else 1)
        )

    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(module, "run_on_host", emulated)
    assert try_kvm(Settings(state_dir=tmp_path), device=device).state is KvmState.SLOW
    assert tried == ["kvm", "kvm", "tcg"]


def test_cause_quotes_qemu_without_its_warnings() -> None:
    accelerator = accelerator_of(
        GuestRun(-6, "qemu: warning: x\nqemu: error: failed to set MSR 0x10a"), 3.0
    )
    assert "failed to set MSR 0x10a" in accelerator.reason
    assert "warning" not in accelerator.reason


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts tests of KVM, which all succeed."""
    count: list[int] = []

    def fake(_settings: Settings) -> Accelerator:
        count.append(1)
        return Accelerator(name="kvm", reason="", state=KvmState.WORKS)

    monkeypatch.setattr(module, "try_kvm", fake)
    return count


def test_detection_is_cached_for_later_commands(tmp_path: Path, tries: list[int]) -> None:
    settings = Settings(state_dir=tmp_path)
    assert find_accelerator(settings) == find_accelerator(settings)
    assert len(tries) == 1
    find_accelerator(settings, ignore_cache=True)
    assert len(tries) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text("{"),
        lambda path: path.write_text(
            json.dumps({**json.loads(path.read_text()), "key": ["another boot", "0", "0"]})
        ),
    ],
)
def test_cache_of_another_boot_or_a_damaged_one_is_ignored(
    tmp_path: Path, tries: list[int], damage: Callable[[Path], None]
) -> None:
    settings = Settings(state_dir=tmp_path)
    find_accelerator(settings)
    damage(tmp_path / "accelerator.json")
    find_accelerator(settings)
    assert len(tries) == 2


def test_settings_override_detection(tmp_path: Path, tries: list[int]) -> None:
    accelerator = find_accelerator(Settings(state_dir=tmp_path, accelerator="tcg"))
    assert accelerator.name == "tcg"
    assert not tries


def test_untried_kvm_is_not_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    untried = Accelerator(name="tcg", reason="", state=KvmState.UNTRIED)

    def fail(settings: Settings) -> Accelerator:
        return untried

    monkeypatch.setattr(module, "try_kvm", fail)
    find_accelerator(Settings(state_dir=tmp_path))
    assert not (tmp_path / "accelerator.json").exists()


def test_unwritable_state_folder_is_harmless(tmp_path: Path, tries: list[int]) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    assert find_accelerator(Settings(state_dir=blocked)).name == "kvm"


def test_kvm_is_tried_with_the_cpu_of_machines() -> None:
    argv = qemu_argv("disk")
    assert argv[argv.index("-cpu") + 1] == "host"
