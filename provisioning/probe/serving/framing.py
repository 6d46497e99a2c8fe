"""One JSON object per line in both directions, with a size limit; shared with the probe's clients.

Lines allow a reader that lost synchronisation, after a rewind or garbage, to recover at the next
newline.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

MAX_LINE_BYTES = 4 << 20
"""Maximum size of a line, including its newline."""

CHUNK_BYTES = 512 << 10
"""Maximum part of a file in one line, before base64."""

_PREFIX_BYTES = 64


class FramingError(Exception):
    """A line is not a JSON object, or exceeds the limit."""


class Line(NamedTuple):
    """The data between two newlines.

    Attributes:
        data: the bytes without the newline; only the first 64 of an oversize line.
        is_oversize: whether the line exceeded the limit; the rest of it was dropped.
    """

    data: bytes
    is_oversize: bool


class LineSplitter:
    """Splitter of a byte stream into lines, which buffers at most one limit of it.

    Args:
        max_bytes: maximum length of a line.
    """

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._held_bytes = 0
        self._dropping: bytes | None = None

    def feed(self, data: bytes) -> list[Line]:
        """Process bytes and return the lines that they complete, without empty lines."""
        lines: list[Line] = []
        *ended, rest = data.split(b"\n")
        for piece in ended:
            line = self._end(piece)
            if line.data or line.is_oversize:
                lines.append(line)
        self._hold(rest)
        return lines

    def reset(self) -> None:
        """Discard an unfinished line."""
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
    """Return the line of a message, in ASCII, including its newline.

    Raises:
        FramingError: the line would exceed the limit, or the message is not JSON.
    """
    try:
        text = _ENCODER.encode(message)
    except (TypeError, ValueError, RecursionError) as exc:
        raise FramingError(f"not JSON: {exc}") from exc
    data = text.encode("ascii") + b"\n"
    if len(data) > max_bytes:
        raise FramingError(f"{len(data)} bytes exceed the limit of {max_bytes}")
    return data


def decode(data: bytes) -> dict[str, Any]:
    """Parse one line.

    Raises:
        FramingError: it is not a JSON object.
    """
    try:
        message = _DECODER.decode(data.decode("utf-8"))
    except (ValueError, RecursionError) as exc:
        raise FramingError(f"not JSON: {exc}") from exc
    if not isinstance(message, dict):
        raise FramingError("not a JSON object")
    return message


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


# Created once: `json.loads` and `json.dumps` would create one for each line.
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
