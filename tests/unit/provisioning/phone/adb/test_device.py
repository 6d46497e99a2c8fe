"""Deadlines and lost phones, with a server that misbehaves on purpose."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, cast

import pytest

from foundation.errors import (
    GuestCallError,
    LinkClosedError,
    LinkTimeoutError,
    PhoneOfflineError,
    PhoneUnauthorizedError,
)
from provisioning.phone.adb.device import AdbDevice
from provisioning.phone.adb.server import _refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from provisioning.phone.adb.server import AdbServer

SERIAL = "127.0.0.1:5555"
OK_EXIT = b"\x01\x03\0\0\0out\x03\x01\0\0\0\x07"


class OneStream:
    """An adb server whose streams are fed by a function, and that fails on request."""

    def __init__(self, feed: Callable[[socket.socket], None]) -> None:
        self.feed = feed
        self.failures: list[Exception] = []
        self.connects = 0
        self._ends: list[socket.socket] = []

    def open(self, serial: str, service: str, *, timeout_s: float) -> socket.socket:
        if self.failures:
            raise self.failures.pop(0)
        ours, theirs = socket.socketpair()
        self._ends.append(theirs)
        threading.Thread(target=self._feed, args=(theirs,), daemon=True).start()
        ours.settimeout(timeout_s)
        return ours

    def connect(self, serial: str, *, timeout_s: float) -> None:
        self.connects += 1

    def _feed(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            self.feed(sock)

    def close(self) -> None:
        for sock in self._ends:
            sock.close()


def answer(data: bytes, *, then_close: bool = True) -> Callable[[socket.socket], None]:
    def feed(sock: socket.socket) -> None:
        sock.sendall(data)
        if then_close:
            sock.close()

    return feed


@pytest.fixture
def server() -> Iterator[OneStream]:
    made = OneStream(answer(OK_EXIT))
    yield made
    made.close()


def device(server: OneStream) -> AdbDevice:
    return AdbDevice(cast("AdbServer", server), SERIAL)


def drip(sock: socket.socket) -> None:
    """Send a byte now and then, forever: each arrives in time, but the stream never ends."""
    gap = threading.Event()
    while True:
        sock.sendall(b"\x01\x01\0\0\0x")
        gap.wait(0.01)


def test_command_returns_its_exit_code(server: OneStream) -> None:
    result = device(server).shell("x")
    assert (result.exit_code, result.stdout) == (7, b"out")


def test_endless_stream_ends_at_its_deadline(server: OneStream) -> None:
    server.feed = drip
    for read in (device(server).shell, device(server).read, device(server).read_service):
        with pytest.raises(LinkTimeoutError):
            read("x", 0.1)


def test_missing_file_transfer_ends_at_its_deadline(
    server: OneStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("provisioning.phone.adb.device._FILE_TIMEOUT_S", 0.1)
    server.feed = answer(b"", then_close=False)
    with pytest.raises(LinkTimeoutError):
        device(server).get("/sdcard/x")
    with pytest.raises(LinkTimeoutError):
        device(server).stat("/sdcard/x")


def test_phone_lost_midway_is_reported_as_closed(server: OneStream) -> None:
    server.feed = lambda sock: sock.close()
    with pytest.raises(LinkClosedError, match="without an exit code"):
        device(server).shell("x")
    with pytest.raises(LinkClosedError, match=r"The connection to the phone .* broke"):
        device(server).get("/sdcard/x")


def test_lost_phone_is_reconnected_once(server: OneStream) -> None:
    server.failures = [PhoneOfflineError("offline")]
    assert device(server).shell("x").exit_code == 7
    assert server.connects == 1


@pytest.mark.parametrize("error", [PhoneUnauthorizedError("no"), GuestCallError("no service")])
def test_refusal_is_not_retried(server: OneStream, error: Exception) -> None:
    server.failures = [error]
    with pytest.raises(type(error)):
        device(server).shell("x")
    assert server.connects == 0


def test_wait_times_out_with_the_last_answer_of_the_phone(server: OneStream) -> None:
    server.feed = answer(b"\x01\x01\0\0\x000\x03\x01\0\0\0\0")
    with pytest.raises(LinkTimeoutError, match="did not start"):
        device(server).wait(0.2)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (
            "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set",
            PhoneUnauthorizedError,
        ),
        ("device offline", PhoneOfflineError),
        ("device '127.0.0.1:5555' not found", PhoneOfflineError),
        ("device still connecting", PhoneOfflineError),
        ("device still authorizing", PhoneOfflineError),
        ("closed", GuestCallError),
    ],
)
def test_adb_messages_distinguish_offline_from_unauthorized(
    message: str, error: type[Exception]
) -> None:
    assert type(_refused(SERIAL, "x:", message)) is error
