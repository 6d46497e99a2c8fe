"""A saved VM, and the files that other VMs are made of: whether they are what they were."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.domain import DomainSpec
    from provisioning.machine_folder import MachineFolder
    from provisioning.protocols import MachineInfo


class SavedVm(Protocol):
    """What a template is made of: a running VM that has the snapshot ``ready``."""

    @property
    def info(self) -> MachineInfo:
        """Name and image."""
        ...

    @property
    def folder(self) -> MachineFolder:
        """Where its disk and its snapshots are."""
        ...

    @property
    def spec(self) -> DomainSpec:
        """How its QEMU is started."""
        ...

    @property
    def hypervisor(self) -> Hypervisor:
        """What runs it."""
        ...

    @property
    def backing(self) -> Path:
        """The image's disk below its own."""
        ...


FileMark = tuple[int, int]
"""Size of a file in bytes, and time of its last change in ns: another one is another file."""


def mark_of(path: Path) -> FileMark:
    """Return the mark of a file.

    Raises:
        OSError: there is none.
    """
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def altered(path: Path, mark: FileMark) -> str:
    """Return in one line how a file differs from its mark; empty when it does not."""
    try:
        return "" if mark_of(path) == mark else f"{path} was altered"
    except OSError:
        return f"{path} is gone"


def write_back(path: Path) -> None:
    """Write a file back to the disk: a host that crashes keeps it, and its time of change is the last.

    RAM that was mapped is written back long after, which counts as a change.
    """
    with path.open("rb") as file:
        os.fsync(file.fileno())
