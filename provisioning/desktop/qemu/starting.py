"""Starts a domain with the disk I/O and the port that this host permits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foundation.errors import MachineError
from provisioning.desktop.qemu.domain import domain_xml
from provisioning.desktop.qemu.identity import new_port

if TYPE_CHECKING:
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.domain import DomainSpec

_RING_REFUSED = "io_uring"
_PORT_TAKEN = "Could not set up host forwarding rule"
_PORTS_TRIED = 10


def start_domain(hypervisor: Hypervisor, spec: DomainSpec, *, paused: bool = False) -> DomainSpec:
    """Create a transient domain and start it.

    Two refusals are retried. Docker 25 and later denies io_uring to containers: this domain and all
    later ones of this process then use threads. And the randomly chosen port may be in use: then
    another one is chosen.

    Returns:
        The spec of the started domain, with the port that was free.

    Raises:
        MachineError: libvirt or QEMU refused.
    """
    hypervisor.lifecycle.forget(spec.name)
    ports_left = _PORTS_TRIED
    while True:
        if not hypervisor.has_io_uring:
            spec = replace(spec, disk_io="threads")
        try:
            hypervisor.create(domain_xml(spec), paused=paused)
        except MachineError as exc:
            if hypervisor.has_io_uring and _RING_REFUSED in exc.details:
                hypervisor.has_io_uring = False
            elif ports_left > 1 and _PORT_TAKEN in exc.details:
                ports_left -= 1
                spec = replace(spec, ssh_port=new_port())
            else:
                raise
        else:
            return spec
