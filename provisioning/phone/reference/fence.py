"""Keep a phone from opening connections: to this host, through any of its addresses, or elsewhere.

Docker publishes no ports of an internal network, and the gateway of any network is the host itself. So
the phone's own network namespace drops what it sends, except answers from its two ports. The rules are
set from a short-lived container that shares the namespace; the phone has no right to change them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.errors import MachineStartError

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
    """Let a running container answer on its ports and open no connection itself.

    Args:
        client: the Docker engine.
        container: name or id.
        image: docker tag of an image that has iptables: the hypervisor's.
        ports: TCP ports of the container that are asked from outside.

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
            "The phone could not be kept from opening connections, so it is not used.",
            details=str(exc)[-500:],
            resolution="Does this host's kernel offer iptables to containers? See "
            "`iptables -L` as root.",
        ) from exc
