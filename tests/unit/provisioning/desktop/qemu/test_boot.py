"""The order and times of requests to a booting guest, with a clock that moves only in sleeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import pytest

from foundation.clock import FakeClock
from foundation.errors import LinkError, MachineStartError
from provisioning.desktop.qemu import boot
from provisioning.desktop.qemu.boot import GuestBoot
from tests.unit.provisioning.desktop.qemu.test_domain import SPEC

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.desktop.qemu.boot import BootingVm
    from provisioning.desktop.qemu.domain import DomainSpec
    from provisioning.links.client import LinkClient
    from provisioning.links.ssh import SshTarget


class BootingClock(FakeClock):
    """A clock that drives a guest's boot: its console shows a login prompt after `prompt_s`."""

    def __init__(self, console: Path, prompt_s: float) -> None:
        super().__init__(0.0)
        self._console = console
        self._prompt_s = prompt_s

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.now_s() >= self._prompt_s:
            self._console.write_bytes(
                b"[    1.0] words of the kernel\r\n\r\nmesocosm-desktop login: "
            )


@dataclass
class Vm:
    """A VM that only has a console."""

    spec: DomainSpec
    running: bool = True

    @property
    def link(self) -> LinkClient:
        raise AssertionError

    def is_running(self) -> bool:
        return self.running

    def ssh_target(self) -> SshTarget:
        return cast("SshTarget", None)

    def cpu_time_s(self) -> float:
        raise AssertionError


def vm_in(folder: Path) -> Vm:
    return Vm(replace(SPEC, folder=folder))


def first_login_s(
    monkeypatch: pytest.MonkeyPatch, vm: BootingVm, clock: BootingClock
) -> list[float]:
    """Return the times of logins, up to the first that succeeds: the third."""
    tried: list[float] = []

    def open_ssh(target: SshTarget, *, timeout_s: float) -> object:
        del target, timeout_s
        tried.append(clock.now_s())
        if len(tried) < 3:
            raise LinkError("nobody answers")
        return object()

    monkeypatch.setattr(boot, "open_ssh", open_ssh)
    GuestBoot(vm, clock)._wait_for_ssh()
    return tried


@pytest.mark.parametrize(("prompt_s", "first_s"), [(20.0, 20.0), (1000.0, 60.0)])
def test_first_login_waits_for_the_prompt_or_a_minute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, prompt_s: float, first_s: float
) -> None:
    vm = vm_in(tmp_path)
    clock = BootingClock(vm.spec.serial_log, prompt_s)
    assert first_login_s(monkeypatch, vm, clock) == [first_s, first_s + 0.5, first_s + 1.0]


def test_qemu_exit_during_boot_is_reported_with_console_output(tmp_path: Path) -> None:
    vm = vm_in(tmp_path)
    vm.running = False
    vm.spec.serial_log.write_bytes(b"Kernel panic - not syncing: no root")
    with pytest.raises(MachineStartError, match="ended while the guest was booting") as caught:
        GuestBoot(vm, BootingClock(vm.spec.serial_log, 1000.0)).finish()
    assert "Kernel panic" in caught.value.details
