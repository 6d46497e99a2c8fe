"""A desktop's network settings: names, routes, open ports, connections."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.ini import parse_ini
from evaluators.desktop.reading import lines_of, names_in, read_text

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_CONNECTIONS = "/etc/NetworkManager/system-connections"
_LISTENS = "0A"
_ROUTE_UP = 0x1
_ANY = "00000000"


@evaluator(on="desktop")
def hosts_entry(guest: Guest, name: str, address: str) -> bool:
    """Return whether ``/etc/hosts`` maps a name to this address, and to no other of its version.

    Example:
        ``{on: desktop, check: hosts_entry, with: {name: printer, address: 192.0.2.7}}``

    Args:
        guest: the desktop.
        name: host name; case-insensitive.
        address: IPv4 or IPv6.

    Raises:
        ValueError: `address` is not an address.
    """
    wanted = ipaddress.ip_address(address)
    found = []
    for line in lines_of(guest, "/etc/hosts"):
        fields = line.partition("#")[0].lower().split()
        given = _address(fields[0]) if name.lower() in fields[1:] else None
        if given and given.version == wanted.version:
            found.append(given)
    return set(found) == {wanted}


@evaluator(on="desktop")
def dns_servers_are(guest: Guest, addresses: list[str]) -> bool:
    """Return whether exactly these name servers are configured, in this order.

    Source: ``/etc/resolv.conf``, when it is a regular file.

    Example:
        ``{on: desktop, check: dns_servers_are, with: {addresses: [192.0.2.53]}}``

    Args:
        guest: the desktop.
        addresses: IPv4 or IPv6, at least one.

    Raises:
        ValueError: there are none, or one is not an address.
    """
    if not addresses:
        raise ValueError("give at least one address")
    wanted = [ipaddress.ip_address(each) for each in addresses]
    rows = [line.split() for line in lines_of(guest, "/etc/resolv.conf")]
    return [_address(row[1]) for row in rows if row[:1] == ["nameserver"] and row[1:]] == wanted


@evaluator(on="desktop")
def default_gateway_is(guest: Guest, address: str) -> bool:
    """Return whether the kernel's IPv4 default route uses this gateway.

    Of several default routes, the one with the lowest metric is compared.

    Source: ``/proc/net/route``, addresses as hexadecimal numbers of the host's byte order.

    Example:
        ``{on: desktop, check: default_gateway_is, with: {address: 192.0.2.1}}``

    Args:
        guest: the desktop.
        address: IPv4.

    Raises:
        ValueError: `address` is not an IPv4 address.
    """
    wanted = ipaddress.IPv4Address(address)
    routes = []
    for row in map(str.split, lines_of(guest, "/proc/net/route")[1:]):
        _, target, gateway, flags, _, _, metric, mask = row[:8]
        if target == mask == _ANY and int(flags, 16) & _ROUTE_UP:
            routes.append((int(metric), bytes.fromhex(gateway)[::-1]))
    return bool(routes) and min(routes)[1] == wanted.packed


@evaluator(on="desktop")
def port_listening(guest: Guest, port: int) -> bool:
    """Return whether something listens on a TCP port, over IPv4 or IPv6.

    This does not show which program it is: check the service's reply as well.

    Source: ``/proc/net/tcp`` and ``/proc/net/tcp6``.

    Example:
        ``{on: desktop, check: port_listening, with: {port: 8080}}``

    Args:
        guest: the desktop.
        port: 1 to 65535.
    """
    lines: list[str] = []
    for name in ("tcp", "tcp6"):
        lines += lines_of(guest, f"/proc/net/{name}")[1:]
    rows = [line.split() for line in lines]
    return any(row[3] == _LISTENS and int(row[1].rpartition(":")[2], 16) == port for row in rows)


@evaluator(on="desktop")
def connection_setting_equals(
    guest: Guest, connection: str, section: str, key: str, value: str
) -> bool:
    """Return whether a connection of NetworkManager has a setting with this value.

    Source: NetworkManager's keyfile format, ``/etc/NetworkManager/system-connections``.

    Example:
        ``{on: desktop, check: connection_setting_equals, with: {connection: Office, section: ipv4,
        key: method, value: manual}}``

    Args:
        guest: the desktop.
        connection: its ``id``; two connections with that name are unmet.
        section: such as ``ipv4``.
        key: such as ``method``.
        value: as written in the file.
    """
    found = []
    for name in names_in(guest, _CONNECTIONS) or []:
        parser = parse_ini(read_text(guest, f"{_CONNECTIONS}/{name}"))
        is_meant = parser.get("connection", "id", fallback=None) == connection
        if name.endswith(".nmconnection") and is_meant:
            found.append(parser.get(section, key, fallback=None))
    return found == [value]


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
