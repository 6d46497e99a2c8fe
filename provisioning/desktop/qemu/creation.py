"""Creates the folder, the record and the disk of a new desktop VM."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.ids import new_machine_id
from images.custom.fixed import HAND_MADE
from images.custom.product import ImageProduct
from images.desktop.recipe import DISK
from images.manifest import read_manifest
from provisioning.desktop.probed import AGENT_HOME, AGENT_USER
from provisioning.desktop.qemu.host import run_qemu_img
from provisioning.desktop.qemu.identity import new_mac, new_port
from provisioning.desktop.qemu.machine import DesktopVm
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.desktop.qemu.saved_vm import stamp_of_file
from provisioning.handle import MachineHandle
from provisioning.machine_folder import create_folder
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.accelerator.detection import Accelerator
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.template import Template

_log = logging.getLogger(__name__)


def create_desktop(
    settings: Settings,
    hypervisor: Hypervisor,
    image: Image,
    *,
    accelerator: Accelerator,
    stamp: str,
) -> MachineHandle[DesktopVm]:
    """Create the folder, record and overlay of a new desktop, without starting it.

    Args:
        settings: size of the machine, and location of machines.
        hypervisor: the libvirtd that will run it.
        image: the image that it starts from.
        accelerator: the host's accelerator.
        stamp: stored in its record, to check later whether the machine is still current.

    Raises:
        MachineBusyError: another process uses a machine with its id.
        ToolError: the overlay could not be created.
        RequirementError: the hypervisor container is not running.
    """
    disk = image.file(DISK)
    record = _describe(settings, image, accelerator, stamp).model_copy(
        update={"backing": stamp_of_file(disk)}
    )
    return _create(settings, hypervisor, image, disk, record)


def create_fork(
    settings: Settings,
    hypervisor: Hypervisor,
    image: Image,
    template: Template,
    accelerator: Accelerator,
) -> MachineHandle[DesktopVm]:
    """Create the folder, record and overlay of a new fork, without starting it.

    Args:
        settings: size of the machine, and location of machines.
        hypervisor: the libvirtd that will run it.
        image: the image that the template was made from.
        template: the template that it will be a copy of.
        accelerator: the template's accelerator.

    Raises:
        MachineBusyError: another process uses a machine with its id.
        ToolError: the overlay could not be created.
        RequirementError: the hypervisor container is not running.
    """
    record = _describe(settings, image, accelerator, template.record.stamp).model_copy(
        update={"template": template.path, "is_fork": True}
    )
    return _create(settings, hypervisor, image, template.disk, record)


def _create(
    settings: Settings,
    hypervisor: Hypervisor,
    image: Image,
    backing: Path,
    record: QemuRecord,
) -> MachineHandle[DesktopVm]:
    _log.info("creating %s on %s", record.machine_id, backing)
    claim = create_folder(settings.machines_dir, record.machine_id)
    folder = claim.folder
    try:
        overlay = folder.path / "disk.qcow2"
        make_overlay(settings, backing, overlay)
        folder.write(record)
    except BaseException:
        folder.remove()
        claim.release()
        raise
    return MachineHandle(DesktopVm(settings, hypervisor, folder, record, image), claim)


def make_overlay(settings: Settings, backing: Path, overlay: Path) -> None:
    """Create an empty qcow2 overlay on top of an image.

    Raises:
        ToolError: qemu-img failed.
        RequirementError: the hypervisor container is not running.
    """
    files = ("-F", "qcow2", "-b", str(backing), str(overlay))
    run_qemu_img(settings, "create", "-q", "-f", "qcow2", *files, timeout_s=60)


def _describe(settings: Settings, image: Image, accelerator: Accelerator, stamp: str) -> QemuRecord:
    notes = read_manifest(image.path).notes
    return QemuRecord(
        machine_id=new_machine_id(DESKTOP),
        kind=DESKTOP,
        image=image.label,
        image_digest=image.digest,
        accelerator=accelerator.name,
        cpu_without=accelerator.cpu_without,
        user=AGENT_USER,
        home=AGENT_HOME,
        browser=notes.get("browser", ""),
        is_hand_made=HAND_MADE in notes,
        stamp=stamp,
        created_s=SYSTEM_CLOCK.now_s(),
        memory_mib=settings.desktop_memory_mib,
        cpus=settings.desktop_cpus,
        ssh_port=new_port(),
        mac=new_mac(),
        screen=ImageProduct.of(image).machine.screen or "",
    )
