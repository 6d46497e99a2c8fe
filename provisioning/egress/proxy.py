"""The proxy through which a guest reaches the destinations that its task allows, and nothing else.

Guests have no route to a network. The proxy runs on the trusted side and implements HTTP's proxy
protocol (``CONNECT``, and plain requests in absolute form). It resolves names, so guests need no DNS,
and it opens the connections, so IPv6 cannot bypass it. A connection carries one request, which h11
parses and serializes again; data after the request is never forwarded.

Source: RFC 9110, 9.3.6 and RFC 9112, 3.2.2.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import h11

from foundation.clock import SYSTEM_CLOCK, Clock
from provisioning.egress.policy import Destination, address_of, canonical_host, split_host_port
from provisioning.egress.relay import IdleTimer, end, relay, tunnel

if TYPE_CHECKING:
    from provisioning.protocols import Stream

_MAX_HEAD_BYTES = 16384
_CONNECT_TIMEOUT_S = 30.0
_IDLE_S = 120.0
_MAX_AT_ONCE = 64
_MAX_ATTEMPTS = 1000
_HTTP_PORT = 80
# Headers of one connection only. Source: RFC 9110, 7.6.1.
_HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"te", b"upgrade", b"host"})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A guest's request to reach a destination.

    Attributes:
        host: requested host.
        port: TCP port.
        is_allowed: whether the destination is allowed.
    """

    host: str
    port: int
    is_allowed: bool


class _Target(NamedTuple):
    """The target of a request.

    Attributes:
        host: host in canonical form.
        port: TCP port.
        authority: host and port as spelled in the request, for ``Host``.
        path: path with the query.
    """

    host: str
    port: int
    authority: str = ""
    path: str = ""


@dataclass
class EgressProxy:
    """Forwards a guest's connections to allowed destinations, and records all attempts.

    Attributes:
        allowed: destinations that may be reached; none by default.
        attempts: the last thousand attempts, oldest first.
        idle_s: how long both directions of a connection may be idle.
        clock: clock used to measure idle time.
    """

    allowed: tuple[Destination, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    idle_s: float = _IDLE_S
    clock: Clock = SYSTEM_CLOCK
    _slots: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(_MAX_AT_ONCE)
    )

    def serve(self, client: Stream) -> None:
        """Serve one connection to its end, and close it in any case."""
        try:
            if not self._slots.acquire(blocking=False):
                _refuse(client, 503, "too many connections")
                return
            try:
                client.settimeout(self.idle_s)
                self._serve(client)
            finally:
                self._slots.release()
        except (OSError, EOFError, h11.ProtocolError) as exc:
            _log.debug("An egress connection ended early: %r", exc)
        finally:
            end(client)

    def _serve(self, client: Stream) -> None:
        timer = IdleTimer(self.idle_s, self.clock)
        inbound = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)
        try:
            request = _read_request(inbound, client, timer)
            target = _target_of(request)
        except (h11.RemoteProtocolError, ValueError) as exc:
            _log.debug("A guest sent an invalid proxy request: %s", exc)
            _refuse(client, 400, "invalid proxy request")
            return
        server = self._connect(target, client)
        if server is None:
            return
        with contextlib.closing(server):
            server.settimeout(self.idle_s)
            if request.method == b"CONNECT":
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                tunnel(client, server, timer, inbound.trailing_data[0])
                return
            onward = h11.Connection(h11.CLIENT)
            server.sendall(_write_head(onward, request, target))
            relay(client, server, timer, lambda: _upload(inbound, onward, client, server, timer))

    def _connect(self, target: _Target, client: Stream) -> socket.socket | None:
        """Connect to an allowed destination; otherwise send a refusal and return None."""
        host, port = target.host, target.port
        place = next((place for place in self.allowed if place.covers(host, port)), None)
        self.attempts.append(Attempt(host, port, place is not None))
        del self.attempts[:-_MAX_ATTEMPTS]
        if place is None:
            _refuse(client, 403, f"{host}:{port} is not allowed by the task")
            return None
        try:
            return _open(place, host)
        except OSError as exc:
            _refuse(client, 502, f"{host}:{port} cannot be reached: {exc}")
            return None


def _read_request(inbound: h11.Connection, client: Stream, timer: IdleTimer) -> h11.Request:
    while True:
        event = inbound.next_event()
        if isinstance(event, h11.Request):
            return event
        if event is not h11.NEED_DATA:
            raise ValueError("the connection ended before a request")
        inbound.receive_data(timer.receive(client))


def _target_of(request: h11.Request) -> _Target:
    """Return the target of a request.

    Raises:
        ValueError: the request is not a proxy request.
    """
    text = request.target.decode("ascii")
    if request.method == b"CONNECT":
        return _Target(*split_host_port(text))
    url = urlsplit(text)
    if url.scheme != "http" or not url.hostname or url.username is not None:
        raise ValueError(text)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return _Target(canonical_host(url.hostname), url.port or _HTTP_PORT, url.netloc, path)


def _write_head(onward: h11.Connection, request: h11.Request, target: _Target) -> bytes:
    """Return the head of the request to the server, with that server's own ``Host``."""
    names = {name for name, _ in request.headers}
    dropped = _HOP_BY_HOP | _listed_in_connection(request)
    if b"transfer-encoding" in names:
        dropped |= {b"content-length"}
    kept = [
        (name, value)
        for name, value in request.headers
        if name not in dropped and not name.startswith(b"proxy-")
    ]
    host = (b"host", target.authority.encode("ascii"))
    headers = [host, *kept, (b"connection", b"close")]
    head = onward.send(h11.Request(method=request.method, target=target.path, headers=headers))
    version = b" HTTP/" + request.http_version + b"\r\n"
    return (head or b"").replace(b" HTTP/1.1\r\n", version, 1)


def _listed_in_connection(request: h11.Request) -> frozenset[bytes]:
    values = [value for name, value in request.headers if name == b"connection"]
    listed = {part.strip().lower() for value in values for part in value.split(b",")}
    # The guest must not be able to drop the framing of a body.
    return frozenset(listed - {b"transfer-encoding", b"content-length"})


def _upload(
    inbound: h11.Connection,
    onward: h11.Connection,
    client: Stream,
    server: socket.socket,
    timer: IdleTimer,
) -> None:
    """Forward the body of the one request.

    Raises:
        OSError: a connection broke or was idle for too long.
        ValueError: the body is malformed.
    """
    while True:
        try:
            event = inbound.next_event()
        except h11.ProtocolError as exc:
            raise ValueError(str(exc)) from exc
        if event is h11.NEED_DATA:
            inbound.receive_data(timer.receive(client))
        elif isinstance(event, h11.Data):
            server.sendall(onward.send(h11.Data(data=event.data)) or b"")
        elif isinstance(event, h11.EndOfMessage):
            server.sendall(onward.send(h11.EndOfMessage(headers=event.headers)) or b"")
            return
        else:
            raise ValueError(f"unexpected {event!r} in a body")


def _open(place: Destination, host: str) -> socket.socket:
    """Connect to an allowed destination.

    A name that resolves to a non-public address is refused, as the owner of the name could point it
    at the appliance. The task must list such addresses explicitly.

    Raises:
        OSError: the destination cannot be reached, or its address is refused.
    """
    if place.via is not None:
        return socket.create_connection(place.via, timeout=_CONNECT_TIMEOUT_S)
    is_named = address_of(host) is None
    error = OSError("the name has no address")
    for *_kind, address in socket.getaddrinfo(host, place.port, type=socket.SOCK_STREAM):
        ip = str(address[0])
        if is_named and not ipaddress.ip_address(ip).is_global:
            error = OSError("the address is not public")
            continue
        try:
            return socket.create_connection((ip, place.port), timeout=_CONNECT_TIMEOUT_S)
        except OSError as exc:
            error = exc
    raise error


def _refuse(client: Stream, status: int, why: str) -> None:
    reason = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Busy"}[status]
    body = f"{why}\n".encode()
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    client.sendall(head.encode() + body)
