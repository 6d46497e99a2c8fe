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
"""Name of the container's interface on the phone; tools expect that of the Wi-Fi."""

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
    """Print all active interfaces, or one."""
    wanted = [word for word in call.args if not word.startswith("-")]
    interfaces = [
        interface for interface in _interfaces(call) if not wanted or interface.name == wanted[0]
    ]
    if wanted and not interfaces:
        raise CommandError(f"ifconfig: {wanted[0]}: No such device")
    return "\n".join(
        f"{interface.name:<10}Link encap:{'Local Loopback' if interface.name == _LOOPBACK else 'Ethernet'}\n"
        f"          inet addr:{interface.address}  Bcast:{interface.broadcast}  Mask:{interface.netmask}\n"
        "          UP RUNNING  MTU:1500  Metric:1\n"
        for interface in interfaces
    )


def run_ip(call: Invocation) -> str:
    """Print addresses and the route, like ``ip addr`` and ``ip route``."""
    args = [word for word in call.args if not word.startswith("-")]
    interfaces = _interfaces(call)
    kind = args[0] if args else ""
    name = args[-1] if args[1:] and args[-1] not in {"show", "list", "dev"} else ""
    if name:
        interfaces = [interface for interface in interfaces if interface.name == name]
    if kind and "address".startswith(kind):
        if name and not interfaces:
            raise CommandError(f'Device "{name}" does not exist.')
        return "".join(_show(interface) for interface in interfaces)
    if kind and "route".startswith(kind):
        return "".join(
            f"{_network(interface)} dev {interface.name} proto kernel scope link src {interface.address}\n"
            for interface in interfaces
            if interface.name != _LOOPBACK
        )
    raise CommandError("usage: ip addr|route [show [dev NAME]]", 255)


def _show(interface: _Interface) -> str:
    scope = "host" if interface.name == _LOOPBACK else "global"
    return (
        f"{interface.number}: {interface.name}: <UP,LOWER_UP> mtu 1500 state UP\n"
        f"    inet {interface.address}/{interface.prefix} brd {interface.broadcast} scope {scope} {interface.name}\n"
    )


def _network(interface: _Interface) -> str:
    mask = int.from_bytes(socket.inet_aton(interface.netmask), "big")
    number = int.from_bytes(socket.inet_aton(interface.address), "big") & mask
    return f"{socket.inet_ntoa(number.to_bytes(4, 'big'))}/{interface.prefix}"


def _interfaces(call: Invocation) -> list[_Interface]:
    interfaces = []
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
                interfaces.append(_Interface(real, index, *values))
            elif is_first and has_wifi:
                interfaces.append(_Interface(WIFI, index, *values))
                is_first = False
    return interfaces


def _ask(sock: socket.socket, request: int, name: str) -> str:
    packed = struct.pack("256s", name.encode()[:15])
    return socket.inet_ntoa(fcntl.ioctl(sock.fileno(), request, packed)[20:24])
