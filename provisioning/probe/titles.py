"""Titles of windows as the windows' own programs wrote them, from requests that the server recorded.

Any client of an X server may write to any window; the server keeps no account of who did. What it
does tell, by its RECORD extension, is which client each request came from. The client's part of an
identifier says whose the window is, and so a title counts when both are the same.

Source: X Window System Protocol, appendix B, *Protocol Encoding*; Big Requests Extension.
"""

from __future__ import annotations

import struct
import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAMED = 4096
"""Windows with a title that are kept, of all clients."""

MAX_CREATED = 8192
"""Windows without one that are kept, of all clients."""

MAX_NAME_BYTES = 4000
_MAX_NAMES_BYTES = 4 << 20
_CREATE, _CHANGE, _DELETE, _ROTATE = 1, 18, 19, 114
_REPLACE, _PREPEND, _APPEND = 0, 1, 2
_SMALLEST = 8
_WM_NAME, _STRING = 39, 31
_NATIVE, _OTHER = ("<", ">") if sys.byteorder == "little" else (">", "<")

# By property: what the owner wrote, None where that was not seen.
_Names = List[Optional[bytes]]


class Request(NamedTuple):
    """A request that the server took.

    Attributes:
        client: who sent it, the common part of its identifiers.
        order: its byte order, ``<`` or ``>``.
        opcode: which request.
        detail: the byte after it.
        body: what follows the lengths; the end of long ones may be missing.
    """

    client: int
    order: str
    opcode: int
    detail: int
    body: bytes

    def numbers(self, count: int) -> tuple[int, ...]:
        """Give the first words of the body; none when it is shorter."""
        size = 4 * count
        return (
            struct.unpack_from(f"{self.order}{count}I", self.body) if len(self.body) >= size else ()
        )


class Standing(NamedTuple):
    """A title that stood already.

    Attributes:
        window: on which.
        net_name: its ``_NET_WM_NAME``.
        name: its ``WM_NAME``.
        is_latin: the latter is in Latin-1, not UTF-8.
    """

    window: int
    net_name: bytes
    name: bytes
    is_latin: bool


def requests_in(data: bytes, client: int, *, is_swapped: bool) -> Iterator[Request]:
    """Take recorded data, as one or more whole requests, apart.

    Args:
        data: of a reply; only of the last request the end may be missing.
        client: the reply's.
        is_swapped: the client has the other byte order than this machine.
    """
    order = _OTHER if is_swapped else _NATIVE
    at = 0
    while at + 4 <= len(data):
        opcode, detail, words = struct.unpack_from(f"{order}BBH", data, at)
        head = 4
        if words == 0:
            if at + _SMALLEST > len(data):
                return
            words, head = struct.unpack_from(f"{order}I", data, at + 4)[0], _SMALLEST
        if 4 * words < head:
            return
        yield Request(client, order, opcode, detail, data[at + head : at + 4 * words])
        at += 4 * words


class Titles:
    """What each window's owner last wrote; a bounded table.

    Args:
        id_mask: the part of an identifier that tells a client's things apart.
        net_name: the atom ``_NET_WM_NAME``.
    """

    def __init__(self, id_mask: int, net_name: int) -> None:
        self._id_mask = id_mask
        self._places = {net_name: 0, _WM_NAME: 1}
        self._named: dict[int, OrderedDict[int, _Names]] = {}
        self._latin: set[int] = set()
        self._created: OrderedDict[int, None] = OrderedDict()
        self._count = 0
        self._bytes = 0
        self.deaths: Dict[int, int] = {}

    def __len__(self) -> int:
        return self._count + len(self._created)

    def client_of(self, window: int) -> int:
        """Give whose a window is."""
        return window & ~self._id_mask

    def title_of(self, window: int) -> str | None:
        """Give a window's title; None when it has one that was not seen being written."""
        if window in self._created:
            return ""
        names = self._rows_of(window).get(window)
        if names is None:
            return None
        net_name, name = names
        if net_name is None or (not net_name and name is None):
            return None
        if net_name or not name:
            return net_name.decode("utf-8", "replace")
        return name.decode("latin-1" if window in self._latin else "utf-8", "replace")

    def believe(self, title: Standing) -> None:
        """Take a title that stood when the watch began for the owner's own."""
        self._put(title.window, [title.net_name[:MAX_NAME_BYTES], title.name[:MAX_NAME_BYTES]])
        (self._latin.add if title.is_latin else self._latin.discard)(title.window)

    def bury(self, client: int) -> None:
        """Forget a client's windows; its identifiers are another's from now on."""
        for window, names in self._named.pop(client, _no_rows()).items():
            self._uncount(window, names)
        for window in [one for one in self._created if self.client_of(one) == client]:
            del self._created[window]
        self.deaths[client] = self.deaths.get(client, 0) + 1

    def take(self, request: Request) -> None:
        """Learn from a request, in the order in which the server took them."""
        numbers = request.numbers(1)
        if not numbers or self.client_of(numbers[0]) != request.client:
            return
        window = numbers[0]
        if request.opcode == _CREATE:
            self._create(window)
        elif request.opcode == _CHANGE:
            self._change(window, request)
        elif request.opcode == _DELETE:
            place = self._places.get((request.numbers(2) or (0, 0))[1])
            if place is not None:
                self._set(window, place, b"")
        elif request.opcode == _ROTATE:
            self._put(window, [None, None])

    def _create(self, window: int) -> None:
        self._drop(window)
        self._created[window] = None
        while len(self._created) > MAX_CREATED:
            self._created.popitem(last=False)

    def _change(self, window: int, request: Request) -> None:
        # window, property, type, format and padding, length in units of the format, data
        numbers = request.numbers(5)
        place = self._places.get(numbers[1]) if numbers else None
        if place is None:
            return
        length = numbers[4] if request.body[12] == 8 else 0  # noqa: PLR2004 - bits
        value: bytes | None = request.body[20 : 20 + min(length, MAX_NAME_BYTES)]
        old = self._names_of(window)[place]
        if request.detail in {_PREPEND, _APPEND} and value is not None:
            parts = (value, old) if request.detail == _PREPEND else (old, value)
            value = None if old is None else b"".join(part for part in parts if part)
        elif place == 1:
            (self._latin.add if numbers[2] == _STRING else self._latin.discard)(window)
        self._set(window, place, value)

    def _names_of(self, window: int) -> _Names:
        if window in self._created:
            return [b"", b""]
        return self._rows_of(window).get(window, [None, None])

    def _rows_of(self, window: int) -> OrderedDict[int, _Names]:
        return self._named.get(self.client_of(window)) or _no_rows()

    def _set(self, window: int, place: int, value: bytes | None) -> None:
        names = list(self._names_of(window))
        names[place] = None if value is None else value[:MAX_NAME_BYTES]
        self._put(window, names)

    def _put(self, window: int, names: _Names) -> None:
        is_latin = window in self._latin
        self._drop(window)
        if is_latin:
            self._latin.add(window)
        self._named.setdefault(self.client_of(window), OrderedDict())[window] = names
        self._count += 1
        self._bytes += _size(names)
        while self._count > MAX_NAMED or self._bytes > _MAX_NAMES_BYTES:
            self._make_room()

    def _drop(self, window: int) -> None:
        self._created.pop(window, None)
        names = self._rows_of(window).pop(window, None)
        if names is not None:
            self._uncount(window, names)

    def _make_room(self) -> None:
        """Forget what the client with the most windows wrote longest ago."""
        rows = max(self._named.values(), key=len)
        self._uncount(*rows.popitem(last=False))

    def _uncount(self, window: int, names: _Names) -> None:
        self._latin.discard(window)
        self._count -= 1
        self._bytes -= _size(names)


def _no_rows() -> OrderedDict[int, _Names]:
    return OrderedDict()


def _size(names: _Names) -> int:
    return sum(len(name) for name in names if name)
