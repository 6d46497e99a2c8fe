"""The destinations that a task allows: their syntax, parsing and matching."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable

_PORTS = range(1, 65536)
_PLACE = re.compile(r"(?P<host>\[[^\]]+\]|[^:=\s]+):(?P<port>\d+)")
# Source: RFC 1035, 2.3.4. Underscores are not allowed in host names, but are used in practice.
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_MAX_NAME = 253
_WILDCARD = "*."


@dataclass(frozen=True, slots=True)
class Destination:
    """A host and port that a machine may reach.

    Attributes:
        host: name in lower case, ``*.name`` for all its subdomains, or an address in short form.
        port: TCP port.
        via: address and port to connect to instead; None resolves the host.
    """

    host: str
    port: int
    via: tuple[str, int] | None = None

    def covers(self, host: str, port: int) -> bool:
        """Return whether this destination covers a host and port."""
        if port != self.port:
            return False
        below = self.host.removeprefix("*")
        return host == self.host or (below != self.host and host.endswith(below))


def read_destinations(entries: Iterable[str]) -> tuple[Destination, ...]:
    """Parse destinations in the syntax of tasks: ``example.org:443``, ``shop.test:80=10.0.0.5:8080``.

    Raises:
        SpecError: an entry is malformed or allows too much.
    """
    return tuple(_read(entry) for entry in entries)


def split_host_port(place: str) -> tuple[str, int]:
    """Split ``host:port`` and return the host in canonical form.

    Raises:
        ValueError: the text is malformed.
    """
    match = _PLACE.fullmatch(place)
    if match is None or int(match["port"]) not in _PORTS:
        raise ValueError(place)
    return canonical_host(match["host"]), int(match["port"])


def canonical_host(host: str) -> str:
    """Return the canonical form of a name or an address.

    Raises:
        ValueError: the name is invalid; resolvers raise errors for some invalid names.
    """
    bare = host.strip("[]").removesuffix(".").lower()
    address = address_of(bare)
    if address is not None:
        return address
    if len(bare) > _MAX_NAME or not all(_LABEL.fullmatch(label) for label in bare.split(".")):
        raise ValueError(host)
    return bare


def address_of(host: str) -> str | None:
    """Return an IP address in short form, as IPv4 if it is IPv4-mapped; None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def _read(entry: str) -> Destination:
    place, equals, via = entry.strip().partition("=")
    is_wildcard = place.startswith(_WILDCARD)
    host, port = _split(place.removeprefix(_WILDCARD), entry)
    host = _WILDCARD + host if is_wildcard else host
    if not equals:
        return Destination(host, port)
    address, via_port = _split(via, entry)
    if address_of(address) is None:
        raise SpecError(f"{entry!r} must have an IP address after the `=`.")
    return Destination(host, port, (address, via_port))


def _split(place: str, entry: str) -> tuple[str, int]:
    try:
        return split_host_port(place)
    except ValueError as exc:
        raise SpecError(
            f"{entry!r} is not a destination.",
            resolution="Write `name:port`, `*.name:port` or `address:port`. To connect to another "
            "address, append `=address:port`.",
        ) from exc
