"""Services that a guest reaches: their names, loopback addresses, and how they are connected to."""

from __future__ import annotations

import re
import socket
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from foundation.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from provisioning.protocols import Endpoints, Stream

    Dial = Callable[[], socket.socket]

_CONNECT_TIMEOUT_S = 10.0
# The description of all services must fit into one frame.
_MAX_SERVICES = 64
_MAX_PORTS = 1000
_PORTS = range(1, 65536)
# Source: RFC 1123, 2.1.
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_MAX_NAME = 253
_RESERVED = frozenset({"localhost", "ip6-localhost", "ip6-loopback"})


@dataclass(frozen=True, slots=True)
class Service:
    """A service as one guest sees it.

    Attributes:
        key: unique in the guest; also its name there, unless `is_named` is False.
        address: loopback address that the guest listens on.
        dials: function that connects to it, by the port that the guest sees.
        is_named: whether the guest can look up its name.
    """

    key: str
    address: str
    dials: Mapping[int, Dial]
    is_named: bool = True


def check_services(services: Mapping[str, Endpoints]) -> None:
    """Check that names can be host names and ports can be ports.

    Raises:
        SpecError: a name or a port cannot be used.
    """
    ports = sum(len(endpoints) for endpoints in services.values())
    if len(services) > _MAX_SERVICES or ports > _MAX_PORTS:
        raise SpecError(
            f"A guest can reach {_MAX_SERVICES} services with {_MAX_PORTS} ports, not "
            f"{len(services)} with {ports}."
        )
    for name, endpoints in services.items():
        is_name = len(name) <= _MAX_NAME and all(_LABEL.fullmatch(part) for part in name.split("."))
        is_address = name.replace(".", "").isdigit()
        if not is_name or is_address or name in _RESERVED:
            raise SpecError(
                f"{name!r} cannot be the name of a service.",
                resolution="Use lower-case letters, digits, hyphens and dots, as in host names.",
            )
        if wrong := [port for port in endpoints if port not in _PORTS]:
            raise SpecError(f"{wrong[0]} cannot be a port of {name}: ports are 1 to 65535.")


def place_services(services: Mapping[str, Endpoints]) -> tuple[Service, ...]:
    """Return services with a loopback address each, so that several may have the same port."""
    return tuple(
        Service(
            name,
            f"127.77.0.{number}",
            {port: partial(_connect, place) for port, place in endpoints.items()},
        )
        for number, (name, endpoints) in enumerate(services.items(), 1)
    )


def place_local(port: int, serve: Callable[[Stream], None]) -> Service:
    """Return a service without a name on 127.0.0.1 that a function of this process serves.

    Args:
        port: the guest's port.
        serve: called with each connection, in a separate thread; closes the connection.
    """
    return Service(f"local-{port}", "127.0.0.1", {port: partial(_serve, serve)}, is_named=False)


def _connect(place: tuple[str, int]) -> socket.socket:
    """Connect to a service.

    Raises:
        OSError: it cannot be reached.
    """
    sock = socket.create_connection(place, timeout=_CONNECT_TIMEOUT_S)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _serve(serve: Callable[[Stream], None]) -> socket.socket:
    ours, theirs = socket.socketpair()
    threading.Thread(target=serve, args=(theirs,), name="reach-local", daemon=True).start()
    return ours
