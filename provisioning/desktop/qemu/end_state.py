"""Keeps the state of a desktop VM, RAM and disk, and starts copies of it.

The state is a snapshot inside a copy of the machine's qcow2 overlay. A fork's overlay is backed by
its template's disk, which a later template replaces, so a link to that disk is kept next to the copy.
"""

from __future__ import annotations

import logging
import os
import shutil
from typing import TYPE_CHECKING, Protocol

from foundation.errors import MachineStartError, MesocosmError, SnapshotError, ToolError
from foundation.ids import new_machine_id
from foundation.process import run
from provisioning.desktop.qemu.host import run_qemu_img
from provisioning.desktop.qemu.identity import new_port
from provisioning.desktop.qemu.migration import full_snapshots
from provisioning.desktop.qemu.rewind_base import DEVICES_AT_READY
from provisioning.desktop.qemu.saved_vm import SavedVm, describe_change, stamp_of_file
from provisioning.desktop.qemu.template import DISK
from provisioning.end_state import END
from provisioning.machine_folder import MachineFolder, create_folder
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.record import QemuRecord
    from provisioning.machine_folder import MachineClaim
    from provisioning.protocols import Link

_LOG = logging.getLogger(__name__)
_BASE = "base.qcow2"
_COPY = "kept.qcow2"
_COPY_TIMEOUT_S = 300.0
_DISK_TIMEOUT_S = 60.0


class LinkedVm(SavedVm, Protocol):
    """A VM with a link to its probe."""

    @property
    def link(self) -> Link:
        """Return the link to its probe."""
        ...

    def launch(self, *, paused: bool = False) -> None:
        """Start its QEMU."""
        ...


def keep_desktop(settings: Settings, vm: SavedVm, record: QemuRecord, folder: Path) -> None:
    """Keep the state of a running desktop; its guest is paused meanwhile.

    Args:
        settings: location of the hypervisor.
        vm: the desktop.
        record: its record.
        folder: an empty folder.

    Raises:
        SnapshotError: QEMU could not save the state, or the disk could not be copied.
        MachineError: QEMU is gone.
        ToolError: the copy of the disk could not be changed or moved.
    """
    copy = vm.folder.path / _COPY  # where the hypervisor's programs find it
    try:
        _copy_with_state(vm, copy)
        others = [path.stem for path in (vm.folder.path / "snapshots").glob("*.json")]
        for other in [*others, *([DEVICES_AT_READY] if record.template is None else [])]:
            _forget_snapshot(settings, copy, other)
        if record.template is not None:
            _link(record.template / DISK, folder / _BASE)
            rebase = ("rebase", "-u", "-F", "qcow2", "-b", _BASE, str(copy))
            run_qemu_img(settings, *rebase, timeout_s=_DISK_TIMEOUT_S)
        _move(copy, folder / DISK)
    finally:
        copy.unlink(missing_ok=True)
    kept = {"template": None, "is_fork": False, "backing": stamp_of_file(vm.backing)}
    MachineFolder(folder).write(record.model_copy(update=kept))


def copy_kept(
    folder: Path, record: QemuRecord, settings: Settings, backing: Path
) -> tuple[MachineClaim, QemuRecord]:
    """Create the folder of a copy of a kept desktop, without starting it.

    Args:
        folder: where the desktop was kept.
        record: the kept desktop's record.
        settings: location of machines.
        backing: the image's disk, which backs the desktop's own.

    Raises:
        MachineStartError: the image's disk has changed since the desktop was kept.
        ToolError: the disk cannot be copied.
    """
    if wrong := describe_change(backing, record.backing or (0, 0)):
        raise MachineStartError(
            f"The backing disk of the kept {record.machine_id} has changed.",
            details=wrong,
            resolution="Its image was rebuilt, so the kept state can no longer be started; run the "
            "trial again.",
        )
    fresh = {
        "machine_id": new_machine_id(DESKTOP),
        "ssh_port": new_port(),
        "state": MachineState.STARTING,
        "is_fork": True,
    }
    copy = record.model_copy(update=fresh)
    claim = create_folder(settings.machines_dir, copy.machine_id)
    try:
        _copy(folder / DISK, claim.folder.path / DISK)
        if (folder / _BASE).is_file():
            _link(folder / _BASE, claim.folder.path / _BASE)
        return claim, claim.folder.write(copy)
    except BaseException:
        claim.folder.remove()
        claim.release()
        raise


def start_copy(vm: LinkedVm) -> None:
    """Start the copy of a kept desktop in its kept state; its clock continues from that time.

    Raises:
        SnapshotError: QEMU did not load the state.
        LinkError: the guest does not answer.
        MachineError: libvirt or QEMU refused.
    """
    hypervisor, name = vm.hypervisor, vm.info.machine_id
    vm.launch(paused=True)
    _monitor(
        hypervisor,
        name,
        f"loadvm {END}",
        resolution="If it was kept by an older Mesocosm, whose desktops had other virtual hardware, it "
        "can no longer be started: run the trial again.",
    )
    hypervisor.lifecycle.forget(name)
    hypervisor.resume(name)
    vm.link.call("ping")
    vm.folder.mark(MachineState.LEASED)


def _copy_with_state(vm: SavedVm, copy: Path) -> None:
    """Copy a running desktop's disk, with its present state as a snapshot."""
    hypervisor, name = vm.hypervisor, vm.info.machine_id
    with full_snapshots(hypervisor, name):
        _monitor(hypervisor, name, f"savevm {END}")
    try:
        hypervisor.qmp(name, "stop")  # also flushes QEMU's disk caches
        try:
            _copy(vm.spec.disk, copy)
        finally:
            hypervisor.resume(name)
    except MesocosmError as exc:
        raise SnapshotError(f"The disk of {name} could not be kept.", str(exc)) from exc
    finally:
        _monitor(hypervisor, name, f"delvm {END}")


def _forget_snapshot(settings: Settings, disk: Path, name: str) -> None:
    """Remove another snapshot from a copy, and release its space to the host."""
    options = "driver=qcow2,discard=unmap,pass-discard-snapshot=on,file.driver=file"
    options += f",file.discard=unmap,file.filename={str(disk).replace(',', ',,')}"
    delete = ("snapshot", "--image-opts", "-d", name, options)
    try:
        run_qemu_img(settings, *delete, timeout_s=_DISK_TIMEOUT_S)
    except ToolError as exc:  # the copy is then larger than necessary
        _LOG.debug("the snapshot %s could not be removed from %s: %s", name, disk, exc.details)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copyfile(source, target)


def _move(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError:  # another file system
        _copy(source, target)


def _copy(source: Path, target: Path) -> None:
    run(
        ["cp", "--sparse=always", "--reflink=auto", str(source), str(target)],
        timeout_s=_COPY_TIMEOUT_S,
    ).require("Check the free space of the state folder with `mesocosm doctor`.")


def _monitor(
    hypervisor: Hypervisor,
    name: str,
    command: str,
    *,
    resolution: str = "Check the free space of the state folder with `mesocosm doctor`.",
) -> None:
    try:
        output = hypervisor.monitor(name, command)
    except MesocosmError as exc:
        raise SnapshotError(f"QEMU did not carry out {command} of {name}.", str(exc)) from exc
    if output:
        raise SnapshotError(
            f"QEMU refused {command} of {name}.",
            details=output,
            resolution=resolution,
        )
