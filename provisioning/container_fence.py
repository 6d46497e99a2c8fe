"""Blocks a container's outgoing connections, to this host (on any of its addresses) and elsewhere.

Docker does not publish ports of an internal network, and the gateway of any network is the host itself.
So the container's network namespace drops everything it sends, except replies from its ports. A
short-lived container that shares the namespace sets the rules; the first has no permission to change
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import MachineStartError

if TYPE_CHECKING:
    from docker import DockerClient

_MEMORY = "64m"
_MAX_PROCESSES = 32
# Source: iptables-extensions(8): `--syn` is SYN without ACK, RST and FIN, which opens a connection.
_RULES = r"""set -e
iptables -w -P OUTPUT DROP
iptables -w -F OUTPUT
iptables -w -A OUTPUT -o lo -j ACCEPT
for port; do
    iptables -w -A OUTPUT -p tcp --sport "$port" ! --syn -j ACCEPT
done
iptables -w -A OUTPUT -j REJECT --reject-with icmp-net-unreachable
if [ "$(cat /proc/sys/net/ipv6/conf/all/disable_ipv6 2> /dev/null || echo 1)" = 0 ]; then
    ip6tables -w -P OUTPUT DROP
fi
"""


def fence_container(
    client: DockerClient, container: str, image: str, ports: tuple[int, ...]
) -> None:
    """Block a running container's outgoing connections, except replies from its ports.

    Args:
        client: client of the Docker engine.
        container: name or id of the container.
        image: Docker tag of an image that has iptables: the hypervisor's.
        ports: TCP ports of the container that are reachable from outside.

    Raises:
        MachineStartError: the rules could not be set.
    """
    from docker.errors import ContainerError  # noqa: PLC0415

    try:
        client.containers.run(
            image,
            entrypoint=["/bin/sh", "-c"],
            command=[_RULES, "fence", *map(str, ports)],
            network_mode=f"container:{container}",
            cap_drop=["ALL"],
            cap_add=["NET_ADMIN", "NET_RAW"],
            security_opt=["no-new-privileges:true"],
            read_only=True,
            tmpfs={"/run": ""},
            mem_limit=_MEMORY,
            memswap_limit=_MEMORY,
            pids_limit=_MAX_PROCESSES,
            remove=True,
            stdout=True,
            stderr=True,
        )
    except ContainerError as exc:
        raise MachineStartError(
            "The container's outgoing connections could not be blocked, so it is not used.",
            details=str(exc)[-500:],
            resolution="Check that this host's kernel supports iptables in containers: run "
            "`iptables -L` as root.",
        ) from exc
