from __future__ import annotations

import contextlib
import json
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest

from foundation.errors import MachineError
from provisioning.desktop.qemu.input_monitor import InputMonitor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GREETING = {"QMP": {"version": {}, "capabilities": ["oob"]}}
DOWN = {"type": "btn", "data": {"button": "left", "down": True}}
UP = {"type": "btn", "data": {"button": "left", "down": False}}


class Qemu:
    """The monitor of a QEMU: executes commands one by one, between events."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.commands: list[dict[str, Any]] = []
        self.refusal = ""
        self.reads: list[bytes] = []
        self._start()

    def _start(self) -> None:
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(self.path))
        self._server.listen(1)
        self._client: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, args=(self._server,), daemon=True)
        self._thread.start()

    def _serve(self, server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            self._client = client
            with client:
                self._say(client, GREETING)
                self._converse(client)

    def _converse(self, client: socket.socket) -> None:
        unread = b""
        while True:
            try:
                data = client.recv(65536)
            except OSError:
                return
            if not data:
                return
            self.reads.append(data)
            unread += data
            *lines, unread = unread.split(b"\n")
            for line in lines:
                command = json.loads(line)
                if command["execute"] != "qmp_capabilities":
                    self.commands.append(command)
                    self._say(client, {"event": "RTC_CHANGE", "data": {}})
                    if self.refusal:
                        self._say(client, {"error": {"class": "x", "desc": self.refusal}})
                        continue
                self._say(client, {"return": {}})

    def _say(self, client: socket.socket, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the test has ended
            client.sendall(json.dumps(message).encode() + b"\r\n")

    def frames(self) -> list[list[dict[str, Any]]]:
        return [command["arguments"]["events"] for command in self.commands]

    def restart(self) -> None:
        self.stop()
        self._start()

    def stop(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        if self._client is not None and self._client.fileno() >= 0:
            self._client.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self.path.unlink()


@pytest.fixture
def qemu(tmp_path: Path) -> Iterator[Qemu]:
    qemu = Qemu(tmp_path / "input.sock")
    yield qemu
    qemu.stop()


@pytest.fixture
def monitor(qemu: Qemu) -> Iterator[InputMonitor]:
    monitor = InputMonitor(qemu.path, name="vm", timeout_s=10)
    yield monitor
    monitor.close()


def test_press_and_release_are_two_frames_written_at_once(
    qemu: Qemu, monitor: InputMonitor
) -> None:
    monitor.send([DOWN], [UP])
    assert qemu.frames() == [[DOWN], [UP]]
    assert qemu.reads[-1].count(b"input-send-event") == 2


def test_one_connection_serves_all_input(qemu: Qemu, monitor: InputMonitor) -> None:
    for _ in range(3):
        monitor.send([DOWN], [UP])
    assert qemu.frames() == [[DOWN], [UP]] * 3
    assert sum(b"qmp_capabilities" in data for data in qemu.reads) == 1


def test_restarted_qemu_gets_the_input(qemu: Qemu, monitor: InputMonitor) -> None:
    monitor.send([DOWN])
    qemu.restart()
    monitor.send([UP])
    assert qemu.frames() == [[DOWN], [UP]]


def test_refusal_names_the_machine_and_leaves_no_reply_behind(
    qemu: Qemu, monitor: InputMonitor
) -> None:
    qemu.refusal = "VM not running"
    with pytest.raises(MachineError, match="QEMU of vm did not carry out") as caught:
        monitor.send([DOWN], [UP])
    assert caught.value.details == "VM not running"
    qemu.refusal = ""
    monitor.send([DOWN])
    assert qemu.frames()[-1] == [DOWN]


def test_missing_qemu_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="vm"):
        InputMonitor(tmp_path / "none.sock", name="vm").send([DOWN])


def test_silent_qemu_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "silent.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen(1)
        with pytest.raises(MachineError, match="vm"):
            InputMonitor(path, name="vm", timeout_s=0.05).send([DOWN])
