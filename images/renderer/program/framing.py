"""Messages between the renderer and its host: one line of JSON, then binary parts of stated sizes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VERSION = 1
"""Version of the messages and of the views in them."""
MAX_HEADER_BYTES = 1 << 20
MAX_PARTS_BYTES = 96 << 20
_SIZES = "sizes"


class MessageError(ValueError):
    """The other side sent something that is not a message."""


def encode(header: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    """Return a message.

    Args:
        header: JSON data of the message, without ``sizes``.
        parts: what follows the header.
    """
    line = json.dumps({**header, _SIZES: [len(part) for part in parts]}, ensure_ascii=True)
    return b"".join((line.encode(), b"\n", *parts))


def read_message(read: Callable[[int], bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Read one message; return its header and parts.

    Args:
        read: waits for at most as many bytes as it is asked for; returns nothing at the end.

    Raises:
        EOFError: the input ended.
        MessageError: it is not a message, or too large.
    """
    header = _parse(_read_line(read))
    sizes = header.pop(_SIZES, None)
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        raise MessageError("The message states no sizes.")
    if sum(sizes) > MAX_PARTS_BYTES:
        raise MessageError(f"The message has {sum(sizes)} bytes; at most {MAX_PARTS_BYTES} may be.")
    return header, [_read_exactly(read, size) for size in sizes]


def _parse(line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as exc:
        raise MessageError("The message does not begin with a line of JSON.") from exc
    if not isinstance(header, dict):
        raise MessageError("The message does not begin with a JSON object.")
    return header


def _read_line(read: Callable[[int], bytes]) -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = read(1)
        if not byte:
            raise EOFError
        line += byte
        if len(line) > MAX_HEADER_BYTES:
            raise MessageError("The first line of the message is too long.")
    return bytes(line)


def _read_exactly(read: Callable[[int], bytes], size: int) -> bytes:
    parts = []
    while size:
        part = read(min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
