"""The commands ``ifconfig`` and ``ip``: the addresses of the phone.

Source: toybox ``ifconfig``, iproute2 ``ip addr show``; Linux ``netdevice(7)`` for the requests.
"""

from __future__ import annotations

import fcntl
import socket
import struct
from typing import TYPE_CHECKING, NamedTuple

from images.phone.device.commands.base import CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

WIFI = "wlan0"
"""What the phone calls the container's own interface: tools look for that of the Wi-Fi."""

# Source: linux/sockios.h
_SIOCGIFADDR, _SIOCGIFBRDADDR, _SIOCGIFNETMASK = 0x8915, 0x8919, 0x891B
_LOOPBACK = "lo"


class _Interface(NamedTuple):
    name: str
    number: int
    address: str
    broadcast: str
    netmask: str

    @property
    def prefix(self) -> int:
        return int.from_bytes(socket.inet_aton(self.netmask), "big").bit_count()


def run_ifconfig(call: Invocation) -> str:
    """Show the interfaces that are up, or one."""
    wanted = [word for word in call.words if not word.startswith("-")]
    found = [one for one in _interfaces(call) if not wanted or one.name == wanted[0]]
    if wanted and not found:
        raise CommandError(f"ifconfig: {wanted[0]}: No such device")
    return "\n".join(
        f"{one.name:<10}Link encap:{'Local Loopback' if one.name == _LOOPBACK else 'Ethernet'}\n"
        f"          inet addr:{one.address}  Bcast:{one.broadcast}  Mask:{one.netmask}\n"
        "          UP RUNNING  MTU:1500  Metric:1\n"
        for one in found
    )


def run_ip(call: Invocation) -> str:
    """Show addresses and the route, as ``ip addr`` and ``ip route`` do."""
    words = [word for word in call.words if not word.startswith("-")]
    interfaces = _interfaces(call)
    kind = words[0] if words else ""
    name = words[-1] if words[1:] and words[-1] not in {"show", "list", "dev"} else ""
    if name:
        interfaces = [one for one in interfaces if one.name == name]
    if kind and "address".startswith(kind):
        if name and not interfaces:
            raise CommandError(f'Device "{name}" does not exist.')
        return "".join(_show(one) for one in interfaces)
    if kind and "route".startswith(kind):
        return "".join(
            f"{_network(one)} dev {one.name} proto kernel scope link src {one.address}\n"
            for one in interfaces
            if one.name != _LOOPBACK
        )
    raise CommandError("usage: ip addr|route [show [dev NAME]]", 255)


def _show(one: _Interface) -> str:
    scope = "host" if one.name == _LOOPBACK else "global"
    return (
        f"{one.number}: {one.name}: <UP,LOWER_UP> mtu 1500 state UP\n"
        f"    inet {one.address}/{one.prefix} brd {one.broadcast} scope {scope} {one.name}\n"
    )


def _network(one: _Interface) -> str:
    mask = int.from_bytes(socket.inet_aton(one.netmask), "big")
    number = int.from_bytes(socket.inet_aton(one.address), "big") & mask
    return f"{socket.inet_ntoa(number.to_bytes(4, 'big'))}/{one.prefix}"


def _interfaces(call: Invocation) -> list[_Interface]:
    found = []
    has_wifi = call.phone.store.setting("global", "wifi_on") == "1"
    is_first = True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for index, real in socket.if_nameindex():
            try:
                values = [
                    _ask(sock, request, real)
                    for request in (_SIOCGIFADDR, _SIOCGIFBRDADDR, _SIOCGIFNETMASK)
                ]
            except OSError:
                continue  # it has no address
            if real == _LOOPBACK:
                found.append(_Interface(real, index, *values))
            elif is_first and has_wifi:
                found.append(_Interface(WIFI, index, *values))
                is_first = False
    return found


def _ask(sock: socket.socket, request: int, name: str) -> str:
    packed = struct.pack("256s", name.encode()[:15])
    return socket.inet_ntoa(fcntl.ioctl(sock.fileno(), request, packed)[20:24])
