"""The endpoints of adb servers, and connections to them."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adbutils import AdbConnection

from foundation.errors import RequirementError

if TYPE_CHECKING:
    from pathlib import Path

LOOPBACK = "127.0.0.1"

# Source: unix(7), sun_path with its terminating zero.
_MAX_PATH_BYTES = 107


@dataclass(frozen=True, slots=True)
class UnixEndpoint:
    """A Unix socket in a folder that only its owner may enter.

    Attributes:
        path: path of the socket.
    """

    path: Path

    @property
    def spec(self) -> str:
        """Return the value for adb's option ``-L`` and for ``ADB_SERVER_SOCKET``."""
        return f"localfilesystem:{self.path}"

    def prepare(self) -> None:
        """Create the folder, accessible to this user only.

        Raises:
            RequirementError: the path is too long for a socket.
        """
        if len(os.fsencode(self.path)) > _MAX_PATH_BYTES:
            raise RequirementError(
                f"The path {self.path} is too long for a Unix socket.",
                resolution="Set MESOCOSM_STATE_DIR to a folder with a shorter path.",
            )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.parent.chmod(0o700)

    def connect(self, timeout_s: float) -> socket.socket:
        """Connect to the server.

        Raises:
            OSError: no server listens, or it did not accept in time.
        """
        sock = socket.socket(socket.AF_UNIX)
        try:
            # Not settimeout: while adb's short connection queue is full, a non-blocking socket is
            # refused, but a blocking one waits.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(timeout_s))
            sock.connect(str(self.path))
            sock.settimeout(timeout_s)
        except BaseException:
            sock.close()
            raise
        return sock

    def remove(self) -> None:
        """Remove the socket of an ended server; does nothing if it does not exist."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()


@dataclass(frozen=True, slots=True)
class TcpEndpoint:
    """A loopback port, such as that of a user's own adb server.

    Attributes:
        port: TCP port; adb's default is 5037.
    """

    port: int

    @property
    def spec(self) -> str:
        """Return the value for adb's option ``-L`` and for ``ADB_SERVER_SOCKET``."""
        return f"tcp:localhost:{self.port}"

    def prepare(self) -> None:
        """Do nothing: a port needs no folder."""

    def connect(self, timeout_s: float) -> socket.socket:
        """Connect to the server.

        Raises:
            OSError: no server listens, or it did not accept in time.
        """
        sock = socket.create_connection((LOOPBACK, self.port), timeout=timeout_s)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def remove(self) -> None:
        """Do nothing: a port is freed when its server ends."""


Endpoint = UnixEndpoint | TcpEndpoint


class ServerConnection(AdbConnection):  # type: ignore[misc]  # adbutils has no types
    """adbutils' protocol over a connected socket.

    adbutils' own connection supports TCP only, and starts an adb server if none answers.

    Args:
        sock: socket connected to an adb server; the connection takes ownership.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._connected = sock
        super().__init__("", 0)

    def close(self) -> None:
        """Close the socket at once; adbutils would wait 10 ms first."""
        self._connected.close()

    def _safe_connect(self) -> socket.socket:
        return self._connected


def _timeval(seconds: float) -> bytes:
    return struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))
