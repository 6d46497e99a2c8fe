"""The desktop backends, by their name in `MESOCOSM_DESKTOP`.

A new backend needs a folder next to this file, its record in `DesktopRecord`, an entry in
`DESKTOPS`, and its name in `foundation.settings`.

Every host constructs all backends, as it can attach machines of each. So a backend must import its
client library late, and removing strays must do nothing if the backend's host is absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from provisioning.desktop.container.record import ContainerRecord
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.desktop.remote.record import RemoteRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.machine_record import MachineRecord

DesktopRecord = QemuRecord | ContainerRecord | RemoteRecord
"""The record of a desktop of any backend."""


@dataclass(frozen=True, slots=True)
class DesktopBackend:
    """A backend of desktops.

    Attributes:
        record: class of its machines' records.
        backend: module and class of a `provisioning.fleet.backend.Backend`, as ``module:Class``.
        images: images that its machines are made from, in build order; the last one is the
            desktop's.
        forked_from: what its forks are made from: a saved ``template``, an existing ``machine``,
            or ``nothing`` if it cannot fork.
    """

    record: type[MachineRecord]
    backend: str
    images: tuple[str, ...] = ()
    forked_from: Literal["template", "machine", "nothing"] = "nothing"

    @property
    def recorded_name(self) -> str:
        """Return its name in records."""
        return str(self.record.model_fields["backend"].default)

    @property
    def recipe(self) -> str | None:
        """Return the image that its machines start from; None if there is none."""
        return self.images[-1] if self.images else None


DESKTOPS: Mapping[str, DesktopBackend] = {
    "vm": DesktopBackend(
        QemuRecord,
        "provisioning.desktop.qemu.backend:QemuBackend",
        ("hypervisor", "desktop"),
        forked_from="template",
    ),
    "container": DesktopBackend(
        ContainerRecord,
        "provisioning.desktop.container.backend:ContainerBackend",
        ("desktop-container",),
        forked_from="machine",
    ),
    "remote": DesktopBackend(RemoteRecord, "provisioning.desktop.remote.backend:RemoteBackend"),
}
"""The desktop backends by their name in `MESOCOSM_DESKTOP`."""
