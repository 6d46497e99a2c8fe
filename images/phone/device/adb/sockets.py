"""Forward connections of hosts to sockets of the phone, and ports of the phone to hosts.

Source: AOSP ``packages/modules/adb/socket_spec.cpp``, ``adb.cpp`` (``handle_forward_request``) and
``SERVICES.TXT``: ``tcp:PORT``, ``local:PATH``, ``localabstract:NAME``, ``localreserved:NAME``,
``localfilesystem:PATH``; the answers of ``reverse:`` are ``OKAY``, or a text with a length of four
hexadecimal digits, with or without ``FAIL`` before it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from images.phone.device.streams.stream import Stream, StreamClosedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.adb.connection import Connection

MAX_REVERSES = 64
_CONNECT_TIMEOUT_S = 10.0
_CHUNK_BYTES = 64 << 10
_LOOPBACK = "127.0.0.1"
_RESERVED = "/dev/socket/"
_MAX_PORT = 0xFFFF


class Place(NamedTuple):
    """A socket address: family and address."""

    family: socket.AddressFamily
    address: tuple[str, int] | str | bytes


def parse_place(spec: str, resolve: Callable[[str], Path]) -> Place | None:
    """Parse a socket specification; return None if this phone does not support it.

    Args:
        spec: such as ``tcp:8000``.
        resolve: returns the real path of a phone's path.
    """
    kind, _, name = spec.partition(":")
    if kind == "tcp":
        # "tcp:PORT", or "tcp:PORT:HOST", where HOST must be the phone itself.
        port, _, host = name.partition(":")
        is_here = host in {"", "localhost", _LOOPBACK}
        is_port = port.isascii() and port.isdigit() and int(port) <= _MAX_PORT
        return Place(socket.AF_INET, (_LOOPBACK, int(port))) if is_here and is_port else None
    if not name or "\0" in name:
        return None
    if kind == "localabstract":
        return Place(socket.AF_UNIX, b"\0" + name.encode(errors="surrogateescape"))
    if kind in {"local", "localfilesystem"}:
        return Place(socket.AF_UNIX, str(resolve(name)))
    if kind == "localreserved":
        return Place(socket.AF_UNIX, str(resolve(_RESERVED + name)))
    return None


def connect(place: Place, stream: Stream) -> None:
    """Join a stream to a socket of the phone until either ends; refuse it if nobody listens."""
    sock = socket.socket(place.family, socket.SOCK_STREAM)
    try:
        sock.settimeout(_CONNECT_TIMEOUT_S)
        sock.connect(place.address)
        sock.settimeout(None)
    except (OSError, ValueError):
        sock.close()
        stream.refuse()
        return
    stream.accept()
    join(sock, stream)


def join(sock: socket.socket, stream: Stream) -> None:
    """Forward bytes between a socket and a stream until either ends, then close both."""
    reader = threading.Thread(target=_to_socket, args=(stream, sock), name="adb-join", daemon=True)
    try:
        reader.start()
        with contextlib.suppress(StreamClosedError, OSError):
            while data := sock.recv(_CHUNK_BYTES):
                stream.write(data)
    finally:
        stream.close()
        reader.join()
        sock.close()


def _to_socket(stream: Stream, sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := stream.read():
            sock.sendall(data)
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class Reverses:
    """Ports of the phone that are forwarded to one host.

    Args:
        host: connection of the host, with which they end.
        resolve: returns the real path of a phone's path.
    """

    def __init__(self, host: Connection, resolve: Callable[[str], Path]) -> None:
        self._host = host
        self._resolve = resolve
        self._lock = threading.Lock()
        self._listeners: dict[str, tuple[str, socket.socket]] = {}
        host.at_end.append(self.remove_all)

    def answer(self, request: str) -> bytes:
        """Handle a request, such as ``forward:tcp:1;tcp:2``, and return the reply."""
        verb, _, rest = request.partition(":")
        try:
            if request == "list-forward":
                return _string(self._list())
            if request == "killforward-all":
                self.remove_all()
                return b"OKAY"
            if verb == "killforward":
                self._remove(rest)
                return b"OKAY"
            if verb == "forward":
                return self._forward(rest)
        except (OSError, ValueError) as exc:
            return b"FAIL" + _string(str(exc))
        return b"FAIL" + _string("unknown request")

    def remove_all(self) -> None:
        """Close all ports."""
        with self._lock:
            listeners, self._listeners = list(self._listeners.values()), {}
        for _, sock in listeners:
            _close(sock)

    def _list(self) -> str:
        with self._lock:
            return "".join(f"host {name} {to}\n" for name, (to, _) in self._listeners.items())

    def _remove(self, name: str) -> None:
        with self._lock:
            if name not in self._listeners:
                raise ValueError(f"listener '{name}' not found")
            _, sock = self._listeners.pop(name)
        _close(sock)

    def _forward(self, text: str) -> bytes:
        is_new_only = text.startswith("norebind:")
        name, _, target = text.removeprefix("norebind:").partition(";")
        place = parse_place(name, self._resolve)
        if place is None or not target:
            raise ValueError(f"unknown socket specification: {name}")
        with self._lock:
            if name in self._listeners:
                if is_new_only:
                    raise ValueError(f"cannot rebind existing socket: {name}")
                self._listeners[name] = (target, self._listeners[name][1])
                return b"OKAY"
            if len(self._listeners) >= MAX_REVERSES:
                raise ValueError("too many sockets are forwarded")
            sock = _listen(place)
            answer = b"OKAY"
            if name == "tcp:0":
                name = f"tcp:{sock.getsockname()[1]}"
                answer += _string(name.removeprefix("tcp:"))
            self._listeners[name] = (target, sock)
        threading.Thread(
            target=self._accept, args=(name, sock), name="adb-reverse", daemon=True
        ).start()
        return answer

    def _accept(self, name: str, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = listener.accept()
                with self._lock:
                    target = self._listeners.get(name, ("", None))[0]
                stream = self._host.open(target) if target else None
                if stream is None:
                    sock.close()
                    continue
                try:
                    threading.Thread(
                        target=join, args=(sock, stream), name="adb-reversed", daemon=True
                    ).start()
                except RuntimeError:
                    sock.close()
                    stream.close()


def _listen(place: Place) -> socket.socket:
    if place.family == socket.AF_INET:
        return socket.create_server((_LOOPBACK, int(place.address[1])), backlog=16)
    sock = socket.socket(place.family, socket.SOCK_STREAM)
    try:
        sock.bind(place.address)
        sock.listen(16)
    except BaseException:
        sock.close()
        raise
    return sock


def _close(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        if isinstance(name := sock.getsockname(), str) and name:
            Path(name).unlink()
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()


def _string(text: str) -> bytes:
    raw = text.encode(errors="replace")[:0xFFFF]
    return f"{len(raw):04x}".encode() + raw
