"""The ADB port of the phone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from images.phone.device.adb.connection import Connection
from images.phone.device.adb.keys import parse_keys
from images.phone.device.adb.services import FEATURES
from images.phone.device.listener import Listener
from images.phone.device.streams.stream import Budget

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from images.phone.device.adb.keys import PublicKey
    from images.phone.device.adb.services import Services
    from images.phone.device.config import DeviceConfig

MAX_CONNECTIONS = 32
UNREAD_BYTES = 32 << 20
"""Maximum number of unread bytes from all hosts."""

_BANNER_PROPERTIES = ("ro.product.name", "ro.product.model", "ro.product.device")


def make_banner(properties: Mapping[str, str]) -> bytes:
    """Return the banner that the phone sends when it connects."""
    known = [f"{name}={properties.get(name, '')}" for name in _BANNER_PROPERTIES]
    return f"device::{';'.join([*known, 'features=' + ','.join(FEATURES)])}".encode()


class AdbServer:
    """Serve hosts.

    Args:
        config: port and known keys.
        properties: properties of the phone, for the banner.
        services: services that hosts may open.
    """

    def __init__(
        self, config: DeviceConfig, properties: Mapping[str, str], services: Services
    ) -> None:
        self._config = config
        self._banner = make_banner(properties)
        self._services = services
        self._budget = Budget(UNREAD_BYTES)
        self._lock = threading.Lock()
        self._connections: set[Connection] = set()
        self._listener = Listener(
            config.address,
            config.adb_port,
            self._serve,
            max_connections=MAX_CONNECTIONS,
            name="adb",
        )
        self.port = self._listener.port

    def start(self) -> None:
        """Start accepting hosts."""
        self._listener.start()

    def stop(self) -> None:
        """Stop accepting connections."""
        self._listener.stop()

    def disconnect_all(self) -> None:
        """End the connections of all hosts, which may reconnect."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.disconnect()

    def _keys(self) -> tuple[PublicKey, ...]:
        return parse_keys(self._config.key_lines())

    def _serve(self, sock: socket.socket) -> None:
        connection = Connection(sock, self._banner, self._keys, self._services.serve, self._budget)
        with self._lock:
            self._connections.add(connection)
        try:
            connection.run()
        finally:
            with self._lock:
                self._connections.discard(connection)
