"""The interface of a saved VM, and checks that the files other VMs start from are unchanged."""

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
    """A running VM with the snapshot ``ready``, from which a template is made."""

    @property
    def info(self) -> MachineInfo:
        """Return its name and image."""
        ...

    @property
    def folder(self) -> MachineFolder:
        """Return the folder of its disk and its snapshots."""
        ...

    @property
    def spec(self) -> DomainSpec:
        """Return how its QEMU is started."""
        ...

    @property
    def hypervisor(self) -> Hypervisor:
        """Return the hypervisor that runs it."""
        ...

    @property
    def backing(self) -> Path:
        """Return the image's disk that backs its own disk."""
        ...


FileStamp = tuple[int, int]
"""Size of a file in bytes, and its modification time in ns; a file with another stamp has changed."""


def stamp_of_file(path: Path) -> FileStamp:
    """Return the stamp of a file.

    Raises:
        OSError: the file does not exist.
    """
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def describe_change(path: Path, stamp: FileStamp) -> str:
    """Return in one line how a file differs from its stamp; empty if it does not."""
    try:
        return "" if stamp_of_file(path) == stamp else f"{path} was altered"
    except OSError:
        return f"{path} is gone"


def write_back(path: Path) -> None:
    """Sync a file to the disk, so that it survives a host crash and its modification time is final.

    Otherwise mapped RAM is written back much later, which changes the modification time.
    """
    with path.open("rb") as file:
        os.fsync(file.fileno())
