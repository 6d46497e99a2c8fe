"""Read a probe's replies: what the guest sends is checked here and nowhere trusted."""

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
    "Garbage",
    "Hello",
    "LineSplitter",
    "Reply",
    "encode",
    "parse",
]

_ID = re.compile(rb'\{"id":(\d{1,18})[,}]')
_MAX_WORDS = 4000


@dataclass(frozen=True, slots=True)
class Hello:
    """A probe says that it is there.

    Attributes:
        version: digest of the zipapp it runs from.
        pid: of its process in the guest.
    """

    version: str
    pid: int


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Attributes:
        request_id: of the request that it answers.
        result: what the operation gave; None when it failed.
        error: type and message when it failed.
    """

    request_id: int
    result: Json = None
    error: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Garbage:
    """A line that no probe would send.

    Attributes:
        why: what is wrong with it.
        request_id: the request it seems to answer, if that can be read.
    """

    why: str
    request_id: int | None = None


def parse(line: Line) -> Hello | Reply | Garbage:
    """Make sense of a line from a guest; never raises."""
    if line.is_oversize:
        return Garbage(f"a line above {MAX_LINE_BYTES} bytes", _guess_id(line.data))
    try:
        message = decode(line.data)
    except FramingError as exc:
        return Garbage(str(exc), _guess_id(line.data))
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
            return Reply(request_id, error=(kind[:100], error_message[:_MAX_WORDS]))
        case _:
            return Garbage("JSON of an unknown shape", _guess_id(line.data))


def _guess_id(data: bytes) -> int | None:
    match = _ID.match(data)
    return int(match[1]) if match else None
