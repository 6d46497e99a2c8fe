from __future__ import annotations

import pytest

from foundation.process import find_tool
from provisioning.accelerator import guest_run as module
from provisioning.accelerator.guest_program import EXIT_CODE, ROUNDS, boot_sector
from provisioning.accelerator.guest_run import QEMU, GuestRun, cpu_option, qemu_argv, run_on_host

needs_qemu = pytest.mark.skipif(not find_tool(QEMU), reason="QEMU is not installed")
HALTED = b"\xfa\xf4\xeb\xfd"  # cli; hlt; jmp to hlt


def test_boot_sector_is_bootable_by_a_bios() -> None:
    sector = boot_sector()
    assert len(sector) == 512
    assert sector[-2:] == b"\x55\xaa"


@pytest.mark.slow
@needs_qemu
def test_real_guest_does_all_its_work_and_reports_each_round() -> None:
    ran = run_on_host("tcg", boot_s=20, work_s=40)
    assert ran.exit_code == EXIT_CODE, ran.output
    assert ran.is_complete
    assert ran.begun_s
    assert len(ran.rounds_s) == 2 * ROUNDS
    assert ran.rounds_s == sorted(ran.rounds_s)
    assert 0 < ran.work_s <= ran.waited_s


@pytest.mark.slow
@needs_qemu
def test_guest_that_never_works_is_killed_at_the_first_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    halted = HALTED.ljust(510, b"\0") + b"\x55\xaa"
    monkeypatch.setattr(module, "boot_sector", lambda: halted)
    ran = run_on_host("tcg", boot_s=1.0, work_s=40)
    assert (ran.exit_code, ran.begun_s, ran.is_complete) == (None, None, False)


@pytest.mark.slow
@needs_qemu
def test_guest_that_works_too_slowly_is_killed_at_the_second_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sector = boot_sector()
    begin = sector.index(bytes.fromhex("b0 62 e6 e9 b0 0a e6 e9")) + 8
    stuck = sector[:begin] + HALTED + sector[begin + len(HALTED) :]
    monkeypatch.setattr(module, "boot_sector", lambda: stuck)
    ran = run_on_host("tcg", boot_s=20, work_s=0.2)
    assert ran.exit_code is None
    assert ran.begun_s is not None
    assert not ran.rounds_s
    assert ran.work_s == ran.waited_s >= 0.2


@pytest.mark.slow
@needs_qemu
def test_errors_of_qemu_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cpu_option", lambda *_args: "no-such-cpu")
    ran = run_on_host("tcg", boot_s=20, work_s=1)
    assert ran.exit_code == 1
    assert "no-such-cpu" in " ".join(ran.output)


def test_incomplete_run_took_as_long_as_it_was_given() -> None:
    assert GuestRun(None, [], 1.0, [0.5], 2.5).work_s == 2.5
    assert GuestRun(EXIT_CODE, [], 1.0, [0.5] * (2 * ROUNDS), 2.5).work_s == 0.5


def test_kvm_is_tried_with_the_cpu_of_machines() -> None:
    argv = qemu_argv("disk", "kvm", ("arch-capabilities",))
    assert argv[argv.index("-cpu") + 1] == cpu_option("kvm", ("arch-capabilities",))
    assert cpu_option("kvm", ("arch-capabilities",)) == (
        "host,vmx=off,svm=off,pmu=off,arch-capabilities=off"
    )
    assert cpu_option("tcg") == "max"
