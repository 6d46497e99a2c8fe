"""Frames of a channel that carries many streams: a header of 7 bytes and a payload.

====== ========= ===========================================================================
frame  direction payload
====== ========= ===========================================================================
SETUP  both      JSON: the listeners and names that the guest shall have, and its answer
OPEN   guest     name of a listener: a program has connected to it
DATA   both      bytes of a stream, at most as many as the other end has granted
CREDIT both      four bytes: number of further bytes that the other end may send
END    both      none: no more data follows in this direction
RESET  both      none: the stream ended in both directions, data may be lost
====== ========= ===========================================================================
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SETUP, OPEN, DATA, CREDIT, END, RESET = range(1, 7)

MAX_PAYLOAD_BYTES = 32 << 10
WINDOW_BYTES = 256 << 10
"""Maximum number of bytes in transit in one direction of a stream."""

MAX_STREAMS = 64
"""Maximum number of streams of a channel at once."""

NONCE_BYTES = 16
MAX_NOISE_BYTES = 16 << 20
"""Maximum number of bytes before the nonce that begins a session."""

_HEADER = struct.Struct(">BIH")
_COUNT = struct.Struct(">I")


class FrameError(Exception):
    """The other end violated the protocol; the session ends."""


class Frame(NamedTuple):
    """One frame.

    Attributes:
        kind: one of the constants above.
        stream: number of the stream; 0 for SETUP.
        payload: its data.
    """

    kind: int
    stream: int
    payload: bytes = b""


def encode(frame: Frame) -> bytes:
    """Return the bytes of a frame.

    Raises:
        FrameError: the payload is too long.
    """
    if len(frame.payload) > MAX_PAYLOAD_BYTES:
        raise FrameError(f"a payload of {len(frame.payload)} bytes is too long")
    return _HEADER.pack(frame.kind, frame.stream, len(frame.payload)) + frame.payload


def pack_count(count: int) -> bytes:
    """Return the payload of a CREDIT frame."""
    return _COUNT.pack(count)


def unpack_count(payload: bytes) -> int:
    """Return the number in a CREDIT frame.

    Raises:
        FrameError: it is malformed, or larger than a window.
    """
    count = int(_COUNT.unpack(payload)[0]) if len(payload) == _COUNT.size else 0
    if not 0 < count <= WINDOW_BYTES:
        raise FrameError("a malformed credit")
    return count


class FrameSplitter:
    """Splits bytes into frames.

    Args:
        nonce: bytes that begin the session; what arrives before them is of an older session.
    """

    def __init__(self, nonce: bytes = b"") -> None:
        self._nonce = nonce
        self._buffer = bytearray()
        self._noise_bytes = 0

    @property
    def has_begun(self) -> bool:
        """Return whether the nonce has arrived."""
        return not self._nonce

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take bytes and yield the frames that they complete.

        Raises:
            FrameError: a frame is malformed, or the session does not begin.
        """
        self._buffer += data
        if self._nonce and not self._begin():
            return
        start = 0
        try:
            while len(self._buffer) - start >= _HEADER.size:
                kind, stream, length = _HEADER.unpack_from(self._buffer, start)
                if not SETUP <= kind <= RESET or length > MAX_PAYLOAD_BYTES:
                    raise FrameError(f"a malformed frame of the kind {kind}")
                end = start + _HEADER.size + length
                if len(self._buffer) < end:
                    break
                payload = bytes(self._buffer[start + _HEADER.size : end])
                start = end
                yield Frame(kind, stream, payload)
        finally:
            del self._buffer[:start]

    def _begin(self) -> bool:
        """Drop everything up to the nonce; return whether it has arrived."""
        position = self._buffer.find(self._nonce)
        if position >= 0:
            del self._buffer[: position + len(self._nonce)]
            self._nonce = b""
            return True
        noise = max(0, len(self._buffer) - len(self._nonce) + 1)
        self._noise_bytes += noise
        del self._buffer[:noise]
        if self._noise_bytes > MAX_NOISE_BYTES:
            raise FrameError("the session does not begin")
        return False
