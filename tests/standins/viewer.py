"""A VNC viewer over HTTP like that of the pages: bytes arrive in one long reply and leave in requests."""

from __future__ import annotations

import http.client
import struct
import threading
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from controller.service.api.gate import COOKIE
from controller.service.web.live_pages import HELD_HEADER, SESSION_HEADER
from provisioning.desktop.qemu.viewer_filter import VERSION

if TYPE_CHECKING:
    from types import TracebackType

_TIMEOUT_S = 60.0
RETURN = 0xFF0D


class HttpViewer:
    """Viewer of a machine of a service during a block.

    Args:
        address: address of the service.
        token: API token.
        machine: ID of the machine.
    """

    def __init__(self, address: str, token: str, machine: str) -> None:
        self._place = urlsplit(address).netloc
        self._headers = {"Cookie": f"{COOKIE}={token}", "Origin": address}
        self._path = f"/fleet/{machine}/live"
        self._link = http.client.HTTPConnection(self._place, timeout=_TIMEOUT_S)
        self._got = bytearray()
        self._arrived = threading.Condition()
        self.is_over = threading.Event()
        self.status = 0
        self.session = ""
        self.why = ""

    def __enter__(self) -> Self:
        self._link.request("GET", self._path, headers=self._headers)
        self._reply = self._link.getresponse()
        self.status = self._reply.status
        self.session = self._reply.headers.get(SESSION_HEADER, "")
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._link.sock is not None:
            self._link.sock.shutdown(2)
        elif self._reply.fp is not None:
            self._reply.fp.raw._sock.shutdown(2)  # type: ignore[attr-defined] # private attributes
        self._thread.join()
        self._link.close()

    def _receive(self) -> None:
        try:
            while data := self._reply.read1(65536):
                with self._arrived:
                    self._got += data
                    self._arrived.notify_all()
            self.why = "at its end"
        except (OSError, ValueError, http.client.HTTPException) as exc:
            self.why = repr(exc)
        with self._arrived:
            self.is_over.set()
            self._arrived.notify_all()

    def read(self, count: int) -> bytes:
        """Return the next bytes from the machine."""
        with self._arrived:
            assert self._arrived.wait_for(
                lambda: len(self._got) >= count or self.is_over.is_set(), timeout=_TIMEOUT_S
            )
            assert len(self._got) >= count, f"the reply ended: {self.why}; got {bytes(self._got)!r}"
            data = bytes(self._got[:count])
            del self._got[:count]
        return data

    def send(self, data: bytes) -> tuple[int, bool]:
        """Send bytes; return the status, and whether this viewer has control of the machine."""
        link = http.client.HTTPConnection(self._place, timeout=_TIMEOUT_S)
        try:
            link.request("POST", f"{self._path}/{self.session}", data, self._headers)
            reply = link.getresponse()
            reply.read()
            return reply.status, reply.headers.get(HELD_HEADER) == "1"
        finally:
            link.close()

    def greet(self) -> tuple[int, int]:
        """Do the RFB handshake and return width and height of the screen."""
        assert self.read(len(VERSION)) == VERSION
        self.send(VERSION)
        kinds = self.read(self.read(1)[0])
        assert 1 in kinds
        self.send(b"\x01")
        assert self.read(4) == bytes(4)
        self.send(b"\x00")  # requests exclusive access, which the service makes shared
        width, height, name_length = struct.unpack(">HH16xI", self.read(24))
        self.read(name_length)
        self.send(struct.pack(">BxHi", 2, 1, 0))
        return width, height

    def screen(self, width: int, height: int) -> bytes:
        """Return the pixels of the whole screen, four bytes each."""
        self.send(struct.pack(">BBHHHH", 3, 0, 0, 0, width, height))
        pixels = bytearray(4 * width * height)
        kind, count = struct.unpack(">BxH", self.read(4))
        assert kind == 0
        for _ in range(count):
            x, y, wide, high, encoding = struct.unpack(">HHHHi", self.read(12))
            assert encoding == 0
            for row in range(y, y + high):
                at = 4 * (row * width + x)
                pixels[at : at + 4 * wide] = self.read(4 * wide)
        return bytes(pixels)

    def press(self, key: int = RETURN) -> tuple[int, bool]:
        """Press and release a key."""
        return self.send(b"".join(struct.pack(">BBxxI", 4, down, key) for down in (1, 0)))

    def point(self, x: int, y: int) -> tuple[int, bool]:
        """Move the pointer and click."""
        return self.send(b"".join(struct.pack(">BBHH", 5, mask, x, y) for mask in (0, 1, 0)))
