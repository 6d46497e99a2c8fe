from __future__ import annotations

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from foundation.clock import wait_until
from foundation.errors import (
    GuestCallError,
    LinkClosedError,
    LinkError,
    LinkProtocolError,
    LinkTimeoutError,
)
from provisioning.links import client as client_module
from provisioning.links.client import LinkClient
from provisioning.links.virtio import SocketTransport
from provisioning.probe.serving.framing import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator


class Peer:
    """The other end of a link, controlled by the test."""

    def __init__(self) -> None:
        near, self.sock = socket.socketpair()
        self.client = LinkClient(SocketTransport(near), name="peer")
        self._lines = self.sock.makefile("rb")

    def request(self) -> dict[str, Any]:
        while not (line := self._lines.readline().strip()):
            pass
        request = json.loads(line)
        assert isinstance(request, dict)
        return request

    def next_line(self) -> bytes:
        return self._lines.readline().strip()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def reply(self, request: dict[str, Any], **body: object) -> None:
        self.send(json.dumps({"id": request["id"], **body}).encode() + b"\n")

    def close(self) -> None:
        self.client.close()
        self._lines.close()
        self.sock.close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    far_end = Peer()
    yield far_end
    far_end.close()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


def test_request_carries_id_operation_parameters_and_deadline(
    peer: Peer, pool: ThreadPoolExecutor
) -> None:
    waiting = pool.submit(peer.client.call, "stat", {"path": "ü"}, timeout_s=5)
    request = peer.request()
    assert (request["op"], request["params"], request["timeout_s"]) == ("stat", {"path": "ü"}, 5)
    peer.reply(request, ok=True, result=[1, None])
    assert waiting.result() == [1, None]


def test_replies_may_arrive_in_any_order(peer: Peer, pool: ThreadPoolExecutor) -> None:
    calls = {name: pool.submit(peer.client.call, name) for name in ("a", "b", "c")}
    for request in sorted((peer.request() for _ in calls), key=lambda sent: str(sent["op"]))[::-1]:
        peer.reply(request, ok=True, result=request["op"])
    assert {name: call.result() for name, call in calls.items()} == {"a": "a", "b": "b", "c": "c"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("failed", GuestCallError),
        ("busy", GuestCallError),
        ("timeout", LinkTimeoutError),
        ("oversize", LinkProtocolError),
    ],
)
def test_guest_errors_are_mapped_to_ours(
    peer: Peer, pool: ThreadPoolExecutor, kind: str, expected: type[LinkError]
) -> None:
    waiting = pool.submit(peer.client.call, "x")
    peer.reply(peer.request(), ok=False, error={"type": kind, "message": "its words"})
    with pytest.raises(expected, match="its words") as caught:
        waiting.result()
    assert getattr(caught.value, "kind", kind) == kind


def test_missing_reply_ends_only_its_call_at_the_deadline(
    peer: Peer, pool: ThreadPoolExecutor
) -> None:
    began_s = time.monotonic()
    with pytest.raises(LinkTimeoutError):
        peer.client.call("slow", timeout_s=0.1)
    assert time.monotonic() - began_s < 20
    late = peer.request()
    waiting = pool.submit(peer.client.call, "next")
    request = peer.request()
    peer.reply(late, ok=True, result="late")
    peer.reply(request, ok=True, result="next")
    assert waiting.result() == "next"


def test_guest_that_reads_nothing_blocks_no_call_past_the_deadline(peer: Peer) -> None:
    big = "x" * 1_000_000
    began_s = time.monotonic()
    for _ in range(3):
        with pytest.raises(LinkTimeoutError):
            peer.client.call("put", {"data": big}, timeout_s=0.1)
    assert time.monotonic() - began_s < 20


@pytest.mark.parametrize(
    "line",
    [
        b"garbage",
        b"[]",
        b"{}",
        b'{"id":1}',
        b'{"id":"1","ok":true,"result":1}',
        b"[" * 100_000,
        b'{"id":NaN}',
        b"\xff\xfe\x00",
        b"9" * 10_000,
    ],
)
def test_garbage_is_skipped(peer: Peer, pool: ThreadPoolExecutor, line: bytes) -> None:
    waiting = pool.submit(peer.client.call, "x", timeout_s=20)
    request = peer.request()
    peer.send(line + b"\n")
    peer.reply(request, ok=True, result=1)
    assert waiting.result() == 1


@pytest.mark.slow
def test_garbage_instead_of_a_reply_is_a_protocol_error(
    peer: Peer, pool: ThreadPoolExecutor
) -> None:
    waiting = pool.submit(peer.client.call, "x", timeout_s=1)
    peer.request()
    peer.send(b"what?\n")
    with pytest.raises(LinkProtocolError, match="invalid lines"):
        waiting.result()


def test_corrupted_reply_ends_its_call_at_once(peer: Peer, pool: ThreadPoolExecutor) -> None:
    waiting = pool.submit(peer.client.call, "x", timeout_s=30)
    number = peer.request()["id"]
    peer.send(b'{"id":%d,"ok":maybe}\n' % number)
    with pytest.raises(LinkProtocolError):
        waiting.result(timeout=5)


def test_oversize_reply_ends_only_its_call(peer: Peer, pool: ThreadPoolExecutor) -> None:
    waiting = pool.submit(peer.client.call, "x", timeout_s=30)
    number = peer.request()["id"]
    peer.send(b'{"id":%d,"ok":true,"result":"' % number + b"x" * MAX_LINE_BYTES + b'"}\n')
    with pytest.raises(LinkProtocolError, match="a line of more than"):
        waiting.result(timeout=10)
    again = pool.submit(peer.client.call, "y", timeout_s=20)
    peer.reply(peer.request(), ok=True, result=2)
    assert again.result() == 2


def test_endless_noise_closes_the_link(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_NOISE_BYTES", 100_000)

    def flood() -> None:
        try:
            for _ in range(1000):
                peer.send(b"x" * 10_000)
        except OSError:
            pass

    thread = threading.Thread(target=flood)
    thread.start()
    assert wait_until(lambda: peer.client.is_closed, timeout_s=10)
    thread.join()
    with pytest.raises(LinkClosedError, match="without a valid message"):
        peer.client.call("x")


def test_resync_accepts_any_of_its_pings(peer: Peer, pool: ThreadPoolExecutor) -> None:
    waiting = pool.submit(peer.client.resync, timeout_s=10)
    peer.request()
    peer.reply(peer.request(), ok=True, result="second")
    assert waiting.result() == "second"


@pytest.mark.slow
def test_resync_ends_at_its_deadline(peer: Peer) -> None:
    with pytest.raises(LinkTimeoutError):
        peer.client.resync(timeout_s=0.4)


def test_synchronizing_call_takes_one_message(peer: Peer, pool: ThreadPoolExecutor) -> None:
    waiting = pool.submit(peer.client.resync_with, "wake", lambda: {"x": 1}, timeout_s=10)
    assert peer.next_line() == b""
    request = peer.request()
    assert (request["op"], request["params"]) == ("wake", {"x": 1})
    peer.reply(request, ok=True, result="awake")
    assert waiting.result() == "awake"


def test_lost_call_is_repeated_once_a_ping_is_answered(
    peer: Peer, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_FIRST_PING_S", 0.05)
    described = iter([{"x": 1}, {"x": 2}])
    waiting = pool.submit(peer.client.resync_with, "wake", lambda: next(described), timeout_s=10)
    assert peer.request()["params"] == {"x": 1}
    ping = peer.request()
    assert ping["op"] == "ping"
    peer.reply(ping, ok=True, result=None)
    while (again := peer.request())["op"] == "ping":
        pass
    assert (again["op"], again["params"]) == ("wake", {"x": 2})
    peer.reply(again, ok=True, result="awake")
    assert waiting.result() == "awake"


def test_slow_call_is_not_repeated(
    peer: Peer, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_FIRST_PING_S", 0.05)
    waiting = pool.submit(peer.client.resync_with, "wake", dict, timeout_s=10)
    wake, ping = peer.request(), peer.request()
    peer.reply(wake, ok=False, error={"type": "failed", "message": "its words"})
    peer.reply(ping, ok=True, result=None)
    with pytest.raises(GuestCallError, match="its words"):
        waiting.result()


@pytest.mark.slow
def test_synchronizing_call_ends_at_its_deadline(peer: Peer) -> None:
    with pytest.raises(LinkTimeoutError):
        peer.client.resync_with("wake", dict, timeout_s=0.4)


def test_end_of_the_peer_ends_all_waiting_calls(peer: Peer, pool: ThreadPoolExecutor) -> None:
    waiting = [pool.submit(peer.client.call, "x", timeout_s=30) for _ in range(3)]
    for _ in waiting:
        peer.request()
    peer.sock.shutdown(socket.SHUT_RDWR)
    for call in waiting:
        with pytest.raises(LinkClosedError):
            call.result(timeout=5)


def test_another_hello_ends_the_calls_to_the_previous_probe(
    peer: Peer, pool: ThreadPoolExecutor
) -> None:
    peer.send(b'{"hello":{"version":"v","pid":1}}\n')
    assert wait_until(lambda: peer.client.hello, timeout_s=20)
    waiting = pool.submit(peer.client.call, "x", timeout_s=30)
    peer.request()
    peer.send(b'{"hello":{"version":"v","pid":1}}\n{"hello":{"version":"v","pid":2}}\n')
    with pytest.raises(LinkClosedError, match="restarted"):
        waiting.result(timeout=5)
