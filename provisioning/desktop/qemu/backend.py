"""The fleet's backend of desktop VMs."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from foundation.cancel import ended_by
from foundation.errors import (
    ImageError,
    MachineError,
    MesocosmError,
    RequirementError,
    SnapshotError,
)
from foundation.files import digest_json
from foundation.logging import suppress_logged
from images.builder import find
from images.custom.product import ImageProduct, sizes_of
from images.custom.registered import require_not_failed
from images.desktop.recipe import DISK
from provisioning.accelerator.detection import find_accelerator
from provisioning.accelerator.host_cpu import read_host_cpu
from provisioning.desktop.qemu.connection import Hypervisor
from provisioning.desktop.qemu.creation import create_desktop, create_fork
from provisioning.desktop.qemu.domain import hardware
from provisioning.desktop.qemu.end_state import copy_kept, start_copy
from provisioning.desktop.qemu.machine import DesktopVm
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.desktop.qemu.template import (
    TEMPLATE_PREFIX,
    find_template,
    is_being_made,
    keep_only,
    make_template,
    open_template,
    remove_template,
)
from provisioning.handle import MachineHandle
from provisioning.links.zipapp import build_probe
from provisioning.machine_state import MachineState
from provisioning.protocols import READY
from provisioning.resource import DESKTOP, ResourceSpec
from provisioning.review.desktop import review_desktop
from provisioning.specification.session import prepare_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foundation.cancel import CancelToken
    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.handle import HostResource
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import ResetReport

_log = logging.getLogger(__name__)

_PREFIX = f"{DESKTOP}-"
_DEFAULT = ResourceSpec(DESKTOP)


class QemuBackend:
    """A `provisioning.fleet.backend.Backend` of desktop VMs.

    Args:
        settings: size of the machines, and locations of images and the hypervisor.
        spec: names the image; by default, the one that settings choose.
        image: the image, if it is not the current one of its name.
        is_candidate: whether the image is not used yet: templates of the current one of its name stay.
    """

    def __init__(
        self,
        settings: Settings,
        spec: ResourceSpec = _DEFAULT,
        *,
        image: Image | None = None,
        is_candidate: bool = False,
    ) -> None:
        self._given_settings = settings
        self._is_candidate = is_candidate
        self._spec = spec
        self._label = f"desktop:{spec.image}" if spec.image else "desktop"
        self._hypervisor = Hypervisor(settings.libvirt_uri)
        self._image = image
        self._stamp = ""

    @property
    def _settings(self) -> Settings:
        """Return the settings, with the size of machines that the image asks for."""
        size = {} if self._image is None else sizes_of(self._image)
        return self._given_settings.model_copy(update=size) if size else self._given_settings

    @property
    def machine_mib(self) -> int:
        """Return the memory that a new desktop may use, MiB: its RAM."""
        if self._spec.image:
            with suppress_logged(_log, "read the size of machines", ImageError):
                _ = self.image
        return self._settings.desktop_memory_mib

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a desktop may use, MiB; for a fork, its reservation."""
        if isinstance(record, QemuRecord) and not record.is_fork:
            return record.memory_mib
        return self.fork_mib

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[DesktopVm]:
        """Boot a desktop, deploy the probe to it and save it as ``ready``.

        Args:
            say: called with one line of progress before slow steps.
            cancel: ends QEMU, and with it every wait for the guest.

        Raises:
            CancelledError: the call was cancelled.
            MesocosmError: the desktop cannot be made; nothing of it remains.
        """
        accelerator = find_accelerator(self._settings)
        say(f"booting {self.image.label} under {accelerator.name}")
        handle = create_desktop(
            self._settings,
            self._hypervisor,
            self.image,
            accelerator=accelerator,
            stamp=self.stamp(),
        )
        machine, end = handle.machine, partial(self.remove_by_id, handle.folder.machine_id)
        try:
            with ended_by(cancel, end):
                machine.start(cancel=cancel)
                prepare_session(machine, ImageProduct.of(self.image).session, say)
                say("reviewing the desktop")
                self._review(machine, say)
                say(f"saving {machine.info.machine_id}")
                machine.snapshots.save(READY)
                # Restart from the snapshot: this proves it, and frees the memory of unused pages.
                machine.stop()
            with ended_by(cancel, end):
                machine.start()
                self.ensure_template(machine, say)
            machine.folder.mark(MachineState.READY)
        except BaseException:
            handle.delete()
            raise
        return handle

    def _review(self, machine: DesktopVm, say: Callable[[str], None]) -> None:
        """Reject a desktop whose faults every reset would reproduce; warn of a changed picture."""
        review = review_desktop(machine, warns_of_picture=not self._is_candidate)
        for line in review.warnings:
            say(f"warning: {line}")
        name = machine.info.machine_id
        review.require_faultless(name, self._settings.refused_dir / f"{name}.png")

    def ensure_template(self, machine: HostResource, say: Callable[[str], None]) -> None:
        """Create the template if it is missing, from a desktop at ``ready``."""
        if not isinstance(machine, DesktopVm) or machine.template is not None:
            return
        if find_template(self._settings, self.stamp()) is not None:
            return
        say("creating the template for forks")
        try:
            make_template(self._settings, machine, self.stamp(), keeps_others=self._is_candidate)
        except MesocosmError as exc:
            say(f"no forks: {exc.brief}")

    def remove_template(self) -> None:
        """Remove the template of the image, if there is one."""
        remove_template(self._settings, self.stamp())

    def remove_other_templates(self) -> None:
        """Remove the templates of other images of its name."""
        keep_only(self._settings, self.stamp(), self.image.label)

    @property
    def fork_mib(self) -> int:
        """Return the memory reserved for a fork, MiB: what it and its trial may write to."""
        return self._settings.fork_reserve_mib

    def has_template(self) -> bool:
        """Return whether there is a template of the current image to start forks from."""
        return find_template(self._settings, self.stamp()) is not None

    def start_standby(
        self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
    ) -> MachineHandle[DesktopVm] | None:
        """Start the QEMU of a standby fork, ready to be woken; return None if there is no template.

        Args:
            is_rehearsed: False skips the rehearsal of the wake, for a fork that is woken at once.
            cancel: ends QEMU, and with it every wait for the guest.

        Raises:
            CancelledError: the call was cancelled.
            MesocosmError: the fork cannot be started; nothing of it remains.
        """
        template = find_template(self._settings, self.stamp())
        if template is None:
            return None
        accelerator = find_accelerator(self._settings)
        handle = create_fork(self._settings, self._hypervisor, self.image, template, accelerator)
        try:
            with ended_by(cancel, partial(self.remove_by_id, handle.folder.machine_id)):
                handle.machine.start_standby(template, is_rehearsed=is_rehearsed)
        except BaseException:
            handle.delete()
            raise
        return handle

    def is_up(self, machine_id: str) -> bool:
        """Return whether the QEMU of a fork exists, waiting or running.

        Raises:
            MesocosmError: the hypervisor does not answer.
        """
        return self._hypervisor.state(machine_id) in {"running", "paused"}

    def wake(self, machine: HostResource) -> ResetReport:
        """Turn a standby fork into a verified copy of its template.

        Raises:
            MesocosmError: the wake failed; the fork must not be used.
        """
        if not isinstance(machine, DesktopVm) or machine.template is None:
            raise SnapshotError(f"{machine.info.machine_id} is not a fork.")
        return machine.wake(open_template(machine.template))

    def attach(self, folder: MachineFolder, record: MachineRecord) -> DesktopVm:
        """Return the object for an existing desktop of this image.

        Raises:
            MachineError: the record is not that of a VM.
            ImageError: its image is not built, or is corrupt.
        """
        if not isinstance(record, QemuRecord):
            raise MachineError(f"{record.machine_id} is not a virtual machine.")
        return DesktopVm(self._settings, self._hypervisor, folder, record, self.image)

    def unkeepable_reason(self) -> str:
        """Return an empty string: desktop VMs can be kept."""
        return ""

    def start_kept(self, folder: Path, record: MachineRecord) -> MachineHandle[DesktopVm]:
        """Start a copy of a kept desktop in its kept state.

        Raises:
            MachineError: it is not a VM, its image has changed, or QEMU did not load its state.
            ImageError: its image is not built, or is corrupt.
            LinkError: its guest does not answer.
        """
        if not isinstance(record, QemuRecord):
            raise MachineError(f"{record.machine_id} is not a virtual machine.")
        claim, fresh = copy_kept(folder, record, self._settings, self.image.file(DISK))
        vm = DesktopVm(self._settings, self._hypervisor, claim.folder, fresh, self.image)
        handle = MachineHandle(vm, claim)
        try:
            start_copy(vm)
        except BaseException:
            handle.delete()
            raise
        return handle

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a desktop has the current image, probe, hypervisor, size and accelerator.

        It does not if an image that is not the default is not built.

        Raises:
            ImageError: the default image is not built, or is corrupt.
        """
        try:
            return record.stamp == self.stamp()
        except ImageError:
            if self._spec.image:
                return False
            raise

    def remove_by_id(self, machine_id: str) -> None:
        """End the domain with that name; without a hypervisor there is none."""
        with suppress_logged(_log, f"end {machine_id}", MesocosmError):
            self._hypervisor.destroy(machine_id)

    def remove_strays(self) -> list[str]:
        """End the appliance's domains that have no folder; without a hypervisor there are none."""
        gone: list[str] = []
        try:
            names = self._hypervisor.names()
        except RequirementError:
            return gone
        for name in names:
            if name.startswith(TEMPLATE_PREFIX) and not is_being_made(self._settings):
                self._hypervisor.destroy(name)
                gone.append(f"{name}: the process that made it is gone")
            if name.startswith(_PREFIX) and not (self._settings.machines_dir / name).is_dir():
                self._hypervisor.destroy(name)
                gone.append(f"{name}: its folder is gone")
        return gone

    def require_host(self) -> None:
        """Check that the hypervisor answers; waits briefly if it is restarting.

        Raises:
            RequirementError: the hypervisor does not answer.
        """
        self._hypervisor.require()

    @property
    def image(self) -> Image:
        """Return the desktop image, which is looked up once.

        Raises:
            ImageError: the image is not built, or is corrupt.
        """
        if self._image is None:
            found = find(self._label, self._given_settings)
            require_not_failed(found.variant, found.digest, self._given_settings)
            self._image = found
        return self._image

    def stamp(self) -> str:
        """Return the digest of everything a saved desktop depends on; computed once.

        A snapshot can be loaded only with exactly these dependencies.
        """
        if not self._stamp:
            self._stamp = self._digest_dependencies()
        return self._stamp

    def _digest_dependencies(self) -> str:
        product = ImageProduct.of(self.image)
        settings = self._settings
        accelerator = find_accelerator(settings)
        is_kvm = accelerator.name == "kvm"
        return digest_json(
            {
                "image": self.image.digest,
                "hypervisor": find("hypervisor", settings).digest,
                "probe": build_probe().digest,
                "domain": hardware(
                    accelerator.name,
                    memory_mib=settings.desktop_memory_mib,
                    cpus=settings.desktop_cpus,
                    cpu_without=accelerator.cpu_without,
                    screen=product.machine.screen or "",
                ),
                "cpu": read_host_cpu().model_dump(mode="json") if is_kvm else {},
            }
        )
