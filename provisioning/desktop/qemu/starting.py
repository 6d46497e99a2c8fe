"""Start a domain with the fastest way to its disk that this host allows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from appliance.base.errors import MachineError
from provisioning.desktop.qemu.domain import domain_xml

if TYPE_CHECKING:
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.domain import DomainSpec

_REFUSED = "io_uring"


def start_domain(hypervisor: Hypervisor, spec: DomainSpec, *, paused: bool = False) -> None:
    """Make a transient domain and start it.

    Docker from version 25 on keeps io_uring from containers; QEMU then says so and ends, and the
    domain is started with threads, as are all later ones of this process.

    Raises:
        MachineError: libvirt or QEMU refused.
    """
    hypervisor.lifecycle.forget(spec.name)
    if hypervisor.has_io_uring:
        try:
            hypervisor.create(domain_xml(spec), paused=paused)
        except MachineError as exc:
            if _REFUSED not in exc.details:
                raise
            hypervisor.has_io_uring = False
        else:
            return
    hypervisor.create(domain_xml(replace(spec, disk_io="threads")), paused=paused)
