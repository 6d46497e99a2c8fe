"""Replies of an X server as bytes, for comparing them without decoding them.

python-xlib decodes each reply in Python, which takes 50 ms just after a reset under emulation. To
find out that nothing has changed, equal bytes are enough.

Source: X Window System Protocol, section 1 (syntax and common types), section 8 (connection setup)
and appendix B (encoding).
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provisioning.probe.system.session import Session

MAX_BYTES = 4 << 20
"""Maximum size of all replies to one batch of requests."""

_MAX_COOKIES_BYTES = 1 << 20
_PACKET_BYTES = 32
_READ_BYTES = 1 << 16
_ERROR, _REPLY, _GENERIC_EVENT = 0, 1, 35
_SETUP = struct.Struct("=BxHHHHxx")
_SETUP_REPLY = struct.Struct("=BxHHH")
_ACCEPTED = 1
# The byte order of the requests, which is that of this machine.
_LITTLE_ENDIAN = 0x6C
_PROTOCOL_VERSION = (11, 0)


class RawDisplay:
    """A connection to an X server that sends given requests and returns the replies.

    Args:
        session: session whose display is meant, with its cookie.
        timeout_s: maximum time for one batch of requests or replies.

    Raises:
        OSError: no server is listening, or it refuses the connection.
    """

    def __init__(self, session: Session, *, timeout_s: float) -> None:
        number = int(session.display.partition(":")[2].partition(".")[0])
        name, cookie = _cookie(session.environment["XAUTHORITY"], number)
        self._socket = _connect(number)
        self._timeout_s = timeout_s
        self._deadline_s = time.monotonic() + timeout_s
        self._received = b""
        try:
            self._set_up(name, cookie)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, requests: bytes) -> None:
        """Send encoded requests.

        Raises:
            OSError: the connection has ended.
        """
        self._deadline_s = time.monotonic() + self._timeout_s
        self._socket.settimeout(self._timeout_s)
        self._socket.sendall(requests)

    def receive(self, count: int) -> list[bytes]:
        """Return the next `count` replies and errors in full, with sequence number 0; drop events.

        Raises:
            OSError: the connection has ended, or the server does not answer in time, or the replies
                exceed `MAX_BYTES`.
        """
        self._deadline_s = time.monotonic() + self._timeout_s
        replies: list[bytes] = []
        total = 0
        while len(replies) < count:
            packet = self._take(_PACKET_BYTES)
            kind = packet[0]
            if kind in {_REPLY, _GENERIC_EVENT}:
                packet += self._take(4 * int.from_bytes(packet[4:8], "little"))
            if kind in {_REPLY, _ERROR}:
                replies.append(packet[:2] + b"\0\0" + packet[4:])
            total += len(packet)
            if total > MAX_BYTES:
                raise OSError(f"the X server sent more than {MAX_BYTES} bytes")
        return replies

    def _set_up(self, name: bytes, cookie: bytes) -> None:
        header = _SETUP.pack(_LITTLE_ENDIAN, *_PROTOCOL_VERSION, len(name), len(cookie))
        self.send(header + _padded(name) + _padded(cookie))
        status, _major, _minor, words = _SETUP_REPLY.unpack(self._take(_SETUP_REPLY.size))
        reason = self._take(4 * words)
        if status != _ACCEPTED:
            raise ConnectionRefusedError(f"the X server refuses the connection: {reason[:200]!r}")

    def _take(self, size: int) -> bytes:
        """Return the next bytes from the server."""
        if size > MAX_BYTES:
            raise OSError(f"the X server announces {size} bytes")
        while len(self._received) < size:
            # Not 0, which would mean not to wait.
            self._socket.settimeout(max(0.001, self._deadline_s - time.monotonic()))
            data = self._socket.recv(_READ_BYTES)
            if not data:
                raise ConnectionResetError("the X server has closed the connection")
            self._received += data
        taken, self._received = self._received[:size], self._received[size:]
        return taken


def _connect(number: int) -> socket.socket:
    """Connect to a local display; a server listens on a path, or on the abstract address of the same name."""
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - the place that X servers use
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path if os.path.exists(path) else f"\0{path}")
    except OSError:
        connection.close()
        raise
    return connection


def _cookie(path: str, number: int) -> tuple[bytes, bytes]:
    """Return the name and data of the authorization for a local display; empty without one."""
    from Xlib import error, xauth

    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_COOKIES_BYTES:
            return b"", b""
    except OSError:
        return b"", b""
    try:
        authority = xauth.Xauthority(path)
        host = socket.gethostname().encode()
        name, data = authority.get_best_auth(xauth.FamilyLocal, host, number)
    except (error.XauthError, error.XNoAuthError):
        return b"", b""
    return bytes(name), bytes(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
