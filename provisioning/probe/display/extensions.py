"""Requests of X extensions that python-xlib does not have."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from Xlib.protocol import rq

from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from Xlib.display import Display

# The sequence number and the length of a reply are not kept: the first always differs.
_SKIPPED_BYTES = 8
_QUERY_INFO = 1
_IDLE_AT = 8


class Extension:
    """An extension of an X server.

    Args:
        display: connection to the server.
        name: name of the extension.

    Raises:
        ProbeError: ``unsupported``, if the server does not have it.
    """

    def __init__(self, display: Display, name: str) -> None:
        found = display.query_extension(name)
        if found is None:
            raise ProbeError("unsupported", f"the X server does not have {name}")
        self._display = display.display
        self._opcode = found.major_opcode

    def ask(self, minor: int, body: bytes) -> Request:
        """Queue a request; call the result's `reply` to send it and wait."""
        return Request(self._display, True, opcode=self._opcode, minor=minor, body=list(body))

    def send(self, minor: int, body: bytes) -> None:
        """Queue a request that has no reply."""
        _Order(self._display, opcode=self._opcode, minor=minor, body=list(body))


_REQUEST = rq.Struct(
    rq.Card8("opcode"), rq.Card8("minor"), rq.RequestLength(), rq.List("body", rq.Card8Obj)
)


class Request(rq.ReplyRequest):  # type: ignore[misc]  # python-xlib has no types
    """A request whose reply is not parsed.

    Attributes:
        rest: the reply from its ninth byte on.
    """

    _request = _REQUEST
    _reply = rq.Struct(rq.ReplyCode(), rq.Card8("detail"), rq.Card16("sequence_number"))
    rest = b""

    def _parse_response(self, data: bytes) -> None:
        super()._parse_response(data)
        self.rest = bytes(data[_SKIPPED_BYTES:])


class _Order(rq.Request):  # type: ignore[misc]  # python-xlib has no types
    _request = _REQUEST


class IdleTime:
    """How long ago the server got input.

    Source: X11/extensions/saverproto.h.

    Args:
        display: connection to the server.

    Raises:
        ProbeError: ``unsupported``, if the server cannot tell.
    """

    def __init__(self, display: Display) -> None:
        self._extension = Extension(display, "MIT-SCREEN-SAVER")
        self._root = display.screen().root.id

    def read_s(self) -> float:
        """Return the time since the last event of a keyboard or pointer."""
        request = self._extension.ask(_QUERY_INFO, struct.pack("=I", self._root))
        request.reply()
        idle_ms: int = struct.unpack_from("=I", request.rest, _IDLE_AT)[0]
        return idle_ms / 1000
