"""A fleet whose desktops are of an image that machines are not made of yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.fleet.host_backends import HostBackends
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.fleet.backend import Backend
    from provisioning.machine_record import MachineRecord


class CandidateBackends(HostBackends):
    """The backends of this host, except that every desktop is of one given image.

    Its machines have a specification of their own, so that machines of the image which is current
    under the same name are neither leased nor removed.

    Args:
        settings: configure the backends.
        image: a custom image.
    """

    def __init__(self, settings: Settings, image: Image) -> None:
        super().__init__(settings)
        self._image = image
        self._spec = ResourceSpec(DESKTOP, f"{image.variant}@{image.digest}")
        name = ResourceSpec(DESKTOP, image.variant)
        self._backend = QemuBackend(settings, name, image=image, is_candidate=True)

    def resolve(self, spec: ResourceSpec) -> ResourceSpec:
        """Return the specification of the image's machines for every desktop."""
        return self._spec if spec.kind == DESKTOP else super().resolve(spec)

    def of(self, spec: ResourceSpec) -> Backend:
        """Return the backend of a resolved specification."""
        return self._backend if spec == self._spec else super().of(spec)

    def of_record(self, record: MachineRecord) -> Backend | None:
        """Return the backend of an existing resource."""
        return self._backend if self._is_own(record) else super().of_record(record)

    def spec_of(self, record: MachineRecord) -> ResourceSpec:
        """Return the specification that an existing resource was made for."""
        return self._spec if self._is_own(record) else super().spec_of(record)

    def is_offered(self, record: MachineRecord) -> bool:
        """Return whether a resource can be leased."""
        return self._is_own(record) or super().is_offered(record)

    def _is_own(self, record: MachineRecord) -> bool:
        return (record.image, record.image_digest) == (self._image.label, self._image.digest)


def open_candidate_fleet(
    image: Image, settings: Settings, say: Callable[[str], None]
) -> LocalFleet:
    """Return a fleet whose desktops are of an image; it starts no standby forks.

    Args:
        image: a custom image.
        settings: of the appliance.
        say: called with one line of progress.
    """
    backends = CandidateBackends(settings, image)
    return LocalFleet(settings, backends, say=say, refill=lambda _spec: None)
