"""Packets of shell protocol v2: one byte of ID, four bytes of length, data.

Source: AOSP ``packages/modules/adb/shell_protocol.h``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)

MAX_PACKET_BYTES = 1 << 20
_HEAD = struct.Struct("<BI")


class Packet(NamedTuple):
    """One packet."""

    kind: int
    data: bytes


def encode(kind: int, data: bytes) -> bytes:
    """Return the bytes of a packet."""
    return _HEAD.pack(kind, len(data)) + data


class PacketReader:
    """Splitter of a byte stream into packets."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Packet]:
        """Process bytes and yield the packets that they complete.

        Raises:
            ValueError: a packet is longer than hosts send.
        """
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._buffer)
            if length > MAX_PACKET_BYTES:
                raise ValueError(f"a packet of {length} bytes")
            end = _HEAD.size + length
            if len(self._buffer) < end:
                return
            packet = Packet(kind, bytes(self._buffer[_HEAD.size : end]))
            del self._buffer[:end]
            yield packet
