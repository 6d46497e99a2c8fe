"""A real message bus, and impostors that answer in its place."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from typing import TYPE_CHECKING

import pytest

from foundation import process
from foundation.clock import wait_until
from provisioning.probe.accessibility.bus import DAEMON, Bus, BusError, Call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIMEOUT_S = 10.0
PATH, PROPERTIES = "/org/freedesktop/DBus", "org.freedesktop.DBus.Properties"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Run a bus; return the path of its socket and its process ID."""
    if process.find_tool("dbus-daemon") is None:
        pytest.skip("needs dbus-daemon")
    path = tmp_path / "bus"
    argv = ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={path}"]
    started = process.start(argv, env=dict(os.environ))
    try:
        assert wait_until(lambda: listens(path), timeout_s=10)
        yield str(path), started.pid
    finally:
        process.kill_group(started)
        for pipe in (started.stdin, started.stdout, started.stderr):
            if pipe is not None:
                pipe.close()


def listens(path: Path) -> bool:
    """Return whether a server is listening at a socket, whose file exists slightly earlier."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


@contextlib.contextmanager
def connected(path: str, timeout_s: float = TIMEOUT_S) -> Iterator[Bus]:
    bus = Bus(path, os.getuid(), timeout_s)
    try:
        yield bus
    finally:
        bus.close()


def test_bus_reports_its_connections(daemon: tuple[str, int]) -> None:
    path, pid = daemon
    with connected(path) as bus, connected(path) as other:
        assert bus.pid == pid
        bus.log_in(only_from=pid)
        other.log_in(only_from=pid)
        reply = bus.call_daemon("ListNames")
        assert reply is not None
        assert set(reply[0]) == {DAEMON, ":1.0", ":1.1"}
        pids = bus.call_daemon_for_each("GetConnectionUnixProcessID", [":1.0", ":1.9", ":1.1"])
        assert pids == [[os.getpid()], None, [os.getpid()]]


def test_values_of_many_types_are_read(daemon: tuple[str, int]) -> None:
    with connected(daemon[0]) as bus:
        bus.log_in(only_from=daemon[1])
        credentials = bus.call_daemon("GetConnectionCredentials", ":1.0")
        assert credentials is not None
        assert credentials[0]["UnixUserID"] == ("u", os.getuid())
        (features,) = bus.call([Call(DAEMON, PATH, PROPERTIES, "Get", (DAEMON, "Features"))])
        assert features is not None
        signature, names = features[0]
        assert signature == "as"
        assert all(isinstance(name, str) for name in names)


def test_calls_beyond_the_window_are_answered_in_order(daemon: tuple[str, int]) -> None:
    with connected(daemon[0]) as bus:
        bus.log_in(only_from=daemon[1])
        names = [DAEMON if n % 3 else f"no.such{n}" for n in range(170)]
        replies = bus.call_daemon_for_each("NameHasOwner", names)
        assert replies == [[int(name == DAEMON)] for name in names]


def test_process_other_than_the_named_one_is_ignored(daemon: tuple[str, int]) -> None:
    with connected(daemon[0]) as bus, pytest.raises(BusError, match="instead of the bus"):
        bus.log_in(only_from=os.getpid())


def test_unresponsive_bus_times_out(tmp_path: Path) -> None:
    path = str(tmp_path / "silent")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        with connected(path, 0.05) as bus, pytest.raises(BusError, match="in time"):
            bus.log_in()


@pytest.mark.parametrize(
    "reply",
    [
        b"REJECTED EXTERNAL\r\n",
        b"OK 00\r\nand more",
        b"OK 00\r\n" + b"x" * 40,
        b"",
    ],
)
def test_invalid_bus_replies_are_an_error(tmp_path: Path, reply: bytes) -> None:
    path = str(tmp_path / "odd")

    def answer(server: socket.socket) -> None:
        link, _ = server.accept()
        with link:
            link.recv(100)
            link.sendall(reply)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        with connected(path) as bus, pytest.raises(BusError):
            bus.log_in()
        thread.join()


def message(kind: int, fields: bytes, body: bytes = b"") -> bytes:
    """Return a hand-written message, as a misbehaving peer may send."""
    head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), 1, len(fields))
    return head + fields + bytes(-len(fields) % 8) + body


# A header field whose variant is an array of structs without fields.
EMPTY_STRUCTS = b"\1\3a()\0" + bytes(2) + struct.pack("<I", 4) + bytes(8)
UNKNOWN_FIELD = b"\x2a\1y\0\7"
RETURN, UNKNOWN_KIND = 2, 9


@pytest.mark.parametrize(
    "sent",
    [
        message(RETURN, EMPTY_STRUCTS),
        message(RETURN, UNKNOWN_FIELD),
        message(RETURN, b"\5\1?\0" + bytes(4)),
        message(RETURN, b"\x08\1g\0\1s\0" + bytes(1), struct.pack("<I", 3) + b"abc."),
        message(RETURN, b"", bytes(1 << 10)).replace(struct.pack("<I", 1 << 10), b"\xff" * 4),
    ],
    ids=["empty structs", "unknown field", "unknown type", "no final NUL", "too long"],
)
def test_malformed_reply_closes_the_connection_at_once(tmp_path: Path, sent: bytes) -> None:
    with (
        peer(tmp_path, sent) as path,
        connected(path) as bus,
        pytest.raises(BusError, match=r"malformed|too much"),
    ):
        bus.log_in()


def test_messages_other_than_replies_are_not_parsed(tmp_path: Path) -> None:
    sent = message(UNKNOWN_KIND, UNKNOWN_FIELD) + message(4, EMPTY_STRUCTS)
    with (
        peer(tmp_path, sent) as path,
        connected(path) as bus,
        pytest.raises(BusError, match="closed the connection"),
    ):
        bus.log_in()


@contextlib.contextmanager
def peer(tmp_path: Path, sent: bytes) -> Iterator[str]:
    """Listen at a path, authenticate one connection, send bytes, close."""
    path = str(tmp_path / "peer")

    def reply(server: socket.socket) -> None:
        link, _ = server.accept()
        with link:
            link.recv(100)
            link.sendall(b"OK 00\r\n")
            wanted = b"Hello"
            data = b""
            while wanted not in data:
                data += link.recv(1 << 12)
            link.sendall(sent)
            link.shutdown(socket.SHUT_WR)
            # Read to the end: a socket closed with unread bytes resets the connection.
            while link.recv(1 << 12):
                pass

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        thread = threading.Thread(target=reply, args=(server,))
        thread.start()
        yield path
        thread.join()


def test_missing_bus_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BusError, match="cannot connect to the bus"):
        Bus(str(tmp_path / "none"), os.getuid(), TIMEOUT_S)
