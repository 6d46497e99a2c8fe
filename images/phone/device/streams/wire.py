"""Messages of the ADB protocol: a 24-byte header and an optional payload.

Source: AOSP ``packages/modules/adb/protocol.txt`` and ``adb.h``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import socket

CNXN = 0x4E584E43
AUTH = 0x48545541
OPEN = 0x4E45504F
OKAY = 0x59414B4F
WRTE = 0x45545257
CLSE = 0x45534C43
COMMANDS = frozenset({CNXN, AUTH, OPEN, OKAY, WRTE, CLSE})

VERSION_MIN = 0x01000000
VERSION_SKIP_CHECKSUM = 0x01000001

AUTH_TOKEN = 1
AUTH_SIGNATURE = 2
AUTH_PUBLIC_KEY = 3

MAX_PAYLOAD_BYTES = 1 << 20
MAX_PAYLOAD_BEFORE_AUTH_BYTES = 4096

_HEADER = struct.Struct("<6I")
HEADER_BYTES = _HEADER.size


class AdbProtocolError(Exception):
    """The peer violated the protocol; the connection ends."""


class ConnectionEndedError(Exception):
    """The peer closed the connection."""


class Message(NamedTuple):
    """One message.

    Attributes:
        command: one of `COMMANDS`.
        arg0: usually the sender's stream ID.
        arg1: usually the receiver's stream ID.
        payload: data of the message.
    """

    command: int
    arg0: int
    arg1: int
    payload: bytes = b""


class Receiver(Protocol):
    """A source of bytes, such as a socket."""

    def recv_into(self, buffer: memoryview, nbytes: int = ..., /) -> int:
        """Read some bytes into a buffer and return their number; 0 at the end."""
        ...


def encode_header(message: Message, *, with_checksum: bool) -> bytes:
    """Return the header of a message.

    Args:
        message: message to send.
        with_checksum: whether to include a checksum; omitting it requires both ends' agreement.
    """
    checksum = sum(message.payload) & 0xFFFFFFFF if with_checksum else 0
    return _HEADER.pack(
        message.command,
        message.arg0,
        message.arg1,
        len(message.payload),
        checksum,
        message.command ^ 0xFFFFFFFF,
    )


def receive(source: socket.socket | Receiver, *, max_bytes: int, check: bool) -> Message:
    """Read one message.

    Args:
        source: the connection.
        max_bytes: the longest payload to accept.
        check: whether the checksum is required; otherwise zero is also accepted.

    Raises:
        AdbProtocolError: bad magic, unknown command, payload too long or wrong checksum.
        ConnectionEndedError: the peer closed the connection, possibly within a message.
    """
    command, arg0, arg1, length, checksum, magic = _HEADER.unpack(_read(source, HEADER_BYTES))
    if magic != command ^ 0xFFFFFFFF:
        raise AdbProtocolError(f"bad magic {magic:#010x} for command {command:#010x}")
    if command not in COMMANDS:
        raise AdbProtocolError(f"unknown command {command:#010x}")
    if length > max_bytes:
        raise AdbProtocolError(f"payload of {length} bytes, at most {max_bytes} are allowed")
    payload = _read(source, length) if length else b""
    # A reconnecting host still has the version of the last connection, and omits it immediately.
    must_check = check and not (command == CNXN and arg0 >= VERSION_SKIP_CHECKSUM)
    if (must_check or checksum) and checksum != sum(payload) & 0xFFFFFFFF:
        raise AdbProtocolError("the checksum is wrong")
    return Message(command, arg0, arg1, payload)


def _read(source: socket.socket | Receiver, length: int) -> bytes:
    buffer = bytearray(length)
    view = memoryview(buffer)
    while view:
        try:
            count = source.recv_into(view, len(view))
        except OSError as exc:
            raise ConnectionEndedError(str(exc)) from exc
        if count == 0:
            raise ConnectionEndedError("the other end closed the connection")
        view = view[count:]
    return bytes(buffer)
