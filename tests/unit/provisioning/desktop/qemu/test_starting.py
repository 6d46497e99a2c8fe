from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from foundation.errors import MachineError
from provisioning.desktop.qemu.domain import DomainSpec
from provisioning.desktop.qemu.lifecycle import Lifecycle
from provisioning.desktop.qemu.starting import start_domain

if TYPE_CHECKING:
    from provisioning.desktop.qemu.connection import Hypervisor


SPEC = DomainSpec(
    name="desktop-abc123",
    accelerator="tcg",
    memory_mib=3072,
    cpus=2,
    folder=Path("/state/machines/desktop-abc123"),
    kernel=Path("/state/vmlinuz"),
    initrd=Path("/state/initrd.img"),
    ssh_port=20022,
    mac="52:54:00:12:34:56",
)


class Refusing:
    """A libvirtd whose QEMU fails with `message` if it uses io_uring."""

    def __init__(self, message: str) -> None:
        self.words = message
        self.has_io_uring = True
        self.lifecycle = Lifecycle()
        self.started: list[str] = []

    def create(self, xml: str, *, paused: bool = False) -> None:
        io = "io_uring" if 'io="io_uring"' in xml else "threads"
        if io == "io_uring" and self.words:
            raise MachineError("It could not be started.", details=self.words)
        self.started.append(f"{io}{' paused' if paused else ''}")


class Crowded(Refusing):
    """A libvirtd whose QEMU finds the first `taken` ports in use."""

    def __init__(self, taken: int) -> None:
        super().__init__("")
        self.taken = taken
        self.asked: list[int] = []

    def create(self, xml: str, *, paused: bool = False) -> None:
        match = re.search(r"hostfwd=tcp::(\d+)-:22", xml)
        assert match
        self.asked.append(int(match[1]))
        if len(self.asked) <= self.taken:
            message = f"Could not set up host forwarding rule 'tcp::{match[1]}-:22'"
            raise MachineError("It could not be started.", details=message)
        super().create(xml, paused=paused)


def start(hypervisor: Refusing, *, paused: bool = False) -> DomainSpec:
    return start_domain(cast("Hypervisor", hypervisor), SPEC, paused=paused)


def test_disk_is_read_by_io_uring() -> None:
    hypervisor = Refusing("")
    start(hypervisor, paused=True)
    assert hypervisor.started == ["io_uring paused"]


def test_threads_read_the_disk_where_io_uring_is_forbidden() -> None:
    hypervisor = Refusing("qemu: failed to init linux io_uring ring: Operation not permitted")
    start(hypervisor)
    start(hypervisor)
    assert hypervisor.started == ["threads", "threads"]
    assert not hypervisor.has_io_uring


def test_other_start_failure_is_reported() -> None:
    hypervisor = Refusing("no space left on device")
    with pytest.raises(MachineError, match="no space"):
        start(hypervisor)
    assert hypervisor.started == []


def test_taken_port_is_replaced_by_another() -> None:
    hypervisor = Crowded(taken=2)
    started = start(hypervisor, paused=True)
    assert hypervisor.started == ["io_uring paused"]
    assert hypervisor.asked[0] == SPEC.ssh_port
    assert started.ssh_port == hypervisor.asked[2] != SPEC.ssh_port


def test_start_fails_if_no_port_is_ever_free() -> None:
    hypervisor = Crowded(taken=1000)
    with pytest.raises(MachineError, match="forwarding rule"):
        start(hypervisor)
    assert len(hypervisor.asked) == 10
