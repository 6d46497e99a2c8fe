"""The link to a VM's probe through the host end of its virtio-serial port, a Unix socket."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

from foundation.clock import wait_until
from foundation.errors import LinkClosedError
from provisioning.links.client import LinkClient, connect

if TYPE_CHECKING:
    from pathlib import Path

PORT_NAME = "org.mesocosm.probe.0"
"""Name of the port in the domain's XML."""

GUEST_PORT = f"/dev/virtio-ports/{PORT_NAME}"
"""Path of the port in the guest."""

_READ_BYTES = 1 << 20
# Source: unix(7), sun_path.
_MAX_SOCKET_PATH = 107


class SocketTransport:
    """A transport over a connected stream socket.

    Args:
        sock: the socket; the transport takes ownership.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def read(self) -> bytes:
        """Wait for bytes; return an empty string at the end."""
        return self._socket.recv(_READ_BYTES)

    def write(self, data: bytes) -> None:
        """Send all the data."""
        self._socket.sendall(data)

    def close(self) -> None:
        """Close the stream; may be called more than once."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def read_error_tail(self) -> str:
        """Return an empty string: a socket has no error output."""
        return ""


def connect_virtio(path: Path, *, name: str = "probe", timeout_s: float = 10.0) -> LinkClient:
    """Connect to the socket and wait until the probe answers.

    The socket accepts one client at a time: QEMU makes a second one wait until the first has
    disconnected. The link survives rewinds: call its `resync` after each.

    Args:
        path: path of the socket, which may appear later.
        name: name of the machine, for errors.
        timeout_s: time limit of the connection and of the first reply, each.

    Raises:
        LinkClosedError: no server listens on the socket.
        LinkTimeoutError: QEMU listens, but no probe answers.
    """
    transport = connect_port(path, name=name, timeout_s=timeout_s)
    return connect(transport, name=name, timeout_s=timeout_s)


def open_virtio(path: Path, *, name: str = "probe", timeout_s: float = 10.0) -> LinkClient:
    """Connect to the socket of a guest that does not run yet; call `resync` once it runs.

    Args:
        path: path of the socket, which may appear later.
        name: name of the machine, for errors.
        timeout_s: time limit of the connection.

    Raises:
        LinkClosedError: no server listens on the socket.
    """
    return LinkClient(connect_port(path, name=name, timeout_s=timeout_s), name=name)


def connect_port(path: Path, *, name: str, timeout_s: float = 10.0) -> SocketTransport:
    """Connect to the host end of a port.

    Args:
        path: path of the socket, which may appear later.
        name: name of the machine, for errors.
        timeout_s: time limit of the connection.

    Raises:
        LinkClosedError: no server listens on the socket.
    """
    sock = wait_until(lambda: _open(path), timeout_s=timeout_s, every_s=0.05)
    if sock is None:
        raise LinkClosedError(
            f"A port of {name} cannot be reached.",
            details=f"No server listens on {path}.",
            resolution="The machine is not running. Start it, or check its log.",
        )
    return SocketTransport(sock)


def _open(path: Path) -> socket.socket | None:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connect_socket(sock, path)
    except OSError:
        sock.close()
        return None
    return sock


def connect_socket(sock: socket.socket, path: Path) -> None:
    """Connect to a Unix socket whose path may be longer than an address can be.

    Raises:
        OSError: no server listens on it.
    """
    if len(os.fsencode(path)) <= _MAX_SOCKET_PATH:
        sock.connect(str(path))
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        sock.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
