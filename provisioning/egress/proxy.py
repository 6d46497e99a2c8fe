"""What a machine may reach: nothing, or the destinations that a task allows.

Guests have no route out. What is allowed goes through this proxy, which runs on the trusted side
and speaks HTTP's proxy protocol (``CONNECT``, and plain requests in absolute form): it resolves
names, so guests need no DNS, and connects, so IPv6 is no way round. Source: RFC 9110, 9.3.6 and
RFC 9112, 3.2.2.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from appliance.base.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from provisioning.protocols import Stream

_MAX_HEAD_BYTES = 16384
_CHUNK_BYTES = 65536
_TIMEOUT_S = 30.0
_MAX_AT_ONCE = 64
_MAX_KEPT = 1000
_PORTS = range(1, 65536)
_ENTRY = re.compile(r"(?P<host>\[[^\]]+\]|[^:=\s]+):(?P<port>\d+)")
_HTTP_PORT = 80
_FORM = "Write `name:port`, `*.name:port` or `address:port`, with `=address:port` after it where "


@dataclass(frozen=True, slots=True)
class Destination:
    """One place that may be reached.

    Attributes:
        host: name in lower case, ``*.name`` for all below it, or an address in short form.
        port: TCP.
        via: where it is really reached, address and port; None asks the resolver.
    """

    host: str
    port: int
    via: tuple[str, int] | None = None

    def covers(self, host: str, port: int) -> bool:
        """Tell whether it is the place, or one of the places."""
        if port != self.port:
            return False
        below = self.host.removeprefix("*")
        return host == self.host or (below != self.host and host.endswith(below))


def read_destinations(entries: Iterable[str]) -> tuple[Destination, ...]:
    """Read destinations as tasks write them: ``example.org:443``, ``shop.test:80=10.0.0.5:8080``.

    Raises:
        SpecError: one cannot be read.
    """
    return tuple(_read(entry) for entry in entries)


def _read(entry: str) -> Destination:
    place, equals, via = entry.strip().partition("=")
    host, port = _split(place, entry)
    if "*" in host and not re.fullmatch(r"\*\.[^*]+", host):
        raise SpecError(f"{entry!r} allows too much.", resolution=f"{_FORM}it is elsewhere.")
    if not equals:
        return Destination(host, port)
    address, via_port = _split(via, entry)
    if _address(address) is None:
        raise SpecError(f"{entry!r} must name an address after the `=`.")
    return Destination(host, port, (address, via_port))


def _split(place: str, entry: str) -> tuple[str, int]:
    found = _ENTRY.fullmatch(place)
    if found is None or int(found["port"]) not in _PORTS:
        raise SpecError(f"{entry!r} is no destination.", resolution=f"{_FORM}it is elsewhere.")
    return _canonical(found["host"]), int(found["port"])


def _canonical(host: str) -> str:
    """Give the one spelling of a name or an address."""
    bare = host.strip("[]").rstrip(".").lower()
    return _address(bare) or bare


def _address(host: str) -> str | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A guest's wish to reach something.

    Attributes:
        host: as asked for.
        port: TCP.
        is_allowed: whether it was let through.
    """

    host: str
    port: int
    is_allowed: bool


@dataclass
class EgressProxy:
    """Lets a guest's connections through to what is allowed, and notes all it asked for.

    Attributes:
        allowed: what may be reached; nothing by default.
        attempts: the last thousand wishes, oldest first.
    """

    allowed: tuple[Destination, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    _slots: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(_MAX_AT_ONCE)
    )

    def serve(self, client: Stream) -> None:
        """Serve one connection to its end; it is closed then, whatever was sent."""
        with contextlib.closing(_Closing(client)):
            if not self._slots.acquire(blocking=False):
                _refuse(client, 503, "too many connections")
                return
            try:
                with contextlib.suppress(OSError, EOFError):
                    client.settimeout(_TIMEOUT_S)
                    self._serve(client)
            finally:
                self._slots.release()

    def _serve(self, client: Stream) -> None:
        head, rest = _read_head(client)
        try:
            method, host, port, onward = _parse(head)
        except ValueError:
            _refuse(client, 400, "no request that a proxy understands")
            return
        place = self._find(host, port)
        self.attempts.append(Attempt(host, port, place is not None))
        del self.attempts[:-_MAX_KEPT]
        if place is None:
            _refuse(client, 403, f"{host}:{port} is not allowed by the task")
            return
        try:
            server = _connect(place, host)
        except OSError as exc:
            _refuse(client, 502, f"{host}:{port} cannot be reached: {exc}")
            return
        with contextlib.closing(server):
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            server.sendall(onward + rest)
            _relay(client, server)

    def _find(self, host: str, port: int) -> Destination | None:
        return next((place for place in self.allowed if place.covers(host, port)), None)


class _Closing:
    """Close a stream without minding that it is gone."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def close(self) -> None:
        with contextlib.suppress(OSError, EOFError):
            self._stream.close()


def _read_head(client: Stream) -> tuple[bytes, bytes]:
    """Read a request's head; gives it and what came after it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(_CHUNK_BYTES)
        data += more
        if not more or len(data) > _MAX_HEAD_BYTES:
            return b"", b""
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _parse(head: bytes) -> tuple[str, str, int, bytes]:
    """Read method, host and port; and give the bytes that open the talk with the server.

    Raises:
        ValueError: it is no request to a proxy.
    """
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, version = first.split(" ")
    if method == "CONNECT":
        found = _ENTRY.fullmatch(target)
        if found is None:
            raise ValueError(target)
        return method, _canonical(found["host"]), int(found["port"]), b""
    url = urlsplit(target)
    if url.scheme != "http" or not url.hostname or url.username is not None:
        raise ValueError(target)
    path = url.path or "/"
    path += f"?{url.query}" if url.query else ""
    kept = [line for line in lines if not line.lower().startswith(("proxy-", "connection:"))]
    onward = "\r\n".join([f"{method} {path} {version}", *kept, "Connection: close", "", ""])
    port = url.port or _HTTP_PORT
    return method, _canonical(url.hostname), port, onward.encode("latin-1")


def _connect(place: Destination, host: str) -> socket.socket:
    """Reach a place that is allowed.

    A name whose address is not public is not followed: whoever owns the name could point it at the
    appliance. Such addresses are reached where the task names them.

    Raises:
        OSError: it cannot be reached, or must not.
    """
    if place.via is not None:
        return socket.create_connection(place.via, timeout=_TIMEOUT_S)
    is_named = _address(host) is None
    error = OSError("it has no address")
    for *_kind, address in socket.getaddrinfo(host, place.port, type=socket.SOCK_STREAM):
        where = str(address[0])
        if is_named and not ipaddress.ip_address(where).is_global:
            error = OSError("its address is not public")
            continue
        try:
            return socket.create_connection((where, place.port), timeout=_TIMEOUT_S)
        except OSError as exc:
            error = exc
    raise error


def _relay(client: Stream, server: socket.socket) -> None:
    """Move bytes both ways until the server ends, or nobody says anything for a while."""
    thread = threading.Thread(target=_pump, args=(client, server), daemon=True)
    thread.start()
    _pump(server, client)
    with contextlib.suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)
    _Closing(client).close()
    thread.join(_TIMEOUT_S)


def _pump(source: Stream, sink: Stream) -> None:
    with contextlib.suppress(OSError, EOFError):
        while data := source.recv(_CHUNK_BYTES):
            sink.sendall(data)
    if isinstance(sink, socket.socket):
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


def _refuse(client: Stream, status: int, why: str) -> None:
    reason = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Busy"}[status]
    body = f"{why}\n".encode()
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError, EOFError):
        client.sendall(head.encode() + body)
