"""Let VNC viewers of this host reach a machine's screen, which listens at a unix socket only."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Self

from appliance.base.errors import MachineError, RequirementError

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK_BYTES = 65536
_TIMEOUT_S = 10.0


class VncRelay:
    """A TCP port on the loopback that leads to a unix socket, until the block ends.

    Args:
        path: of the VNC server's socket.
        port: 0 lets the kernel choose.

    Raises:
        MachineError: nobody listens at the socket.
        RequirementError: the port is taken.
    """

    def __init__(self, path: Path, *, port: int = 0) -> None:
        self._path = path
        _reach(path).close()
        try:
            self._server = socket.create_server(("127.0.0.1", port))
        except OSError as exc:
            raise RequirementError(
                f"Port {port} cannot be listened on.",
                details=str(exc),
                resolution="Name another with --port.",
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
        with contextlib.suppress(MachineError), viewer, _reach(self._path) as screen:
            screen.settimeout(None)
            other = threading.Thread(target=_pump, args=(viewer, screen), daemon=True)
            other.start()
            _pump(screen, viewer)
            other.join()


def _reach(path: Path) -> socket.socket:
    """Connect to a unix socket.

    Raises:
        MachineError: nobody listens there.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_TIMEOUT_S)
    try:
        connection.connect(str(path))
    except OSError as exc:
        connection.close()
        raise MachineError(
            "The machine shows nothing to VNC.",
            details=f"{path}: {exc}",
            resolution="`mesocosm machine start` starts a desktop VM; others have no VNC.",
        ) from exc
    return connection


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Move bytes one way until an end, then end both, so that the other way ends too."""
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK_BYTES):
            sink.sendall(data)
    for side in (source, sink):
        with contextlib.suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
