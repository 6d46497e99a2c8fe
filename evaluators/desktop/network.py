"""Evaluators of a desktop's network settings: names, routes, open ports, connections."""

from __future__ import annotations

import ipaddress
import posixpath
import re
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.ini import parse_ini
from evaluators.desktop.reading import lines_of, link_target, look, names_in, read_text, words_of

if TYPE_CHECKING:
    from configparser import RawConfigParser

    from provisioning.probe.guest import Guest

_CONNECTIONS = (
    "/run/NetworkManager/system-connections",
    "/etc/NetworkManager/system-connections",
)
_FOR_OTHERS = 0o077
_UPLINKS = "/run/systemd/resolve/resolv.conf"
_RESOLVERS = {
    "/etc/resolv.conf": "/etc/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf": _UPLINKS,
    "/usr/lib/systemd/resolv.conf": _UPLINKS,
    "/lib/systemd/resolv.conf": _UPLINKS,
    _UPLINKS: _UPLINKS,
    "/run/NetworkManager/resolv.conf": "/run/NetworkManager/resolv.conf",
    "/run/NetworkManager/no-stub-resolv.conf": "/run/NetworkManager/no-stub-resolv.conf",
    "/run/resolvconf/resolv.conf": "/run/resolvconf/resolv.conf",
}
"""File with the name servers, by target of the link ``/etc/resolv.conf``."""
_NAME_SERVER = re.compile(r"nameserver[ \t]+([^ \t\r;#]+)")
_LISTENS = "0A"
_ROUTE_UP = 0x1
_ANY = "00000000"


@evaluator(on="desktop")
def hosts_entry(guest: Guest, name: str, address: str) -> bool:
    """Return whether ``/etc/hosts`` maps a name to the given address, and to no other of its IP version.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: hosts_entry, with: {name: printer, address: 192.0.2.7}}``

    Args:
        guest: the desktop.
        name: host name; case-insensitive.
        address: IPv4 or IPv6 address.

    Raises:
        ValueError: `address` is not an address.
    """
    wanted = ipaddress.ip_address(address)
    addresses = []
    for line in lines_of(guest, "/etc/hosts"):
        fields = words_of(line.partition("#")[0].lower())
        given = _address(fields[0]) if name.lower() in fields[1:] else None
        if given and given.version == wanted.version:
            addresses.append(given)
    return set(addresses) == {wanted}


@evaluator(on="desktop")
def dns_servers_are(guest: Guest, addresses: list[str]) -> bool:
    """Return whether exactly the given name servers are configured, in the given order.

    Proves the state, not who caused it.

    Source: ``/etc/resolv.conf``, as read by the C library; if it is a link to a file of
        systemd-resolved, NetworkManager or resolvconf, the servers that this program uses.

    Example:
        ``{on: desktop, check: dns_servers_are, with: {addresses: [192.0.2.53]}}``

    Args:
        guest: the desktop.
        addresses: IPv4 or IPv6 addresses, at least one.

    Raises:
        ValueError: there are no addresses, or one is invalid.
    """
    if not addresses:
        raise ValueError("give at least one address")
    wanted = [ipaddress.ip_address(address) for address in addresses]
    target = link_target(guest, "/etc/resolv.conf") or "resolv.conf"
    path = _RESOLVERS.get(posixpath.normpath(posixpath.join("/etc", target)), "")
    rows = map(_NAME_SERVER.match, lines_of(guest, path) if path else ())
    return [_address(row[1]) for row in rows if row] == wanted


@evaluator(on="desktop")
def default_gateway_is(guest: Guest, address: str) -> bool:
    """Return whether the kernel's IPv4 default route uses the given gateway.

    If there are several default routes, the first one with the lowest metric is compared.
    Proves the state, not who caused it.

    Source: ``/proc/net/route``, with addresses as hexadecimal numbers in the host's byte order.

    Example:
        ``{on: desktop, check: default_gateway_is, with: {address: 192.0.2.1}}``

    Args:
        guest: the desktop.
        address: IPv4 address.

    Raises:
        ValueError: `address` is not an IPv4 address.
    """
    wanted = ipaddress.IPv4Address(address)
    routes = []
    for row in map(str.split, lines_of(guest, "/proc/net/route")[1:]):
        _, target, gateway, flags, _, _, metric, mask = row[:8]
        if target == mask == _ANY and int(flags, 16) & _ROUTE_UP:
            routes.append((int(metric), bytes.fromhex(gateway)[::-1]))
    return bool(routes) and min(routes, key=lambda route: route[0])[1] == wanted.packed


@evaluator(on="desktop")
def port_listening(guest: Guest, port: int) -> bool:
    """Return whether something listens on a TCP port, over IPv4 or IPv6.

    This does not show which program listens: also check the service's reply. Proves the state, not
    who caused it.

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
    """Return whether a NetworkManager connection has a setting with the given value.

    Files that NetworkManager ignores because other users may read them are ignored. Proves the
    state,
    not who caused it.

    Source: NetworkManager's keyfile format, in ``system-connections`` below ``/run/NetworkManager``
    (for netplan) and ``/etc/NetworkManager``.

    Example:
        ``{on: desktop, check: connection_setting_equals, with: {connection: Office, section: ipv4,
        key: method, value: manual}}``

    Args:
        guest: the desktop.
        connection: ``id`` of the connection; a duplicate ``id`` is unmet.
        section: section, such as ``ipv4``.
        key: key, such as ``method``.
        value: value as in the file; a list's last semicolon is ignored.
    """
    settings: dict[str, str] = {}
    for folder in _CONNECTIONS:
        for name in names_in(guest, folder) or []:
            parser = _keyfile(guest, f"{folder}/{name}")
            own = name.removesuffix(".nmconnection")
            is_one = parser.has_section("connection")
            if is_one and parser.get("connection", "id", fallback=own) == connection:
                uuid = parser.get("connection", "uuid", fallback=name)
                settings.setdefault(uuid, parser.get(section, key, fallback="\0"))
    return [setting.removesuffix(";") for setting in settings.values()] == [value.removesuffix(";")]


def _keyfile(guest: Guest, path: str) -> RawConfigParser:
    """Return a connection; one without sections if NetworkManager does not read the file."""
    status = look(guest, path)
    if status is None or status.st_mode & _FOR_OTHERS or not path.endswith(".nmconnection"):
        return parse_ini(None)
    return parse_ini(read_text(guest, path), delimiters=("=",))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
