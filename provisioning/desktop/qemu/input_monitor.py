"""A QMP connection to one QEMU for input alone, without libvirtd in between."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from foundation.errors import MachineError
from provisioning.links.virtio import connect_socket

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Event = dict[str, Any]

_log = logging.getLogger(__name__)

_READ_BYTES = 1 << 16
_TIMEOUT_S = 15.0


class InputMonitor:
    """Sends input events to a VM; connects when first needed, and again after QEMU was restarted.

    Commands that are sent together are written at once, and QEMU executes them one after the other.
    So a busy host cannot move a press and its release apart: it would turn a click into a long press,
    and a key into a repeated one. libvirtd would add two thread switches to each command, and
    executes one at a time.

    The socket accepts one client at a time.

    Args:
        path: path of the monitor's socket.
        name: name of the machine, for errors.
        timeout_s: time limit of the connection, and of the replies to commands sent together.
    """

    def __init__(self, path: Path, *, name: str, timeout_s: float = _TIMEOUT_S) -> None:
        self._path = path
        self._name = name
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._unread = b""

    def send(self, *frames: Sequence[Event]) -> None:
        """Send events and wait until QEMU has passed them to the guest's devices.

        Args:
            frames: events by input frame. A device reports only the state at the end of a frame, so
                that a press and a release in one frame would cancel each other.

        Raises:
            MachineError: QEMU refused an event, does not answer, or is gone.
        """
        lines = [
            json.dumps({"execute": "input-send-event", "arguments": {"events": list(frame)}})
            for frame in frames
        ]
        start_s = time.monotonic()
        with self._lock:
            try:
                connection = self._write("".join(f"{line}\n" for line in lines).encode())
                for _ in frames:
                    self._read_reply(connection)
            except OSError as exc:
                self._close()
                raise self._failure(str(exc) or type(exc).__name__) from exc
            except MachineError:
                self._close()
                raise
        took_ms = (time.monotonic() - start_s) * 1000
        _log.debug("QMP %s: %s (%.1f ms)", self._name, "; ".join(lines), took_ms)

    def close(self) -> None:
        """Close the connection; `send` opens it again."""
        with self._lock:
            self._close()

    def _write(self, data: bytes) -> socket.socket:
        """Write to the connection; to a new one if QEMU was restarted, which then got nothing."""
        if self._socket is not None:
            try:
                self._socket.sendall(data)
            except ConnectionError:
                self._close()
            else:
                return self._socket
        connection = self._socket = self._connect()
        connection.sendall(data)
        return connection

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(self._timeout_s)
            connect_socket(connection, self._path)
            self._read_message(connection)  # the greeting
            connection.sendall(b'{"execute": "qmp_capabilities"}\n')
            self._read_reply(connection)
        except BaseException:
            connection.close()
            self._unread = b""
            raise
        weakref.finalize(self, connection.close)  # a machine that is lost is not released
        return connection

    def _read_reply(self, connection: socket.socket) -> None:
        """Read the reply to one command; other messages are events, and are ignored."""
        message = self._read_message(connection)
        while "return" not in message and "error" not in message:
            message = self._read_message(connection)
        if "error" in message:
            raise self._failure(str(message["error"].get("desc", "")))

    def _read_message(self, connection: socket.socket) -> dict[str, Any]:
        while b"\n" not in self._unread:
            data = connection.recv(_READ_BYTES)
            if not data:
                raise ConnectionResetError("QEMU closed the connection")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _failure(self, details: str) -> MachineError:
        return MachineError(
            f"QEMU of {self._name} did not carry out the input.",
            details=details,
            resolution="`mesocosm machine list` shows whether the machine still runs.",
        )

    def _close(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
        self._socket, self._unread = None, b""
