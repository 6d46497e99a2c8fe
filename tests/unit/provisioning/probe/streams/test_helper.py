"""Sessions of the probe's helper over a port that hangs up; the port is a pseudoterminal."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from provisioning.links.virtio import SocketTransport, connect_socket
from provisioning.probe.serving.params import Params
from provisioning.probe.streams.helper import StreamsHelper
from provisioning.reach.guest import GuestReach
from tests.standins.reach import echo, free_port, tcp_service
from tests.standins.virtio import VirtioStandIn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIMEOUT_S = 20


class Machine:
    """A port with a helper behind it, opened as a VM's is: connect first, then ask the probe."""

    def __init__(self, folder: Path) -> None:
        self.port = VirtioStandIn(folder)
        self.hosts = folder / "hosts"
        self.hosts.write_text("")
        self.helper = StreamsHelper()

    def open(self, nonce: bytes) -> SocketTransport:
        sock = socket.socket(socket.AF_UNIX)
        connect_socket(sock, self.port.socket_path)
        params = {"port": str(self.port.port), "nonce": nonce.hex(), "hosts": str(self.hosts)}
        self.helper.open(Params(params, TIMEOUT_S))
        return SocketTransport(sock)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    machine.port.close()


def ask(port: int) -> bytes:
    with socket.create_connection(("127.77.0.1", port), timeout=TIMEOUT_S) as sock:
        sock.sendall(b"hello" * 10_000)
        sock.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: sock.recv(1 << 16), b""))


def test_sessions_follow_each_other_on_one_port(machine: Machine) -> None:
    reach, port = GuestReach(machine.open, name="vm"), free_port()
    with tcp_service(echo) as service:
        for _ in range(3):
            reach.serve({"mail": {port: service}})
            assert ask(port) == b"hello" * 10_000
            assert "mail" in machine.hosts.read_text()
            reach.suspend()
            assert wait_until(
                lambda: "mail" not in machine.hosts.read_text(), timeout_s=TIMEOUT_S, every_s=0.01
            )
    reach.close()


def test_request_ends_a_session_that_a_snapshot_contained(machine: Machine) -> None:
    """The host of the older session is gone, and its guest's end still runs."""
    older, reach, port = GuestReach(machine.open, name="vm"), None, free_port()
    with tcp_service(echo) as service:
        older.serve({"mail": {port: service}})
        with socket.create_connection(("127.77.0.1", port), timeout=TIMEOUT_S) as sock:
            sock.sendall(b"x")
            assert sock.recv(1) == b"x"
            older.suspend()
            reach = GuestReach(machine.open, name="vm")
            reach.serve({"mail": {port: service}})
            with pytest.raises(ConnectionResetError):
                sock.recv(1)
            assert ask(port) == b"hello" * 10_000
        reach.close()
    older.close()
