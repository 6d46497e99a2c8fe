"""Ports of Ray's nodes: one block for each, away from those of phones and screens."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from foundation.errors import RequirementError, UsageError

BLOCK = 100
"""Ports of one node."""
_FIRST_OF_WORKERS = 20
_MOST_BLOCKS = 20
_LOWEST, _HIGHEST = 1024, 65535
# adb's server; emulators and reference phones; screens of VMs (5900 and up, VNC over HTTP below).
_TAKEN = (range(5037, 5038), range(5554, 5586), range(5800, 6100))


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of one node.

    Attributes:
        first: first port of its block; of the head, the port that nodes connect to.
    """

    first: int

    @property
    def node_manager(self) -> int:
        """Port of the raylet."""
        return self.first + 1

    @property
    def object_manager(self) -> int:
        """Port of the object store."""
        return self.first + 2

    @property
    def agent_grpc(self) -> int:
        """Port of the node's agent, for other nodes."""
        return self.first + 3

    @property
    def agent_http(self) -> int:
        """Port of the node's agent, for HTTP."""
        return self.first + 4

    @property
    def environment_agent(self) -> int:
        """Port of the agent of runtime environments."""
        return self.first + 5

    @property
    def metrics(self) -> int:
        """Port of the node's own metrics."""
        return self.first + 6

    @property
    def workers(self) -> tuple[int, int]:
        """First and last port of workers."""
        return self.first + _FIRST_OF_WORKERS, self.first + BLOCK - 1

    @property
    def fixed(self) -> range:
        """The ports that a node listens on from the start, at most."""
        return range(self.first, self.metrics + 1)


def require_clear(first: int) -> None:
    """Verify that a block is away from the ports of phones and screens.

    Raises:
        UsageError: it is not.
    """
    block = range(first, first + BLOCK)
    is_outside = first < _LOWEST or block[-1] > _HIGHEST
    if is_outside or any(set(block).intersection(taken) for taken in _TAKEN):
        raise UsageError(
            f"The ports {block[0]} to {block[-1]} cannot be those of a node.",
            details=f"Nodes use {BLOCK} ports between {_LOWEST} and {_HIGHEST}, away from phones "
            "(5037, 5554-5585) and screens (5800-6099).",
            resolution="Set MESOCOSM_CLUSTER_PORT to another first port, such as 21000.",
        )


def free_block(first: int) -> Ports:
    """Return the first block from a port on that nobody on this machine listens in.

    Raises:
        RequirementError: there is none.
    """
    for number in range(_MOST_BLOCKS):
        ports = Ports(first + number * BLOCK)
        require_clear(ports.first)
        if all(_is_free(port) for port in ports.fixed):
            return ports
    raise RequirementError(
        f"No block of {BLOCK} ports is free from {first} on.",
        resolution="Set MESOCOSM_CLUSTER_PORT to another first port.",
    )


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
