"""A transport over ADB: the standard streams of a program on a phone.

Source: AOSP ``packages/modules/adb/shell_protocol.h``.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import TYPE_CHECKING

from foundation.errors import LinkProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN, STDOUT, STDERR, EXIT = range(4)

_READ_BYTES = 1 << 18
_MAX_PACKET_BYTES = 4 << 20
_WRITE_BYTES = 64 << 10
_MAX_STDERR_BYTES = 4000
_HEAD = struct.Struct("<BI")


class PacketReader:
    """Splits a shell's output into packets."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Take bytes and yield kind and content of the packets that they complete.

        Raises:
            LinkProtocolError: a packet is longer than any phone sends.
        """
        self._buffer += data
        start = 0
        while len(self._buffer) - start >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._buffer, start)
            if length > _MAX_PACKET_BYTES:
                raise LinkProtocolError(
                    f"The phone sent a packet of {length} bytes, which is too long."
                )
            end = start + _HEAD.size + length
            if len(self._buffer) < end:
                break
            yield kind, bytes(self._buffer[start + _HEAD.size : end])
            start = end
        del self._buffer[:start]


class AdbShellTransport:
    """A `provisioning.links.transport.Transport` over a stream of ``shell,v2,raw:PROGRAM``.

    Args:
        sock: the open stream; the transport takes ownership.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._reader = PacketReader()
        self._stderr = b""

    def read(self) -> bytes:
        """Wait for output of the program; return an empty string once it has ended."""
        while True:
            data = self._sock.recv(_READ_BYTES)
            if not data:
                return b""
            written = []
            for kind, part in self._reader.feed(data):
                if kind == STDOUT:
                    written.append(part)
                elif kind == STDERR:
                    self._stderr = (self._stderr + part)[-_MAX_STDERR_BYTES:]
                elif kind == EXIT:
                    self._stderr += (
                        f"\nThe program ended with exit code {part[:1].hex() or '?'}.".encode()
                    )
                    return b"".join(written)
            if written:
                return b"".join(written)

    def write(self, data: bytes) -> None:
        """Send all the data to the program."""
        for start in range(0, len(data), _WRITE_BYTES):
            part = data[start : start + _WRITE_BYTES]
            self._sock.sendall(_HEAD.pack(STDIN, len(part)) + part)

    def close(self) -> None:
        """Close the stream, which ends the program; may be called more than once."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()

    def read_error_tail(self) -> str:
        """Return the end of the program's standard error."""
        return self._stderr.decode(errors="replace")
