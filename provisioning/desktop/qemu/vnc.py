"""Relays VNC viewers on this host to a machine's VNC server, which has only a Unix socket."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from typing import TYPE_CHECKING, Self

from foundation.errors import MachineError, RequirementError
from foundation.logging import suppress_logged

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

_CHUNK_BYTES = 65536
_TIMEOUT_S = 10.0


class VncRelay:
    """A context manager that forwards a loopback TCP port to a Unix socket.

    Args:
        path: path of the VNC server's socket.
        port: TCP port; 0 lets the kernel choose.

    Raises:
        MachineError: no server listens on the socket.
        RequirementError: the port is in use.
    """

    def __init__(self, path: Path, *, port: int = 0) -> None:
        self._path = path
        _reach(path).close()
        try:
            self._server = socket.create_server(("127.0.0.1", port))
        except OSError as exc:
            raise RequirementError(
                f"Cannot listen on port {port}.",
                details=str(exc),
                resolution="Choose another port with --port.",
            ) from exc
        self.port = int(self._server.getsockname()[1])

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, name="vnc", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                viewer, _address = self._server.accept()
                threading.Thread(target=self._serve, args=(viewer,), daemon=True).start()

    def _serve(self, viewer: socket.socket) -> None:
        reaching = suppress_logged(_log, "relay a viewer", MachineError)
        with reaching, viewer, _reach(self._path) as screen:
            screen.settimeout(None)
            other = threading.Thread(target=_pump, args=(viewer, screen), daemon=True)
            other.start()
            _pump(screen, viewer)
            other.join()


def _reach(path: Path) -> socket.socket:
    """Connect to a Unix socket.

    Raises:
        MachineError: no server listens on it.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_TIMEOUT_S)
    try:
        connection.connect(str(path))
    except OSError as exc:
        connection.close()
        raise MachineError(
            "The machine has no VNC server.",
            details=f"{path}: {exc}",
            resolution="Start the desktop VM with `mesocosm machine start`; other machines have no "
            "VNC server.",
        ) from exc
    return connection


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Copy bytes in one direction until the end, then shut down both sockets."""
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK_BYTES):
            sink.sendall(data)
    for side in (source, sink):
        with contextlib.suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
