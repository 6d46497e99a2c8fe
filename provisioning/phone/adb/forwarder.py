"""Forwards a loopback port to an adb server, for programs that do not support Unix sockets."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from provisioning.phone.adb.endpoint import LOOPBACK

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from provisioning.phone.adb.endpoint import Endpoint

_LOG = logging.getLogger(__name__)

_CHUNK_BYTES = 64 << 10
_CONNECT_TIMEOUT_S = 5.0

# Source: proc_pid_net(5) and linux/net/tcp_states.h. A socket that its owner has closed is listed
# as root's, but in another state.
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_ESTABLISHED = "01"
_MAPPED_IPV4 = "0000000000000000FFFF0000"


class _Row(NamedTuple):
    local: str
    remote: str
    state: str
    uid: int


class AdbForwarder:
    """A context manager that forwards connections of one user of this host to an adb server.

    A connection of another user is closed before any data is read.

    Args:
        endpoint: endpoint of the adb server.
        port: port to listen on; 0 chooses a free one.
        uid: uid of the allowed user; by default, the user of this process.

    Attributes:
        port: port that it listens on.
        refused: number of closed connections of other users.
    """

    def __init__(self, endpoint: Endpoint, *, port: int = 0, uid: int | None = None) -> None:
        self._endpoint = endpoint
        self._uid = os.getuid() if uid is None else uid
        self._sock = socket.create_server((LOOPBACK, port))
        self.port = int(self._sock.getsockname()[1])
        self.refused = 0
        self._thread = threading.Thread(target=self._accept, name="adb-forwarder", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._sock.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._sock.accept()
                threading.Thread(
                    target=self._serve, args=(client,), name="adb-forward", daemon=True
                ).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            if (uid := peer_uid(client)) != self._uid:
                self.refused += 1
                _LOG.warning("refused a connection of uid %s to the adb server", uid)
                return
            try:
                server = self._endpoint.connect(_CONNECT_TIMEOUT_S)
            except OSError as exc:
                _LOG.warning("the adb server does not answer: %s", exc)
                return
            server.settimeout(None)
            with server:
                _join(client, server)


def peer_uid(sock: socket.socket) -> int | None:
    """Return the uid that owns the other end of a loopback TCP connection; None if it is gone.

    Args:
        sock: socket accepted from a program of this host, over IPv4.
    """
    own, peer = (_hex(*address) for address in (sock.getsockname(), sock.getpeername()))
    for table in _TABLES:
        for row in _rows(Path(table)):
            is_peer = (row.local, row.remote) == (peer, own)
            if is_peer and row.state == _ESTABLISHED:
                return row.uid
    return None


def _hex(host: str, port: int) -> str:
    """Return an address as in the kernel's table: hexadecimal, in this host's byte order."""
    value = int.from_bytes(socket.inet_aton(host), sys.byteorder)
    return f"{value:08X}:{port:04X}"


def _rows(table: Path) -> list[_Row]:
    with contextlib.suppress(OSError):
        lines = [line.split() for line in table.read_text().splitlines()[1:]]
        return [
            _Row(
                fields[1].removeprefix(_MAPPED_IPV4),
                fields[2].removeprefix(_MAPPED_IPV4),
                fields[3],
                int(fields[7]),
            )
            for fields in lines
        ]
    return []


def _join(client: socket.socket, server: socket.socket) -> None:
    """Relay bytes in both directions until both sides have ended."""
    back = threading.Thread(target=_forward, args=(server, client), name="adb-back", daemon=True)
    back.start()
    _forward(client, server)
    back.join()


def _forward(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK_BYTES):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
