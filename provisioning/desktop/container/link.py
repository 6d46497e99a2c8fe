"""A transport over ``docker exec``: the standard streams of a program in a container."""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADER = struct.Struct(">BxxxL")
_STDOUT = 1
_MAX_READ = 1 << 20
_MAX_STDERR_BYTES = 4000


class Stream(Protocol):
    """What the Docker SDK returns for an attached program: a file over its socket."""

    _sock: socket.socket

    def close(self) -> None:
        """Close the stream."""
        ...


class ExecTransport:
    """A program in a container; its output arrives in frames that identify the stream.

    Source: Docker Engine API, "Attach to a container", *Stream format*.

    Args:
        stream: stream attached to the program; the transport takes ownership.
        on_close: called after the stream is closed.
    """

    def __init__(self, stream: Stream, on_close: Callable[[], None] = lambda: None) -> None:
        self._stream = stream
        self._socket = stream._sock  # noqa: SLF001 - the SDK offers no other way to write
        self._socket.settimeout(None)
        self._on_close = on_close
        self._left = 0
        self._kind = 0
        self._stderr = b""

    def read(self) -> bytes:
        """Wait for bytes of the program's standard output; return an empty string at the end."""
        while True:
            if self._left == 0:
                header = self._take(_HEADER.size)
                if len(header) < _HEADER.size:
                    return b""
                self._kind, self._left = _HEADER.unpack(header)
                continue
            data = self._socket.recv(min(self._left, _MAX_READ))
            if not data:
                return b""
            self._left -= len(data)
            if self._kind == _STDOUT:
                return data
            self._stderr = (self._stderr + data)[-_MAX_STDERR_BYTES:]

    def write(self, data: bytes) -> None:
        """Send all the data to the program's standard input."""
        self._socket.sendall(data)

    def close(self) -> None:
        """Close the streams, including the program's input; may be called more than once."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._stream.close()
        # The SDK's HTTP connection also holds the socket, and never closes it.
        self._socket.close()
        self._on_close()

    def read_error_tail(self) -> str:
        """Return the end of the program's standard error."""
        return self._stderr.decode(errors="replace")

    def _take(self, length: int) -> bytes:
        data = b""
        while len(data) < length and (part := self._socket.recv(length - len(data))):
            data += part
        return data
