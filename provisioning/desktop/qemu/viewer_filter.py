"""Parses what a VNC viewer sends, and forwards only permitted messages.

This enforces view-only access: keys, pointer events, clipboard and screen-size requests are removed
from the stream, whatever the viewer's program does.

Source: RFC 6143, "The Remote Framebuffer Protocol"; its community edition for messages above 6.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from foundation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = b"RFB 003.008\n"
_NO_SECURITY = b"\x01"
_SHARED = b"\x01"
_MAX_MESSAGE_BYTES = 1 << 20

_SET_ENCODINGS = 2
_CUT_TEXT = 6
_FENCE, _DESKTOP_SIZE, _QEMU = 248, 251, 255
_QEMU_KEY = 0
_QEMU_AUDIO = 1
_QEMU_AUDIO_FORMAT = 2
_LENGTHS = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10, 250: 4}
"""Length in bytes of messages of fixed length, by type."""
_COUNTED = {
    _SET_ENCODINGS: (">xxH", 4),
    _CUT_TEXT: (">xxxxi", 1),  # negative in the extended form of the clipboard
    _FENCE: (">xxxxxxxxB", 1),
    _DESKTOP_SIZE: (">xxxxxxBx", 16),
}
"""Format of the header with the number of items, and bytes per item, of messages of variable length."""
_LOOKING = frozenset({0, _SET_ENCODINGS, 3})
_INPUT = frozenset({4, 5})

# Raw, CopyRect, RRE, Hextile, zlib, Tight, ZRLE; desktop size, last rectangle, QEMU's keys; compression
# levels. Not JPEG or PNG images nor cursors, which a page can draw from `data:` addresses only.
_ENCODINGS = frozenset({0, 1, 2, 5, 6, 7, 16, -223, -224, -258, *range(-256, -246)})


class ViewerFilter:
    """Takes a viewer's data in chunks of any size, and returns the data for the server.

    Args:
        may_act: called for each key and pointer event; False drops the event.
    """

    def __init__(self, may_act: Callable[[], bool]) -> None:
        self._may_act = may_act
        self._buffer = bytearray()
        self._greetings = [VERSION, _NO_SECURITY, None]
        self.dropped = 0
        """Number of messages that were not forwarded."""

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes from the viewer; return the next bytes for the server.

        Raises:
            UsageError: the data is not RFB 3.8 without a password; nothing more may be forwarded.
        """
        self._buffer += data
        out = bytearray()
        while (message := self._next()) is not None:
            out += message
        return bytes(out)

    def _next(self) -> bytes | None:
        """Return the server's data for the next complete message; None if there is none yet."""
        if self._greetings:
            return self._greet()
        length = _length(self._buffer)
        if length > _MAX_MESSAGE_BYTES:
            raise UsageError(f"A viewer sent a message of {length} bytes, which is too long.")
        if not length or len(self._buffer) < length:
            return None
        message = bytes(self._buffer[:length])
        del self._buffer[:length]
        return self._pass(message)

    def _greet(self) -> bytes | None:
        """Consume the next handshake message: version, no security, or shared access."""
        expected = self._greetings[0]
        length = len(expected or _SHARED)
        if len(self._buffer) < length:
            return None
        greeting = bytes(self._buffer[:length])
        if expected is not None and greeting != expected:
            raise UsageError(f"A viewer's handshake sent {greeting!r} instead of {expected!r}.")
        del self._buffer[:length]
        self._greetings.pop(0)
        return greeting if expected is not None else _SHARED

    def _pass(self, message: bytes) -> bytes:
        kind = message[0]
        if kind == _SET_ENCODINGS:
            return _known_encodings(message)
        if kind in _LOOKING:
            return message
        is_input = kind in _INPUT or (kind == _QEMU and message[1] == _QEMU_KEY)
        if is_input and self._may_act():
            return message
        self.dropped += 1
        return b""


def _length(buffer: bytearray) -> int:
    """Return the length of the message at the start of a buffer; 0 if it is not yet known.

    Raises:
        UsageError: the type of the message is unknown.
    """
    if not buffer:
        return 0
    kind = buffer[0]
    if kind in _LENGTHS:
        return _LENGTHS[kind]
    if kind == _QEMU:
        return _qemu_length(buffer)
    if kind not in _COUNTED:
        raise UsageError(f"A viewer sent a message of unknown type {kind}.")
    form, item_bytes = _COUNTED[kind]
    head_bytes = struct.calcsize(form)
    if len(buffer) < head_bytes:
        return 0
    (count,) = struct.unpack(form, buffer[:head_bytes])
    return head_bytes + item_bytes * abs(int(count))


def _qemu_length(buffer: bytearray) -> int:
    if len(buffer) < 4:  # noqa: PLR2004 - type, kind and operation
        return 0
    kind, operation = struct.unpack(">xBH", buffer[:4])
    if kind == _QEMU_KEY:
        return 12
    if kind == _QEMU_AUDIO:
        return 10 if operation == _QEMU_AUDIO_FORMAT else 4
    raise UsageError(f"A viewer sent a QEMU message of unknown type {kind}.")


def _known_encodings(message: bytes) -> bytes:
    """Return a SetEncodings message with only the permitted encodings."""
    numbers = struct.unpack(f">{(len(message) - 4) // 4}i", message[4:])
    known = [number for number in numbers if number in _ENCODINGS]
    return struct.pack(f">BxH{len(known)}i", _SET_ENCODINGS, len(known), *known)
