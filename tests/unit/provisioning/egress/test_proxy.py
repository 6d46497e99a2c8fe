"""A guest's own loopback port, over streams; the proxy and its servers are real."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest

from foundation.clock import FakeClock, wait_until
from provisioning.egress.policy import read_destinations
from provisioning.egress.proxy import Attempt, EgressProxy
from provisioning.reach.guest import GuestReach
from tests.standins.reach import GuestStandIn, free_port
from tests.standins.website import website

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def shop() -> Iterator[int]:
    """The port of a web server on this host's loopback."""
    with website(lambda path, got: f"{path} {got['Host']} {got['Connection']}\n") as port:
        yield port


@pytest.fixture
def proxy(shop: int) -> EgressProxy:
    allowed = [f"shop.test:80=127.0.0.1:{shop}", f"shop.test:443=127.0.0.1:{shop}"]
    return EgressProxy(read_destinations([*allowed, f"localhost:{shop}", "127.0.0.1:9"]))


@pytest.fixture
def guest(proxy: EgressProxy, tmp_path: Path) -> Iterator[int]:
    """The proxy's port on the guest's loopback."""
    standin, port = GuestStandIn(tmp_path), free_port()
    reach = GuestReach(standin.open, name="guest")
    with reach.serve_local(port, proxy.serve):
        yield port
    reach.close()
    standin.join()


def ask(port: int, request: str | bytes) -> str:
    """Send bytes from inside the guest; return the whole response.

    The stream is ended after an incomplete head, so that the proxy does not wait for the rest.
    """
    data = request if isinstance(request, bytes) else request.encode()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as link:
        link.sendall(data)
        if b"\r\n\r\n" not in data:
            link.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: link.recv(65536), b"")).decode()


def get(url: str) -> str:
    return f"GET {url} HTTP/1.1\r\nHost: shop.test\r\nProxy-Connection: keep-alive\r\n\r\n"


def test_allowed_name_is_reached_without_dns(guest: int, proxy: EgressProxy) -> None:
    response = ask(guest, get("http://shop.test/basket?n=2"))
    assert response.startswith("HTTP/1.0 200")
    assert response.endswith("/basket?n=2 shop.test close\n")
    assert proxy.attempts == [Attempt("shop.test", 80, is_allowed=True)]


def test_allowed_name_is_reached_through_a_tunnel(guest: int) -> None:
    inner = "GET /secret HTTP/1.0\r\nHost: shop.test\r\n\r\n"
    response = ask(guest, f"CONNECT SHOP.test.:443 HTTP/1.1\r\nHost: shop.test\r\n\r\n{inner}")
    assert response.startswith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.0 200")
    assert response.endswith("/secret shop.test None\n")


@pytest.mark.parametrize(
    "request_line",
    [
        "GET http://evil.test/ HTTP/1.1",
        "GET http://shop.test:81/ HTTP/1.1",
        "GET http://shop.test.evil.test/ HTTP/1.1",
        "GET http://xshop.test/ HTTP/1.1",
        "CONNECT shop.test:22 HTTP/1.1",
        "CONNECT 127.0.0.1:22 HTTP/1.1",
        "CONNECT [::1]:80 HTTP/1.1",
        "CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1",
        "CONNECT 2130706433:80 HTTP/1.1",
    ],
)
def test_other_requests_are_rejected_and_logged(
    guest: int, proxy: EgressProxy, request_line: str
) -> None:
    response = ask(guest, f"{request_line}\r\nHost: shop.test\r\n\r\n")
    assert response.startswith("HTTP/1.1 403 Forbidden")
    (attempt,) = proxy.attempts
    assert not attempt.is_allowed


def test_name_that_resolves_to_the_appliance_is_not_followed(guest: int, shop: int) -> None:
    response = ask(guest, get(f"http://localhost:{shop}/"))
    assert response.startswith("HTTP/1.1 502")
    assert "not public" in response


def test_unreachable_server_returns_502(guest: int) -> None:
    assert ask(guest, "CONNECT 127.0.0.1:9 HTTP/1.0\r\n\r\n").startswith("HTTP/1.1 502")


@pytest.mark.slow
@pytest.mark.parametrize(
    "garbage",
    [
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n",
        b"GET ftp://shop.test/ HTTP/1.1\r\n\r\n",
        b"GET http://shop.test:99999999/ HTTP/1.1\r\n\r\n",
        b"GET http://user@shop.test/ HTTP/1.1\r\n\r\n",
        b"CONNECT shop.test HTTP/1.1\r\n\r\n",
        b"\xff\xfe\x00 \x00 \x00\r\n\r\n",
        b"GET " + b"x" * 20000,
        b"half a req",
        b"CONNECT " + b"x" * 70 + b".test:443 HTTP/1.1\r\nHost: shop.test\r\n\r\n",
        b"CONNECT shop..test:443 HTTP/1.1\r\nHost: shop.test\r\n\r\n",
        b"GET http://" + b"x" * 70 + b"/ HTTP/1.1\r\nHost: shop.test\r\n\r\n",
        b"GET http://shop.test/ HTTP/1.1\r\nno header\r\n\r\n",
        b"",
    ],
)
def test_garbage_is_answered_and_the_next_guest_is_served(
    guest: int, proxy: EgressProxy, garbage: bytes
) -> None:
    assert ask(guest, garbage).startswith("HTTP/1.1 400")
    assert proxy.attempts == []
    assert ask(guest, get("http://shop.test/")).startswith("HTTP/1.0 200")


def test_concurrent_connections_are_served_separately(guest: int) -> None:
    responses: dict[int, str] = {}

    def one(number: int) -> None:
        responses[number] = ask(guest, get(f"http://shop.test/{number}"))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [
        n for n in range(20) if not responses.get(n, "nothing").endswith(f"/{n} shop.test close\n")
    ] == []


def test_nothing_is_allowed_by_default() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(get("http://shop.test/").encode())
        EgressProxy().serve(ours)
        assert theirs.recv(65536).startswith(b"HTTP/1.1 403")


class Origin:
    """A server that reads one connection to its end and answers on request."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.link: socket.socket | None = None

    def accept(self) -> socket.socket:
        self._listener.settimeout(20)
        self.link, _ = self._listener.accept()
        self.link.settimeout(20)
        return self.link

    def close(self) -> None:
        self._listener.close()
        if self.link is not None:
            self.link.close()


@pytest.fixture
def origin() -> Iterator[Origin]:
    server = Origin()
    yield server
    server.close()


class WatchedClock(FakeClock):
    """A clock that counts how often it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    def monotonic_s(self) -> float:
        self.looks += 1
        return super().monotonic_s()

    def is_looked_at_again(self) -> bool:
        """Wait until idle streams have timed out, one after the other."""
        before = self.looks
        return bool(wait_until(lambda: self.looks > before + 4, timeout_s=20, every_s=0.005))


@pytest.fixture
def clock() -> WatchedClock:
    return WatchedClock()


@pytest.fixture
def client(origin: Origin, clock: WatchedClock) -> Iterator[socket.socket]:
    """A guest's end of a connection that the proxy serves."""
    allowed = read_destinations([f"shop.test:80=127.0.0.1:{origin.port}"])
    proxy = EgressProxy(allowed, idle_s=0.02, clock=clock)
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=proxy.serve, args=(theirs,))
    thread.start()
    ours.settimeout(20)
    with ours:
        yield ours
    clock.advance(1)
    thread.join()


def until(link: socket.socket, end: bytes) -> bytes:
    data = b""
    while end not in data:
        more = link.recv(65536)
        assert more, data
        data += more
    return data


def rest(link: socket.socket) -> bytes:
    return b"".join(iter(lambda: link.recv(65536), b""))


def test_host_header_matches_the_target(origin: Origin, client: socket.socket) -> None:
    client.sendall(
        b"GET http://shop.test/ HTTP/1.1\r\nHost: evil.test\r\nX-Kept: 1\r\n"
        b"Connection: x-dropped\r\nX-Dropped: 1\r\nProxy-Authorization: x\r\n\r\n"
    )
    head = until(origin.accept(), b"\r\n\r\n")
    assert head.lower().split(b"\r\n") == [
        *(b"get / http/1.1", b"host: shop.test", b"x-kept: 1", b"connection: close", b"", b"")
    ]


def test_data_after_the_first_request_is_not_forwarded(
    origin: Origin, client: socket.socket
) -> None:
    first = b"POST http://shop.test/a HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 4\r\n\r\nbody"
    client.sendall(first + b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n")
    server = origin.accept()
    until(server, b"\r\n\r\nbody")
    server.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    server.shutdown(socket.SHUT_WR)
    assert rest(server) == b""
    assert rest(client).endswith(b"\r\n\r\nok")


def test_chunked_body_is_forwarded_in_chunks(origin: Origin, client: socket.socket) -> None:
    client.sendall(
        b"POST http://shop.test/a HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 3\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n"
    )
    server = origin.accept()
    seen = until(server, b"4\r\nbody\r\n")
    assert b"content-length" not in seen.lower()
    client.sendall(b"0\r\n\r\n")
    assert (seen + until(server, b"0\r\n\r\n")).endswith(b"\r\n\r\n4\r\nbody\r\n0\r\n\r\n")


def test_malformed_body_is_not_forwarded(origin: Origin, client: socket.socket) -> None:
    client.sendall(
        b"POST http://shop.test/a HTTP/1.1\r\nHost: shop.test\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nno length\r\n"
    )
    assert rest(origin.accept()).endswith(b"\r\n\r\n")
    assert rest(client) == b""


@pytest.mark.parametrize("start", ["GET http://shop.test/", "CONNECT shop.test:80"])
@pytest.mark.slow
def test_slow_download_outlasts_a_silent_guest(
    origin: Origin, client: socket.socket, clock: WatchedClock, start: str
) -> None:
    client.sendall(f"{start} HTTP/1.1\r\nHost: shop.test\r\n\r\n".encode())
    server = origin.accept()
    if start.startswith("CONNECT"):
        until(client, b"\r\n\r\n")
        client.sendall(b"hello\r\n\r\n")
    until(server, b"\r\n\r\n")
    # Each pause is shorter than the timeout, but their sum is longer.
    for _ in range(4):
        server.sendall(b"0123456789")
        assert until(client, b"9") == b"0123456789"
        clock.advance(0.015)
        assert clock.is_looked_at_again()
    server.shutdown(socket.SHUT_WR)
    assert rest(client) == b""


def test_connection_silent_in_both_directions_is_closed(
    origin: Origin, client: socket.socket, clock: WatchedClock
) -> None:
    client.sendall(b"CONNECT shop.test:80 HTTP/1.1\r\nHost: shop.test\r\n\r\n")
    server = origin.accept()
    until(client, b"\r\n\r\n")
    assert clock.is_looked_at_again()
    clock.advance(0.021)
    assert rest(client) == b""
    assert rest(server) == b""


def test_half_closed_guest_still_gets_the_reply(origin: Origin, client: socket.socket) -> None:
    client.sendall(b"CONNECT shop.test:80 HTTP/1.1\r\nHost: shop.test\r\n\r\n")
    server = origin.accept()
    until(client, b"\r\n\r\n")
    client.sendall(b"question")
    client.shutdown(socket.SHUT_WR)
    assert rest(server) == b"question"
    server.sendall(b"answer")
    server.shutdown(socket.SHUT_WR)
    assert rest(client) == b"answer"
