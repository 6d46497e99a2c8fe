"""Captures the current state of a desktop, RAM and disk, as an image's disk and a template.

The machine pauses while its disk is copied; it keeps its state.
"""

from __future__ import annotations

import logging
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import SnapshotError
from foundation.files import write_atomic
from provisioning.desktop.qemu.creation import make_overlay
from provisioning.desktop.qemu.domain import (
    INPUT_SOCKET,
    PROBE_SOCKET,
    SERIAL_LOG,
    STREAMS_SOCKET,
)
from provisioning.desktop.qemu.host import run_qemu_img
from provisioning.desktop.qemu.identity import new_port
from provisioning.desktop.qemu.migration import full_snapshots, save_stream
from provisioning.desktop.qemu.rewind_base import RAM
from provisioning.desktop.qemu.saved_vm import stamp_of_file, write_back
from provisioning.desktop.qemu.starting import start_domain
from provisioning.desktop.qemu.template import (
    DEVICES,
    DIGEST,
    DISK,
    RECORD,
    TEMPLATE_PREFIX,
    Template,
    TemplateRecord,
    copy_sparse,
    making_templates,
    template_path,
)
from provisioning.reset.saved_state import picture_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.desktop.qemu.migration import StreamChecksum

_log = logging.getLogger(__name__)
_SNAPSHOT = "hand-made"
_FLAT = "flat.qcow2"
_CONVERT_TIMEOUT_S = 1800.0
_REBASE_TIMEOUT_S = 60.0
_LEFT = (SERIAL_LOG, PROBE_SOCKET, STREAMS_SOCKET, INPUT_SOCKET, "vnc.sock")


@dataclass(frozen=True)
class Capture:
    """The captured state of a desktop, until the end of the block that captured it.

    Attributes:
        folder: holds the RAM, the devices, the state to verify forks by, and the copied disk.
        stream: checksum of the devices.
        start_s: when the capture began.
    """

    folder: Path
    stream: StreamChecksum
    start_s: float

    def flatten_disk(self, settings: Settings, target: Path) -> None:
        """Write the whole disk, without backing files and without RAM.

        Args:
            settings: locate the hypervisor.
            target: file to create.

        Raises:
            ToolError: the disk cannot be written.
        """
        flat = self.folder / _FLAT  # where the hypervisor's programs may write
        convert = ("convert", "-q", "-W", "-O", "qcow2", str(self.folder / DISK), str(flat))
        run_qemu_img(settings, *convert, timeout_s=_CONVERT_TIMEOUT_S)
        try:
            flat.replace(target)
        except OSError:  # another file system
            copy_sparse(flat, target)
            flat.unlink()

    def install(self, settings: Settings, image: Image, stamp: str) -> Template:
        """Turn it into the template of an image whose disk is the flattened one.

        Args:
            settings: locate templates.
            image: the image.
            stamp: digest of everything the template depends on.

        Raises:
            ToolError: the empty overlay cannot be created.
            OSError: the folder cannot be moved.
        """
        (self.folder / DISK).unlink(missing_ok=True)
        return install_template(
            settings, self.folder, image, stamp, self.stream, start_s=self.start_s
        )


@contextmanager
def captured(settings: Settings, vm: DesktopVm) -> Iterator[Capture]:
    """Capture a running desktop for a block; what is not used of it is removed at its end.

    Raises:
        MachineBusyError: another process makes a template.
        SnapshotError: the state cannot be saved, or could never be verified.
        MachineError: QEMU is gone or refused.
    """
    with making_templates(settings, vm.info.machine_id) as folder:
        start_s = SYSTEM_CLOCK.monotonic_s()
        _copy_state(vm, folder)
        stream = _convert(vm, folder)
        yield Capture(folder, stream, start_s)


def install_template(
    settings: Settings,
    folder: Path,
    image: Image,
    stamp: str,
    stream: StreamChecksum,
    *,
    start_s: float,
) -> Template:
    """Complete a folder with RAM, devices and saved state, and make it a template.

    Args:
        settings: locate templates.
        folder: a folder of `making_templates`, or below it; its disk, if it has one, has what was
            written to the image's disk until that state.
        image: the image.
        stamp: digest of everything the template depends on.
        stream: checksum of the devices.
        start_s: when the making began.
    """
    backing = image.file(DISK)
    if (folder / DISK).exists():
        rebase = ("rebase", "-u", "-F", "qcow2", "-b", str(backing), str(folder / DISK))
        run_qemu_img(settings, *rebase, timeout_s=_REBASE_TIMEOUT_S)
    else:
        make_overlay(settings, backing, folder / DISK)
    for name in (RAM, DEVICES, DISK, DIGEST):
        write_back(folder / name)
    record = TemplateRecord(
        stamp=stamp,
        image=image.label,
        backing=str(backing),
        files={
            **{name: stamp_of_file(folder / name) for name in (RAM, DEVICES, DISK, DIGEST)},
            str(backing): stamp_of_file(backing),
        },
        stream=stream,
        seconds=round(SYSTEM_CLOCK.monotonic_s() - start_s, 3),
    )
    write_atomic(folder / RECORD, record.model_dump_json(indent=1))
    path = template_path(settings, stamp)
    shutil.rmtree(path, ignore_errors=True)
    folder.rename(path)
    return Template(path, record)


def _copy_state(vm: DesktopVm, folder: Path) -> None:
    """Save the state as a snapshot, copy the disk with it, and remove the snapshot again."""
    vm.snapshots.save(_SNAPSHOT)
    try:
        vm.hypervisor.qmp(vm.info.machine_id, "stop")  # also flushes QEMU's disk caches
        try:
            copy_sparse(vm.spec.disk, folder / DISK)
        finally:
            vm.hypervisor.resume(vm.info.machine_id)
        state = vm.folder.path / "snapshots" / f"{_SNAPSHOT}.json"
        shutil.copyfile(state, folder / DIGEST)
        shutil.copyfile(picture_path(state), picture_path(folder / DIGEST))
    finally:
        vm.snapshots.delete_snapshot(_SNAPSHOT)


def _convert(vm: DesktopVm, folder: Path) -> StreamChecksum:
    """Load the snapshot into a QEMU whose RAM is a file, and save its devices."""
    spec = replace(
        vm.spec,
        name=f"{TEMPLATE_PREFIX}{vm.info.machine_id}",
        folder=folder,
        ssh_port=new_port(),
        ram=folder / RAM,
        is_template=True,
        is_incoming=False,
    )
    _log.info("converting the state of %s in %s", vm.info.machine_id, folder)
    start_domain(vm.hypervisor, spec, paused=True)
    try:
        with full_snapshots(vm.hypervisor, spec.name):
            output = vm.hypervisor.monitor(spec.name, f"loadvm {_SNAPSHOT}")
        if output:
            raise SnapshotError("The saved state could not be loaded.", details=output)
        return save_stream(vm.hypervisor, spec.name, folder / DEVICES)
    finally:
        vm.hypervisor.destroy(spec.name)
        for name in _LEFT:
            (folder / name).unlink(missing_ok=True)
