"""Start a domain on what this host allows and has free."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from appliance.base.errors import MachineError
from provisioning.desktop.qemu.domain import domain_xml
from provisioning.desktop.qemu.identity import new_port

if TYPE_CHECKING:
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.domain import DomainSpec

_RING_REFUSED = "io_uring"
_PORT_TAKEN = "Could not set up host forwarding rule"
_PORTS_TRIED = 10


def start_domain(hypervisor: Hypervisor, spec: DomainSpec, *, paused: bool = False) -> DomainSpec:
    """Make a transient domain and start it.

    Two refusals are answered by another try. Docker from version 25 on keeps io_uring from
    containers: the domain is started with threads, as are all later ones of this process. And its
    port was drawn, so another machine may have it: another one is drawn.

    Returns:
        What was started, with the port that was free.

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
