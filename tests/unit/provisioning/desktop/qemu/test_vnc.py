from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from foundation.errors import MachineError, RequirementError
from provisioning.desktop.qemu.vnc import VncRelay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HELLO = b"RFB 003.008\n"


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Path]:
    """Serve a protocol version to each client and echo its data."""
    path = tmp_path / "vnc.sock"
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def serve() -> None:
        while True:
            try:
                viewer, _ = server.accept()
            except OSError:
                return
            with viewer, contextlib.suppress(OSError):
                viewer.sendall(HELLO)
                viewer.sendall(viewer.recv(100))

    threading.Thread(target=serve, daemon=True).start()
    yield path
    server.shutdown(socket.SHUT_RDWR)
    server.close()


def test_viewers_connect_and_disconnect_while_the_relay_runs(screen: Path) -> None:
    with VncRelay(screen) as relay:
        for payload in (b"one", b"two"):
            where = ("127.0.0.1", relay.port)
            with (
                socket.create_connection(where, timeout=10) as viewer,
                viewer.makefile("rb") as stream,
            ):
                assert stream.read(len(HELLO)) == HELLO
                viewer.sendall(payload)
                assert stream.read() == payload
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", relay.port), timeout=10)


def test_machine_without_a_vnc_server_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="has no VNC server"):
        VncRelay(tmp_path / "vnc.sock")


def test_taken_port_is_reported(screen: Path) -> None:
    with VncRelay(screen) as relay, pytest.raises(RequirementError, match="Cannot listen on port"):
        VncRelay(screen, port=relay.port)
