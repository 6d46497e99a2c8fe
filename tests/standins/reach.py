"""A guest's end of streams without a guest: in this process, and services to reach."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from provisioning.links.virtio import SocketTransport
from provisioning.probe.streams.hosts import HostsFile
from provisioning.probe.streams.session import GuestSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class SocketChannel:
    """A `ByteChannel` over a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def read(self) -> bytes:
        try:
            return self._socket.recv(1 << 16)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)


class GuestStandIn:
    """The guest's end in threads of this process; each `open` begins a session.

    Args:
        folder: where its hosts file is.
    """

    def __init__(self, folder: Path) -> None:
        self.hosts = folder / "hosts"
        self.hosts.write_text("127.0.0.1\tlocalhost\n")
        self.inner: socket.socket | None = None
        self._threads: list[threading.Thread] = []

    def open(self, nonce: bytes) -> SocketTransport:
        outer, inner = socket.socketpair()
        # Remains of an older session, which end within a frame.
        inner.sendall(b"\x03\x00\x00\x00\x07\x00\xff an older session")
        self.inner = inner
        thread = threading.Thread(target=self._serve, args=(inner, nonce), name="guest")
        thread.start()
        self._threads.append(thread)
        return SocketTransport(outer)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive()

    def _serve(self, inner: socket.socket, nonce: bytes) -> None:
        with contextlib.suppress(OSError), inner:
            GuestSession(SocketChannel(inner), HostsFile(str(self.hosts))).run(nonce)


@contextlib.contextmanager
def tcp_service(serve: Callable[[socket.socket], None]) -> Iterator[tuple[str, int]]:
    """Serve each connection in a thread; yield host and port."""
    threads: list[threading.Thread] = []

    def run(sock: socket.socket) -> None:
        with contextlib.suppress(OSError), sock:
            serve(sock)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = listener.accept()
                threads.append(threading.Thread(target=run, args=(sock,), name="service"))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        accepting = threading.Thread(target=accept, name="service-accept")
        accepting.start()
        try:
            yield listener.getsockname()[:2]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join(10)
            for thread in threads:
                thread.join(10)


def echo(sock: socket.socket) -> None:
    """Return everything, and end once the other end has."""
    while data := sock.recv(1 << 16):
        sock.sendall(data)
    sock.shutdown(socket.SHUT_WR)


def count(sock: socket.socket) -> None:
    """Read to the end, then answer how much it was."""
    total = 0
    while data := sock.recv(1 << 16):
        total += len(data)
    sock.sendall(f"{total} bytes".encode())


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
