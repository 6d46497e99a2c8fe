"""The record of a desktop VM."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic reads it
from typing import ClassVar, Literal

from pydantic import Field

from provisioning.machine_record import MachineRecord


class QemuRecord(MachineRecord):
    """The record of a desktop VM.

    Attributes:
        memory_mib: its RAM.
        cpus: number of virtual CPUs.
        ssh_port: port of the hypervisor container that is forwarded to its SSH server.
        mac: MAC address of its network card.
        template: folder of the template that it was forked from.
        backing: size in bytes and modification time in ns of the image's disk that backs its own.
        host_key: public key of its SSH server; empty if it is the image's.
        cpu_without: CPU features that the host's CPU has and this machine does not.
        screen: width and height in px; empty, and not written, for the default.
    """

    shows_vnc: ClassVar[bool] = True

    backend: Literal["libvirt"] = "libvirt"
    memory_mib: int
    cpus: int
    ssh_port: int
    mac: str
    template: Path | None = None
    backing: tuple[int, int] | None = None
    host_key: str = ""
    cpu_without: tuple[str, ...] = ()
    screen: str = Field(default="", exclude_if=lambda screen: not screen)
