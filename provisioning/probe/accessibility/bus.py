"""A D-Bus connection whose peer is verified by the kernel; jeepney does the marshalling.

Single-threaded: method calls and their replies, bounded by one deadline. A reply is accepted only
from the connection that was called; the bus daemon stamps the sender on each message. If the
caller names the daemon's process, only bytes written by this process are accepted, according to
the credentials that the kernel attaches to them.

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
from urllib.parse import unquote

from jeepney import DBusAddress, HeaderFields, Message, MessageFlag, MessageType, low_level
from jeepney.wrappers import new_method_call

from provisioning.probe.system import connections

if TYPE_CHECKING:
    from collections.abc import Sequence

DAEMON = "org.freedesktop.DBus"
_DAEMON_PATH = "/org/freedesktop/DBus"
_CREDENTIALS = struct.Struct("=iII")
_HEAD_BYTES = 16
_MAX_BYTES = 4 << 20
_BATCH = 50
_REPLIES = frozenset({MessageType.method_return.value, MessageType.error.value})
# What jeepney raises for bytes that are not a message. AssertionError: a string without its final
# NUL.
_MALFORMED = (struct.error, ValueError, TypeError, LookupError, AssertionError, RecursionError)

Reply = Optional[List[Any]]


class BusError(Exception):
    """The bus cannot be queried; the message contains the reason."""


class Call(NamedTuple):
    """A method call whose arguments are strings.

    Attributes:
        target: bus name of the connection to call.
        path: path of the object.
        interface: interface of the method.
        member: name of the method.
        arguments: arguments of the method.
    """

    target: str
    path: str
    interface: str
    member: str
    arguments: Tuple[str, ...] = ()


class _Struct(low_level.Struct):  # type: ignore[misc] # jeepney is untyped
    """A non-empty struct: jeepney would read an array of empty structs forever.

    Source: D-Bus Specification 0.43, Container types: empty structures are not allowed.
    """

    def __init__(self, fields: List[Any]) -> None:
        if not fields:
            raise ValueError("a struct without fields")
        super().__init__(fields)


low_level.Struct = _Struct


class Bus:
    """A connection to a bus.

    Args:
        path: path of the socket; begins with NUL in the abstract namespace.
        uid: user of the connection: our own or, for root, any user.
        timeout_s: time limit of all calls together.

    Attributes:
        signals: number of signals that arrived and were dropped.

    Raises:
        BusError: nobody is listening.
    """

    def __init__(self, path: str, uid: int, timeout_s: float) -> None:
        self._deadline_s = time.monotonic() + timeout_s
        self._uid = uid
        self._only_from = 0
        self._serial = 0
        self.signals = 0
        self._buffer = bytearray()
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Set before anybody can have written to us.
            self._link.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            self._link.setblocking(False)
            _connect_as(uid, self._link, path)
            self.pid = connections.server_pid(self._link)
        except (OSError, ValueError) as exc:
            self.close()
            raise BusError(f"cannot connect to the bus: {exc}") from exc

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def fileno(self) -> int:
        """Return the descriptor of the socket."""
        return self._link.fileno()

    def extend(self, deadline_s: float) -> None:
        """Set the time limit of further calls, on the monotonic clock."""
        self._deadline_s = deadline_s

    def log_in(self, *, only_from: int = 0) -> None:
        """Authenticate; nothing is read before this.

        Args:
            only_from: the only process whose bytes are accepted; any process when 0.

        Raises:
            BusError: the bus refuses, does not reply in time, or another process replies.
        """
        self._only_from = only_from
        name = str(self._uid).encode().hex().encode()
        self._write(b"\0AUTH EXTERNAL " + name + b"\r\n")
        while b"\r\n" not in self._buffer:
            self._read()
        line, _, rest = bytes(self._buffer).partition(b"\r\n")
        if not line.startswith(b"OK ") or rest:
            raise BusError("the bus refuses the connection")
        self._buffer.clear()
        self._write(b"BEGIN\r\n")
        if self.call_daemon("Hello") is None:
            raise BusError("the bus refuses the connection")

    def call_daemon(self, member: str, *arguments: str) -> Reply:
        """Call a method of the bus daemon; raises as `call` does."""
        return self.call([Call(DAEMON, _DAEMON_PATH, DAEMON, member, arguments)])[0]

    def call_daemon_for_each(self, member: str, arguments: Sequence[str]) -> list[Reply]:
        """Call a method of the bus daemon once for each argument; raises as `call` does."""
        return self.call(
            [Call(DAEMON, _DAEMON_PATH, DAEMON, member, (argument,)) for argument in arguments]
        )

    def call(self, calls: Sequence[Call]) -> list[Reply]:
        """Call methods and return the values of each, None for an error.

        Values have jeepney's form: a variant is a pair of signature and value.

        Raises:
            BusError: the connection ended, a message is malformed, or a reply is late.
        """
        replies: list[Reply] = []
        for at in range(0, len(calls), _BATCH):
            replies += self._call_batch(calls[at : at + _BATCH])
        return replies

    def _call_batch(self, calls: Sequence[Call]) -> list[Reply]:
        waiting: Dict[int, Call] = {}
        for call in calls:
            self._serial += 1
            waiting[self._serial] = call
        self._write(b"".join(_serialise(call, serial) for serial, call in waiting.items()))
        replies: Dict[int, Reply] = {}
        while len(replies) < len(waiting):
            message = self._next_reply()
            serial = message.header.fields.get(HeaderFields.reply_serial, 0)
            if serial not in waiting:
                continue
            if message.header.fields.get(HeaderFields.sender) == waiting[serial].target:
                is_return = message.header.message_type is MessageType.method_return
                replies[serial] = list(message.body) if is_return else None
        return [replies[serial] for serial in waiting]

    def _next_reply(self) -> Any:  # noqa: ANN401 - jeepney is untyped
        """Return the next reply; other messages, which anyone can send, are dropped unparsed."""
        while True:
            data = self._next_message()
            if data[1] not in _REPLIES:
                self.signals += data[1] == MessageType.signal.value
                continue
            try:
                return Message.from_buffer(data)
            except _MALFORMED as exc:
                raise BusError("the bus sends malformed messages") from exc

    def _next_message(self) -> bytes:
        while len(self._buffer) < _HEAD_BYTES:
            self._read()
        try:
            size = int(low_level.calc_msg_size(bytes(self._buffer[:_HEAD_BYTES])))
        except _MALFORMED as exc:
            raise BusError("the bus sends malformed messages") from exc
        if size > _MAX_BYTES:
            raise BusError("the bus sends too much")
        while len(self._buffer) < size:
            self._read()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _wait(self, *, to_write: bool) -> None:
        left_s = self._deadline_s - time.monotonic()
        readers, writers = ([], [self._link]) if to_write else ([self._link], [])
        if left_s <= 0 or not any(select.select(readers, writers, [], left_s)):
            raise BusError("no reply in time")

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._wait(to_write=True)
            try:
                view = view[self._link.send(view, socket.MSG_NOSIGNAL) :]
            except BlockingIOError:
                continue
            except OSError as exc:
                raise BusError(f"the connection to the bus broke: {exc}") from exc

    def _read(self) -> None:
        self._wait(to_write=False)
        room = socket.CMSG_SPACE(_CREDENTIALS.size)
        try:
            data, notes, _, _ = self._link.recvmsg(1 << 16, room)
        except BlockingIOError:
            return
        except OSError as exc:
            raise BusError(f"the connection to the bus broke: {exc}") from exc
        if not data:
            raise BusError("the bus closed the connection")
        credentials = [note for level, kind, note in notes if kind == socket.SCM_CREDENTIALS]
        writers = [_CREDENTIALS.unpack(note)[0] for note in credentials]
        if self._only_from and writers != [self._only_from]:
            raise BusError("another process replies instead of the bus")
        self._buffer += data
        if len(self._buffer) > _MAX_BYTES + len(data):
            raise BusError("the bus sends too much")


def _serialise(call: Call, serial: int) -> bytes:
    address = DBusAddress(call.path, call.target, call.interface)
    signature = "s" * len(call.arguments) or None
    try:
        message = new_method_call(address, call.member, signature, call.arguments)
        message.header.flags |= MessageFlag.no_auto_start
        return bytes(message.serialise(serial))
    except ValueError as exc:
        raise BusError(f"invalid call: {exc}") from exc


def _connect_as(uid: int, link: socket.socket, path: str) -> None:
    """Connect as a user: the daemon queries the kernel for the connection's user.

    Only the effective user changes, temporarily, so that nobody can signal or trace us. No alarm
    may fire in between.
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


def path_in(address: str) -> str:
    """Return the path of the first Unix socket in an address; an abstract path begins with NUL."""
    for part in address.split(";"):
        kind, _, rest = part.partition(":")
        parts = dict(pair.partition("=")[::2] for pair in rest.split(","))
        if kind == "unix" and parts.get("path"):
            return unquote(parts["path"])
        if kind == "unix" and parts.get("abstract"):
            return "\0" + unquote(parts["abstract"])
    return ""
