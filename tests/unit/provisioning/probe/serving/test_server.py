from __future__ import annotations

import json
import os
import queue
import threading
from typing import TYPE_CHECKING, Any

import pytest

from provisioning.probe.errors import ProbeError
from provisioning.probe.serving.framing import MAX_LINE_BYTES
from provisioning.probe.serving.server import KEPT_THREADS, Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.serving.params import Params


class MemoryChannel:
    def __init__(self) -> None:
        self.incoming: queue.Queue[bytes] = queue.Queue()
        self.outgoing: queue.Queue[bytes] = queue.Queue()

    def read(self) -> bytes:
        return self.incoming.get()

    def write(self, data: bytes) -> None:
        self.outgoing.put(data)

    def ask(self, **request: object) -> None:
        self.incoming.put(json.dumps(request).encode() + b"\n")

    def reply(self) -> dict[str, Any]:
        line = self.outgoing.get(timeout=10)
        assert line.endswith(b"\n")
        reply = json.loads(line)
        assert isinstance(reply, dict)
        return reply


def fail(_params: Params) -> None:
    raise ProbeError("not_found", "gone")


def break_down(_params: Params) -> None:
    raise RuntimeError("unexpected")


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def channel(release: threading.Event) -> Iterator[MemoryChannel]:
    memory = MemoryChannel()
    ops = {
        "echo": lambda params: params.values,
        "fail": fail,
        "break": break_down,
        "big": lambda _params: "x" * MAX_LINE_BYTES,
        "nan": lambda _params: float("nan"),
        "whose": lambda _params: threading.get_ident(),
        "wake": lambda _params: [
            threading.current_thread().name,
            os.getpriority(os.PRIO_PROCESS, threading.get_native_id()),
        ],
        "hang": lambda _params: release.wait(30),
    }
    thread = threading.Thread(target=Server(memory, ops, "v1").serve, name="reader")
    thread.start()
    yield memory
    release.set()
    memory.incoming.put(b"")
    thread.join(10)
    assert not thread.is_alive()


def test_result_is_returned_under_its_id(channel: MemoryChannel) -> None:
    channel.ask(id=3, op="echo", params={"a": [1]}, timeout_s=5)
    assert channel.reply() == {"id": 3, "ok": True, "result": {"a": [1]}}


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        ("fail", "not_found"),
        ("break", "failed"),
        ("big", "oversize"),
        ("nan", "oversize"),
        ("none", "unknown_op"),
    ],
)
def test_failure_is_returned_with_its_type(channel: MemoryChannel, op: str, kind: str) -> None:
    channel.ask(id=4, op=op, params={}, timeout_s=5)
    reply = channel.reply()
    assert (reply["id"], reply["ok"], reply["error"]["type"]) == (4, False, kind)


@pytest.mark.parametrize(
    "line",
    [
        b"garbage",
        b"[]",
        b'{"id":"x","op":"echo"}',
        b'{"id":1}',
        b'{"id":1,"op":"echo","timeout_s":-1}',
    ],
)
def test_invalid_request_is_rejected_and_the_next_served(
    channel: MemoryChannel, line: bytes
) -> None:
    channel.incoming.put(line + b"\n")
    assert channel.reply()["error"]["type"] == "bad_request"
    channel.ask(id=1, op="echo", params={}, timeout_s=5)
    assert channel.reply()["ok"] is True


def test_oversize_request_is_rejected_and_the_next_served(channel: MemoryChannel) -> None:
    channel.incoming.put(b"x" * (MAX_LINE_BYTES + 1) + b"\n")
    assert channel.reply()["error"]["type"] == "oversize"
    channel.ask(id=1, op="echo", params={}, timeout_s=5)
    assert channel.reply()["ok"] is True


def test_hung_request_is_answered_once_at_its_deadline(
    channel: MemoryChannel, release: threading.Event
) -> None:
    channel.ask(id=1, op="hang", params={}, timeout_s=0.1)
    assert channel.reply()["error"]["type"] == "timeout"
    release.set()
    channel.ask(id=2, op="echo", params={}, timeout_s=5)
    assert channel.reply()["id"] == 2


def test_request_reuses_a_free_thread(channel: MemoryChannel) -> None:
    threads = set()
    for number in range(20):
        channel.ask(id=number, op="whose", params={}, timeout_s=5)
        threads.add(channel.reply()["result"])
    # The first may not be idle again when the second arrives.
    assert len(threads) <= KEPT_THREADS


def test_concurrent_requests_do_not_wait_for_each_other(
    channel: MemoryChannel, release: threading.Event
) -> None:
    for number in range(2 * KEPT_THREADS):
        channel.ask(id=number, op="hang", params={}, timeout_s=30)
    channel.ask(id=99, op="echo", params={}, timeout_s=5)
    assert channel.reply()["id"] == 99
    release.set()
    assert {channel.reply()["id"] for _ in range(2 * KEPT_THREADS)} == set(range(2 * KEPT_THREADS))


def test_wake_is_answered_by_the_reader_before_other_requests(
    channel: MemoryChannel,
) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    channel.ask(id=1, op="wake")
    name, priority = channel.reply()["result"]
    assert name == "reader"
    assert priority == -20 or os.getuid() != 0
    channel.ask(id=2, op="echo", params={"x": 1})
    assert channel.reply()["result"] == {"x": 1}
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
