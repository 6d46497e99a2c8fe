"""Make desktop VMs for the fleet."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError, RequirementError
from appliance.base.files import digest_json
from images.builder import find
from provisioning.accelerator import find_accelerator
from provisioning.libvirt.connection import Hypervisor
from provisioning.libvirt.desktop import READY, DesktopVm, create_desktop
from provisioning.machine_folder import MachineState
from provisioning.protocols import Kind
from provisioning.zipapp import build_probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.base.settings import Settings
    from images.recipe import Image
    from provisioning.machine_folder import MachineFolder, MachineRecord

_PREFIX = f"{Kind.DESKTOP.value}-"


class DesktopMaker:
    """A `provisioning.makers.Maker` of desktop VMs.

    Args:
        settings: size of the machines, where images and the hypervisor are.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._hypervisor = Hypervisor(settings.libvirt_uri)
        self._image: Image | None = None

    def make(self, say: Callable[[str], None]) -> DesktopVm:
        """Boot a desktop, put the probe into it and save it as ``ready``.

        Raises:
            MesocosmError: it cannot be made; nothing is left of it.
        """
        accelerator = find_accelerator(self._settings)
        say(f"booting {self.image.label} under {accelerator.name}")
        machine = create_desktop(
            self._settings,
            self._hypervisor,
            self.image,
            accelerator=accelerator.name,
            stamp=self._stamp(),
        )
        try:
            machine.start()
            say(f"saving {machine.info.machine_id}")
            machine.snapshots.save(READY)
            machine.folder.mark(MachineState.READY)
        except BaseException:
            machine.delete()
            machine.folder.lock.release()
            raise
        return machine

    def attach(self, folder: MachineFolder, record: MachineRecord) -> DesktopVm:
        """Give the object for a desktop that was made before."""
        return DesktopVm(self._settings, self._hypervisor, folder, record, self.image)

    def fits(self, record: MachineRecord) -> bool:
        """Tell whether a desktop has today's image, probe, hypervisor, size and accelerator."""
        return record.details.get("stamp") == self._stamp()

    def remove_by_id(self, machine_id: str) -> None:
        """End the domain of that name; without a hypervisor there is none."""
        with contextlib.suppress(MesocosmError):
            self._hypervisor.destroy(machine_id)

    def remove_strays(self) -> list[str]:
        """End the appliance's domains that have no folder; without a hypervisor there are none."""
        gone: list[str] = []
        try:
            names = self._hypervisor.names()
        except RequirementError:
            return gone
        for name in names:
            if name.startswith(_PREFIX) and not (self._settings.machines_dir / name).is_dir():
                self._hypervisor.destroy(name)
                gone.append(f"{name}: its folder is gone")
        return gone

    @property
    def image(self) -> Image:
        """The desktop image, looked up once.

        Raises:
            ImageError: it was not built, or is corrupt.
        """
        if self._image is None:
            self._image = find("desktop", self._settings)
        return self._image

    def _stamp(self) -> str:
        """Digest all that a saved desktop depends on: a snapshot fits nothing else."""
        settings = self._settings
        return digest_json(
            {
                "image": self.image.digest,
                "hypervisor": find("hypervisor", settings).digest,
                "probe": build_probe().digest,
                "accelerator": find_accelerator(settings).name,
                "memory_mib": settings.desktop_memory_mib,
                "cpus": settings.desktop_cpus,
            }
        )
