"""One JSON object a line, both ways, within a bound; shared by the probe and its clients.

Why lines: a reader that lost its place, after a rewind or garbage, finds it again at the next
newline.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

MAX_LINE_BYTES = 4 << 20
"""Most a line may hold, its newline included."""

CHUNK_BYTES = 512 << 10
"""Most of a file that travels in one line, before base64."""

_PREFIX_BYTES = 64


class FramingError(Exception):
    """A line is no JSON object, or exceeds the bound."""


class Line(NamedTuple):
    """What came between two newlines.

    Attributes:
        data: the bytes without the newline; of an oversize line the first 64 only.
        is_oversize: the line exceeded the bound; the rest of it was dropped.
    """

    data: bytes
    is_oversize: bool


class LineSplitter:
    """Cut a byte stream into lines, never holding more than one bound of it.

    Args:
        max_bytes: longest line kept.
    """

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._held_bytes = 0
        self._dropping: bytes | None = None

    def feed(self, data: bytes) -> list[Line]:
        """Take bytes and give the lines that they complete; empty lines are left out."""
        lines: list[Line] = []
        *ended, rest = data.split(b"\n")
        for piece in ended:
            line = self._end(piece)
            if line.data or line.is_oversize:
                lines.append(line)
        self._hold(rest)
        return lines

    def reset(self) -> None:
        """Forget an unfinished line."""
        self._parts, self._held_bytes, self._dropping = [], 0, None

    def _hold(self, piece: bytes) -> None:
        if self._dropping is not None or not piece:
            return
        self._parts.append(piece)
        self._held_bytes += len(piece)
        if self._held_bytes >= self._max_bytes:
            prefix = b"".join(part[:_PREFIX_BYTES] for part in self._parts[:_PREFIX_BYTES])
            self._dropping = prefix[:_PREFIX_BYTES]
            self._parts = []

    def _end(self, piece: bytes) -> Line:
        self._hold(piece)
        if self._dropping is None:
            line = Line(b"".join(self._parts), is_oversize=False)
        else:
            line = Line(self._dropping, is_oversize=True)
        self.reset()
        return line


def encode(message: dict[str, Any], max_bytes: int = MAX_LINE_BYTES) -> bytes:
    """Return the line of a message, ASCII, its newline included.

    Raises:
        FramingError: the line would exceed the bound, or the message is no JSON.
    """
    try:
        text = _ENCODER.encode(message)
    except (TypeError, ValueError, RecursionError) as exc:
        raise FramingError(f"not JSON: {exc}") from exc
    data = text.encode("ascii") + b"\n"
    if len(data) > max_bytes:
        raise FramingError(f"{len(data)} bytes, more than the bound of {max_bytes}")
    return data


def decode(data: bytes) -> dict[str, Any]:
    """Read one line.

    Raises:
        FramingError: it is no JSON object.
    """
    try:
        message = _DECODER.decode(data.decode("utf-8"))
    except (ValueError, RecursionError) as exc:
        raise FramingError(f"not JSON: {exc}") from exc
    if not isinstance(message, dict):
        raise FramingError("not a JSON object")
    return message


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


# Made once: `json.loads` and `json.dumps` would make one anew for each line.
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
