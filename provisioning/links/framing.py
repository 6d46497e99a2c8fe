"""Parses and validates a probe's messages: data from a guest is never trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provisioning.probe.serving.framing import (
    CHUNK_BYTES,
    MAX_LINE_BYTES,
    FramingError,
    Line,
    LineSplitter,
    decode,
    encode,
)

if TYPE_CHECKING:
    from provisioning.protocols import Json

__all__ = [
    "CHUNK_BYTES",
    "MAX_LINE_BYTES",
    "FramingError",
    "Hello",
    "InvalidLine",
    "LineSplitter",
    "Reply",
    "encode",
    "parse",
]

_ID = re.compile(rb'\{"id":(\d{1,18})[,}]')
_MAX_MESSAGE_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Hello:
    """A probe's announcement that it has started.

    Attributes:
        version: digest of the zipapp that it runs from.
        pid: id of its process in the guest.
    """

    version: str
    pid: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a request.

    Attributes:
        request_id: id of the request.
        result: result of the operation; None if it failed.
        error: type and message if it failed.
    """

    request_id: int
    result: Json = None
    error: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class InvalidLine:
    """An invalid line.

    Attributes:
        why: what is invalid.
        request_id: id of the request that it seems to answer, if readable.
    """

    why: str
    request_id: int | None = None


def parse(line: Line) -> Hello | Reply | InvalidLine:
    """Parse a line from a guest; never raises an error."""
    if line.is_oversize:
        return InvalidLine(f"a line of more than {MAX_LINE_BYTES} bytes", _guess_id(line.data))
    try:
        message = decode(line.data)
    except FramingError as exc:
        return InvalidLine(str(exc), _guess_id(line.data))
    match message:
        case {"hello": {"version": str(version), "pid": int(pid)}}:
            return Hello(version, pid)
        case {"id": int(request_id), "ok": True, "result": result}:
            return Reply(request_id, result=result)
        case {
            "id": int(request_id),
            "ok": False,
            "error": {"type": str(kind), "message": str(error_message)},
        }:
            return Reply(request_id, error=(kind[:100], error_message[:_MAX_MESSAGE_CHARS]))
        case _:
            return InvalidLine("JSON with an unknown structure", _guess_id(line.data))


def _guess_id(data: bytes) -> int | None:
    match = _ID.match(data)
    return int(match[1]) if match else None
