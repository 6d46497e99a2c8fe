"""A guest's own loopback port, over a real SSH server; the proxy and its servers are real."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest

from appliance.base.errors import LinkError, SpecError
from provisioning.egress.proxy import Attempt, Destination, EgressProxy, read_destinations
from provisioning.links.ssh import open_ssh
from tests.standins.ssh import SshStandIn
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
    server = SshStandIn(tmp_path)
    try:
        with open_ssh(server.target) as session, session.guest_port(proxy.serve, port=0) as port:
            yield port
    finally:
        server.close()


def ask(port: int, request: str | bytes) -> str:
    """Send bytes from inside the guest; gives all that comes back.

    What is no whole head is ended, so that the proxy does not wait for more of it.
    """
    data = request if isinstance(request, bytes) else request.encode()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as link:
        link.sendall(data)
        if b"\r\n\r\n" not in data:
            link.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: link.recv(65536), b"")).decode()


def get(url: str) -> str:
    return f"GET {url} HTTP/1.1\r\nHost: shop.test\r\nProxy-Connection: keep-alive\r\n\r\n"


def test_an_allowed_name_is_reached_without_dns(guest: int, proxy: EgressProxy) -> None:
    said = ask(guest, get("http://shop.test/basket?n=2"))
    assert said.startswith("HTTP/1.0 200")
    assert said.endswith("/basket?n=2 shop.test close\n")
    assert proxy.attempts == [Attempt("shop.test", 80, is_allowed=True)]


def test_an_allowed_name_is_reached_through_a_tunnel(guest: int) -> None:
    inner = "GET /secret HTTP/1.0\r\nHost: shop.test\r\n\r\n"
    said = ask(guest, f"CONNECT SHOP.test.:443 HTTP/1.1\r\n\r\n{inner}")
    assert said.startswith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.0 200")
    assert said.endswith("/secret shop.test None\n")


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
def test_anything_else_is_refused_and_noted(
    guest: int, proxy: EgressProxy, request_line: str
) -> None:
    said = ask(guest, f"{request_line}\r\nHost: shop.test\r\n\r\n")
    assert said.startswith("HTTP/1.1 403 Forbidden")
    (attempt,) = proxy.attempts
    assert not attempt.is_allowed


def test_a_name_that_points_at_the_appliance_is_not_followed(guest: int, shop: int) -> None:
    said = ask(guest, get(f"http://localhost:{shop}/"))
    assert said.startswith("HTTP/1.1 502")
    assert "not public" in said


def test_a_server_that_is_away_is_said_so(guest: int) -> None:
    assert ask(guest, "CONNECT 127.0.0.1:9 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 502")


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
        b"",
    ],
)
def test_garbage_is_answered_and_the_next_guest_is_served(
    guest: int, proxy: EgressProxy, garbage: bytes
) -> None:
    assert ask(guest, garbage).startswith("HTTP/1.1 400")
    assert proxy.attempts == []
    assert ask(guest, get("http://shop.test/")).startswith("HTTP/1.0 200")


def test_many_connections_at_once_are_served_apart(guest: int) -> None:
    said: dict[int, str] = {}

    def one(number: int) -> None:
        said[number] = ask(guest, get(f"http://shop.test/{number}"))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [
        n for n in range(20) if not said.get(n, "nothing").endswith(f"/{n} shop.test close\n")
    ] == []


def test_nothing_is_allowed_by_default() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(get("http://shop.test/").encode())
        EgressProxy().serve(ours)
        assert theirs.recv(65536).startswith(b"HTTP/1.1 403")


def test_a_guest_that_forwards_nothing_is_said_so(tmp_path: Path) -> None:
    server = SshStandIn(tmp_path)
    try:
        with open_ssh(server.target) as session:
            taken = session.guest_port(lambda _stream: None, port=server.target.port)
            with pytest.raises(LinkError, match="forwarded"), taken:
                pass
    finally:
        server.close()


def test_destinations_are_read_in_one_spelling() -> None:
    assert read_destinations(["Example.ORG.:443", "*.wiki.test:80", "[2001:DB8::0:1]:80"]) == (
        Destination("example.org", 443),
        Destination("*.wiki.test", 80),
        Destination("2001:db8::1", 80),
    )
    wild = Destination("*.wiki.test", 80)
    assert wild.covers("en.wiki.test", 80)
    assert not wild.covers("wiki.test", 80)
    assert not wild.covers("evilwiki.test", 80)


@pytest.mark.parametrize(
    "entry",
    [
        "example.org",
        "example.org:0",
        "example.org:70000",
        ":80",
        "*:443",
        "*.:443",
        "a.*.b:80",
        "http://a.test:80",
        "a.test:80=b.test:80",
        "a b:80",
    ],
)
def test_a_destination_that_makes_no_sense_is_refused(entry: str) -> None:
    with pytest.raises(SpecError):
        read_destinations([entry])
