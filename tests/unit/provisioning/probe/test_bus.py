"""A real message bus, and those who answer in its place."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from appliance.base import process
from appliance.base.clock import wait_until
from provisioning.probe.bus import DAEMON, Bus, BusError, Call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_S = 10.0
PATH, PROPERTIES = "/org/freedesktop/DBus", "org.freedesktop.DBus.Properties"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Run a bus; give the path of its socket and its process."""
    if process.find_tool("dbus-daemon") is None:
        pytest.skip("needs dbus-daemon")
    path = tmp_path / "bus"
    argv = ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={path}"]
    started = process.start(argv, env=dict(os.environ))
    try:
        assert wait_until(path.exists, timeout_s=10)
        yield str(path), started.pid
    finally:
        process.kill_group(started)
        for pipe in (started.stdin, started.stdout, started.stderr):
            if pipe is not None:
                pipe.close()


@contextlib.contextmanager
def connected(path: str, patience_s: float = PATIENCE_S) -> Iterator[Bus]:
    bus = Bus(path, os.getuid(), patience_s)
    try:
        yield bus
    finally:
        bus.close()


def test_a_bus_tells_who_is_on_it(daemon: tuple[str, int]) -> None:
    path, pid = daemon
    with connected(path) as one, connected(path) as other:
        assert one.pid == pid
        one.log_in(only_from=pid)
        other.log_in(only_from=pid)
        reply = one.ask_daemon("ListNames")
        assert reply is not None
        assert set(reply[0]) == {DAEMON, ":1.0", ":1.1"}
        pids = one.ask_daemon_each("GetConnectionUnixProcessID", [":1.0", ":1.9", ":1.1"])
        assert pids == [[os.getpid()], None, [os.getpid()]]


def test_values_of_many_kinds_are_read(daemon: tuple[str, int]) -> None:
    with connected(daemon[0]) as bus:
        bus.log_in(only_from=daemon[1])
        told = bus.ask_daemon("GetConnectionCredentials", ":1.0")
        assert told is not None
        assert dict(told[0])["UnixUserID"] == os.getuid()
        (features,) = bus.ask([Call(DAEMON, PATH, PROPERTIES, "Get", (DAEMON, "Features"))])
        assert features is not None
        assert all(isinstance(one, str) for one in features[0])


def test_more_calls_than_go_out_at_once_are_answered_in_order(daemon: tuple[str, int]) -> None:
    with connected(daemon[0]) as bus:
        bus.log_in(only_from=daemon[1])
        names = [DAEMON if n % 3 else f"no.such{n}" for n in range(170)]
        replies = bus.ask_daemon_each("NameHasOwner", names)
        assert replies == [[int(name == DAEMON)] for name in names]


def test_another_process_than_the_named_one_is_not_heard(daemon: tuple[str, int]) -> None:
    with connected(daemon[0]) as bus, pytest.raises(BusError, match="in the bus' place"):
        bus.log_in(only_from=os.getpid())


def test_a_bus_that_is_silent_costs_no_more_than_patience(tmp_path: Path) -> None:
    path = str(tmp_path / "silent")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        with connected(path, 0.05) as bus, pytest.raises(BusError, match="in time"):
            bus.log_in()


@pytest.mark.parametrize(
    "said",
    [
        b"REJECTED EXTERNAL\r\n",
        b"OK 00\r\nand more",
        b"OK 00\r\n" + b"x" * 40,
        b"",
    ],
)
def test_a_bus_that_makes_no_sense_is_left(tmp_path: Path, said: bytes) -> None:
    path = str(tmp_path / "odd")

    def answer(server: socket.socket) -> None:
        link, _ = server.accept()
        with link:
            link.recv(100)
            link.sendall(said)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        with connected(path) as bus, pytest.raises(BusError):
            bus.log_in()
        thread.join()


def test_nobody_at_the_path_is_told(tmp_path: Path) -> None:
    with pytest.raises(BusError, match="nobody"):
        Bus(str(tmp_path / "none"), os.getuid(), PATIENCE_S)
