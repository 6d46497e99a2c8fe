"""Ask over D-Bus, on a connection of which the kernel says who speaks.

Small on purpose: one thread, calls and their replies, everything bounded by one deadline. A reply
counts only from the connection that was asked, which the bus' daemon stamps on each message; and
where the caller names the daemon's process, only bytes that this process itself wrote count, by the
credentials that the kernel attaches to them.

Source: D-Bus Specification 0.43, sections Message Protocol, Authentication Protocol; unix(7).
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple

from provisioning.probe import connections

if TYPE_CHECKING:
    from collections.abc import Sequence

DAEMON = "org.freedesktop.DBus"
_DAEMON_PATH = "/org/freedesktop/DBus"
_CREDENTIALS = struct.Struct("=iII")
_PEEKED = 16
_MOST_BYTES = 4 << 20
_BATCH = 50
_CALL, _RETURN, _ERROR = 1, 2, 3
_NO_AUTO_START = 2
_PATH, _INTERFACE, _MEMBER, _REPLY_TO, _TARGET, _SENDER, _SIGNATURE = 1, 2, 3, 5, 6, 7, 8
_FIXED = {**dict(zip("ybnqiuxtd", "BIhHiIqQd")), "h": "I"}  # noqa: B905 - Python 3.9
_STRUCT_ALIGNMENT = 8

Reply = Optional[List[Any]]


class BusError(Exception):
    """The bus cannot be asked; the message tells why."""


class Call(NamedTuple):
    """A method call whose arguments are strings.

    Attributes:
        target: name of the connection that is asked.
        path: the object.
        interface: the method's interface.
        member: the method.
        words: the arguments.
    """

    target: str
    path: str
    interface: str
    member: str
    words: Tuple[str, ...] = ()


class Bus:
    """A connection to a bus.

    Args:
        path: of the socket; its first character is NUL in the abstract name space.
        uid: whose connection it shall be; ours or, for root, anybody's.
        patience_s: how long all that is asked may take together.

    Raises:
        BusError: nobody is there.
    """

    def __init__(self, path: str, uid: int, patience_s: float) -> None:
        self._deadline_s = time.monotonic() + patience_s
        self._uid = uid
        self._only_from = 0
        self._serial = 0
        self._buffer = bytearray()
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Before anybody can have written to us.
            self._link.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            self._link.setblocking(False)
            _connect_as(uid, self._link, path)
            self.pid = connections.server_pid(self._link)
        except (OSError, ValueError) as exc:
            self.close()
            raise BusError(f"nobody can be reached at the bus: {exc}") from exc

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    def log_in(self, *, only_from: int = 0) -> None:
        """Begin to speak; nothing was read before.

        Args:
            only_from: the one process whose bytes count; anybody's when 0.

        Raises:
            BusError: it refuses, or is late, or another process answers.
        """
        self._only_from = only_from
        name = str(self._uid).encode().hex().encode()
        self._write(b"\0AUTH EXTERNAL " + name + b"\r\n")
        while b"\r\n" not in self._buffer:
            self._read()
        line, _, rest = bytes(self._buffer).partition(b"\r\n")
        if not line.startswith(b"OK ") or rest:
            raise BusError("the bus refuses us")
        self._buffer.clear()
        self._write(b"BEGIN\r\n")
        if self.ask_daemon("Hello") is None:
            raise BusError("the bus refuses us")

    def ask_daemon(self, member: str, *words: str) -> Reply:
        """Call a method of the bus itself; raises as `ask` does."""
        return self.ask([Call(DAEMON, _DAEMON_PATH, DAEMON, member, words)])[0]

    def ask_daemon_each(self, member: str, words: Sequence[str]) -> list[Reply]:
        """Call a method of the bus itself with each of some words; raises as `ask` does."""
        return self.ask([Call(DAEMON, _DAEMON_PATH, DAEMON, member, (word,)) for word in words])

    def ask(self, calls: Sequence[Call]) -> list[Reply]:
        """Call methods; give what each returned, None for an error.

        Raises:
            BusError: the connection ended, makes no sense, or not all was answered in time.
        """
        found: list[Reply] = []
        for at in range(0, len(calls), _BATCH):
            found += self._ask_some(calls[at : at + _BATCH])
        return found

    def _ask_some(self, calls: Sequence[Call]) -> list[Reply]:
        waiting: Dict[int, Call] = {}
        for call in calls:
            self._serial += 1
            waiting[self._serial] = call
        self._write(b"".join(_packed(call, serial) for serial, call in waiting.items()))
        replies: Dict[int, Reply] = {}
        while len(replies) < len(waiting):
            kind, fields, body = self._next()
            serial = fields.get(_REPLY_TO, 0)
            if kind not in {_RETURN, _ERROR} or serial not in waiting:
                continue
            if fields.get(_SENDER) == waiting[serial].target:
                replies[serial] = body if kind == _RETURN else None
        return [replies[serial] for serial in waiting]

    def _next(self) -> tuple[int, dict[int, Any], list[Any]]:
        while len(self._buffer) < _PEEKED:
            self._read()
        order = {ord("l"): "<", ord("B"): ">"}.get(self._buffer[0])
        if order is None:
            raise BusError("the bus makes no sense")
        body_size, _, fields_size = struct.unpack_from(f"{order}III", self._buffer, 4)
        start = _PEEKED + (fields_size + 7) // 8 * 8
        size = start + body_size
        if size > _MOST_BYTES:
            raise BusError("the bus says too much")
        while len(self._buffer) < size:
            self._read()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        try:
            fields = dict(_Reader(data[:start], order, 12).value("a(yv)"))
            reader = _Reader(data, order, start)
            body = [reader.value(kind) for kind in _kinds(fields.get(_SIGNATURE, ""))]
        except (struct.error, ValueError, TypeError, IndexError, RecursionError) as exc:
            raise BusError("the bus makes no sense") from exc
        return data[1], fields, body

    def _wait(self, *, to_write: bool) -> None:
        left_s = self._deadline_s - time.monotonic()
        readers, writers = ([], [self._link]) if to_write else ([self._link], [])
        if left_s <= 0 or not any(select.select(readers, writers, [], left_s)):
            raise BusError("no answer in time")

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._wait(to_write=True)
            try:
                view = view[self._link.send(view, socket.MSG_NOSIGNAL) :]
            except BlockingIOError:
                continue
            except OSError as exc:
                raise BusError(f"the bus' connection broke: {exc}") from exc

    def _read(self) -> None:
        self._wait(to_write=False)
        room = socket.CMSG_SPACE(_CREDENTIALS.size)
        try:
            data, notes, _, _ = self._link.recvmsg(1 << 16, room)
        except BlockingIOError:
            return
        except OSError as exc:
            raise BusError(f"the bus' connection broke: {exc}") from exc
        if not data:
            raise BusError("the bus hung up")
        told = [note for level, kind, note in notes if kind == socket.SCM_CREDENTIALS]
        writers = [_CREDENTIALS.unpack(note)[0] for note in told]
        if self._only_from and writers != [self._only_from]:
            raise BusError("another process answers in the bus' place")
        self._buffer += data
        if len(self._buffer) > _MOST_BYTES + len(data):
            raise BusError("the bus says too much")


class _Reader:
    """Takes values out of a message.

    Args:
        data: the message from its beginning, as alignment counts from there.
        order: byte order, as `struct` names it.
        at: where to begin.
    """

    def __init__(self, data: bytes, order: str, at: int) -> None:
        self._data = data
        self._order = order
        self._at = at

    def value(self, kind: str) -> Any:  # noqa: ANN401 - as the signature says
        """Take one complete type."""
        first = kind[0]
        if first in _FIXED:
            return self._number(_FIXED[first])
        if first in "sog":
            return self._text("B" if first == "g" else "I")
        if first == "v":
            return self.value(self._text("B"))
        if first == "a":
            return self._items(kind[1:])
        if first not in "({" or not kind[1:-1]:
            raise ValueError(kind)
        self._align(_STRUCT_ALIGNMENT)
        return tuple(self.value(one) for one in _kinds(kind[1:-1]))

    def _items(self, kind: str) -> list[Any]:
        size = self._number("I")
        self._align(_alignment(kind[0]))
        end = self._at + size
        items = []
        while self._at < end:
            items.append(self.value(kind))
        return items

    def _number(self, code: str) -> Any:  # noqa: ANN401 - whole or not
        size = struct.calcsize(f"={code}")
        self._align(size)
        (number,) = struct.unpack_from(f"{self._order}{code}", self._data, self._at)
        self._at += size
        return number

    def _text(self, code: str) -> str:
        size = self._number(code)
        text = self._data[self._at : self._at + size]
        if len(text) != size:
            raise ValueError(size)
        self._at += size + 1
        return text.decode("utf-8", "replace")

    def _align(self, size: int) -> None:
        self._at += -self._at % size


def _alignment(kind: str) -> int:
    if kind in _FIXED:
        return struct.calcsize(f"={_FIXED[kind]}")
    return {"(": _STRUCT_ALIGNMENT, "{": _STRUCT_ALIGNMENT, "v": 1, "g": 1}.get(kind, 4)


def _kinds(signature: str) -> list[str]:
    """Take a signature apart into complete types."""
    found, at = [], 0
    while at < len(signature):
        end, depth = at, 0
        while True:
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(signature[end], 0)
            end += 1
            if depth == 0 and signature[end - 1] != "a":
                break
        found.append(signature[at:end])
        at = end
    return found


def _packed(call: Call, serial: int) -> bytes:
    body = b""
    for word in call.words:
        body += bytes(-len(body) % 4) + _packed_text(word)
    fields = b""
    for number, kind, text in (
        (_PATH, "o", call.path),
        (_INTERFACE, "s", call.interface),
        (_MEMBER, "s", call.member),
        (_TARGET, "s", call.target),
    ):
        fields += bytes(-len(fields) % 8) + struct.pack("<BB2s", number, 1, kind.encode() + b"\0")
        fields += _packed_text(text)
    if call.words:
        signature = b"s" * len(call.words)
        fields += bytes(-len(fields) % 8) + struct.pack("<BB2s", _SIGNATURE, 1, b"g\0")
        fields += struct.pack("<B", len(signature)) + signature + b"\0"
    head = struct.pack("<cBBBIII", b"l", _CALL, _NO_AUTO_START, 1, len(body), serial, len(fields))
    return head + fields + bytes(-len(fields) % 8) + body


def _packed_text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def _connect_as(uid: int, link: socket.socket, path: str) -> None:
    """Connect as a user: the daemon asks the kernel whose connection it is.

    Only the effective user changes for this moment; for that nobody may signal or look into us. An
    alarm must not come in between.
    """
    own = os.geteuid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        if uid != own:
            os.seteuid(uid)
        try:
            link.connect(path)
        finally:
            if uid != own:
                os.seteuid(own)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
