"""What a trial takes of a host: one of its places, and memory for its machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.executors.cluster.records import HOST_PREFIX, MACHINES_MIB
from provisioning.fleet.backend import ForkingBackend
from provisioning.fleet.host_backends import HostBackends

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from foundation.settings import Settings
    from provisioning.resource import ResourceSpec


@dataclass(frozen=True, slots=True)
class HostState:
    """A host of the cluster, as Ray sees it.

    Attributes:
        name: name of the host.
        node_id: of its Ray node.
        total: its resources.
        free: those that no task uses.
    """

    name: str
    node_id: str
    total: Mapping[str, float]
    free: Mapping[str, float]

    @property
    def trials(self) -> int:
        """Number of trials that it executes at the same time, at most."""
        return int(self.total.get("CPU", 0))

    @property
    def places(self) -> int:
        """Number of further trials that it could execute now."""
        return int(self.free.get("CPU", 0))

    @property
    def free_mib(self) -> int:
        """Memory that is free for machines of further trials, MiB."""
        return int(self.free.get(MACHINES_MIB, 0))


def read_hosts(
    nodes: Iterable[Mapping[str, object]], free: Mapping[str, Mapping[str, float]]
) -> list[HostState]:
    """Return the hosts that answer, sorted by name; the head is none.

    Args:
        nodes: rows of ``ray.nodes()``.
        free: resources that no task uses, by node id.
    """
    hosts = []
    for node in nodes:
        total = node.get("Resources")
        if not node.get("Alive") or not isinstance(total, dict):
            continue
        for resource in total:
            if resource.startswith(HOST_PREFIX):
                node_id = str(node["NodeID"])
                name = resource.removeprefix(HOST_PREFIX)
                hosts.append(HostState(name, node_id, total, free.get(node_id, {})))
    return sorted(hosts, key=lambda host: host.name)


def choose_host(
    hosts: Sequence[HostState],
    machines_mib: int,
    pending: Mapping[str, int],
    excluded: Collection[str] = (),
) -> HostState | None:
    """Return the host with the most free places for a trial; None if none has one now.

    Args:
        hosts: the hosts that answer.
        machines_mib: what the trial's machines may use.
        pending: number of trials that were sent to a host, by its name, and have not begun there.
        excluded: names of hosts that must not be chosen.
    """

    def places(host: HostState) -> int:
        return host.places - pending.get(host.name, 0)

    fitting = [
        host
        for host in hosts
        if host.name not in excluded
        and places(host) > 0
        and host.free_mib - machines_mib * pending.get(host.name, 0) >= machines_mib
    ]
    return max(fitting, key=lambda host: (places(host), host.free_mib), default=None)


def could_execute(host: HostState, machines_mib: int) -> bool:
    """Return whether a host that did nothing else could execute a trial."""
    return host.trials > 0 and host.total.get(MACHINES_MIB, 0) >= machines_mib


def machines_mib_of(needs: Iterable[ResourceSpec], settings: Settings) -> int:
    """Return the memory that the machines of a trial may use together, MiB.

    Desktops that can be forked count as forks: of saved ones, a host has only a few.
    """
    backends = HostBackends(settings)
    total = 0
    for need in needs:
        backend = backends.of(backends.resolve(need))
        total += backend.fork_mib if isinstance(backend, ForkingBackend) else backend.machine_mib
    return total
