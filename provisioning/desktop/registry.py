"""The desktop backends, by the name that `MESOCOSM_DESKTOP` has.

A new one is a folder beside this file, its record in `DesktopRecord`, an entry in `DESKTOPS`, and
its name in `appliance.base.settings`.

All backends are made on every host, as machines of each can be attached, so a backend imports the
library that it talks through late, and removing strays is harmless without its host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from provisioning.desktop.container.record import ContainerRecord
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.desktop.remote.record import RemoteRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.machine_record import BaseRecord

DesktopRecord = QemuRecord | ContainerRecord | RemoteRecord
"""The record of a desktop of any backend."""


@dataclass(frozen=True, slots=True)
class DesktopBackend:
    """One way to make desktops.

    Attributes:
        record: class of its machines' records.
        backend: module and class of a `provisioning.fleet.backend.Backend`, as ``module:Class``.
        images: what its machines are made from, in the order of their building; the last one's
            recipe is that of the desktop.
        forked_from: what forks of its machines are made from: a ``template`` that was saved, a
            ``machine`` that is there, or ``nothing``, as it cannot fork.
    """

    record: type[BaseRecord]
    backend: str
    images: tuple[str, ...] = ()
    forked_from: Literal["template", "machine", "nothing"] = "nothing"

    @property
    def recorded_name(self) -> str:
        """What records call it."""
        return str(self.record.model_fields["backend"].default)

    @property
    def recipe(self) -> str | None:
        """The image that its machines start from; None where there is none."""
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
"""By the name that `MESOCOSM_DESKTOP` has."""
