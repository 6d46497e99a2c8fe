"""Query applications over the accessibility bus, with many questions in flight.

An emulated processor takes ten milliseconds or more per question, mostly for context switches;
questions that are sent together cost a fraction of that.

Source: the interfaces of AT-SPI 2, ``at-spi2-core/xml``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX = "org.a11y.atspi."
_AT_ONCE = 32
"""Maximum number of pending questions."""
_MAX_REPLY_BYTES = 1 << 23
"""Limit of one application's bulk reply; larger ones are requested in pieces."""
APP_TIMEOUT_S = 0.8
"""How long an application may take to show that it is responsive."""
ANSWER_TIMEOUT_S = 2.5
"""How long an application may take for an answer, which may be the last of many."""


class Ref(NamedTuple):
    """An accessible object.

    Attributes:
        bus: bus name of its application.
        path: path of the object.
    """

    bus: str
    path: str


class Method(NamedTuple):
    """A method of an interface; an answer of another type counts as no answer.

    Attributes:
        interface: name of the interface.
        name: name of the method.
        takes: D-Bus signature of the arguments.
        gives: D-Bus signature of the answer.
    """

    interface: str
    name: str
    takes: str
    gives: str


ITEMS = Method(f"{_PREFIX}Cache", "GetItems", "()", "(a((so)(so)(so)iiassusau))")
CHILDREN = Method(f"{_PREFIX}Accessible", "GetChildren", "()", "(a(so))")
CHILD = Method(f"{_PREFIX}Accessible", "GetChildAtIndex", "(i)", "((so))")
STATES = Method(f"{_PREFIX}Accessible", "GetState", "()", "(au)")
ROLE = Method(f"{_PREFIX}Accessible", "GetRole", "()", "(u)")
EXTENTS = Method(f"{_PREFIX}Component", "GetExtents", "(u)", "((iiii))")
PROPERTY = Method("org.freedesktop.DBus.Properties", "Get", "(ss)", "(v)")


class Query(NamedTuple):
    """A call of a method.

    Attributes:
        ref: object to call.
        method: method to call.
        arguments: arguments of the types in `takes`.
    """

    ref: Ref
    method: Method
    arguments: tuple[Any, ...] = ()


class Bus:
    """A connection to the session's accessibility bus.

    Args:
        gio: the module ``gi.repository.Gio``.
        glib: the module ``gi.repository.GLib``.

    Attributes:
        address: address of the accessibility bus.
    """

    def __init__(self, gio: Any, glib: Any) -> None:  # noqa: ANN401 - gi is untyped
        self._glib = glib
        self._flags = gio.DBusCallFlags.NONE
        self._timed_out = (gio.io_error_quark(), gio.IOErrorEnum.TIMED_OUT)
        self._silent: set[str] = set()
        self._made: dict[tuple[Method, tuple[Any, ...]], tuple[Any, Any]] = {}
        session = gio.bus_get_sync(gio.BusType.SESSION, None)
        reply = session.call_sync(
            "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress",
            None, None, self._flags, int(APP_TIMEOUT_S * 1000), None,
        )  # fmt: skip
        flags = gio.DBusConnectionFlags
        self.address = str(reply.unpack()[0])
        self._connection = gio.DBusConnection.new_for_address_sync(
            self.address,
            flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION,
            None,
            None,
        )

    def begin(self) -> None:
        """Start a new round, which includes applications that did not answer before."""
        self._silent.clear()

    def ask(
        self, queries: Sequence[Query], deadline_s: float, timeout_s: float = ANSWER_TIMEOUT_S
    ) -> list[Any]:
        """Ask questions and return the answers in the same order; None for missing answers.

        An application that exceeded a timeout is not asked again in this round.

        Args:
            queries: any number of questions.
            deadline_s: on the monotonic clock; later answers count as missing.
            timeout_s: timeout of each question.
        """
        answers: list[Any] = [None] * len(queries)
        context = self._glib.MainContext.default()
        sent, waiting = 0, [0]

        def take(connection: Any, result: Any, number: int) -> None:  # noqa: ANN401
            waiting[0] -= 1
            try:
                reply = connection.call_finish(result)
            except self._glib.Error as exc:
                if exc.matches(*self._timed_out):
                    self._silent.add(queries[number].ref.bus)
                return
            if reply.get_size() <= _MAX_REPLY_BYTES:
                answers[number] = reply.unpack()

        while sent < len(queries) or waiting[0]:
            left_ms = int((deadline_s - time.monotonic()) * 1000)
            while sent < len(queries) and waiting[0] < _AT_ONCE and left_ms > 0:
                if queries[sent].ref.bus not in self._silent:
                    self._send(queries[sent], min(int(timeout_s * 1000), left_ms), take, sent)
                    waiting[0] += 1
                sent += 1
            if not waiting[0]:
                break
            context.iteration(True)
        return answers

    def _send(self, query: Query, timeout_ms: int, take: Any, number: int) -> None:  # noqa: ANN401
        method = query.method
        arguments, gives = self._typed(method, query.arguments)
        self._connection.call(
            query.ref.bus, query.ref.path, method.interface, method.name, arguments, gives,
            self._flags, timeout_ms, None, take, number,
        )  # fmt: skip

    def _typed(self, method: Method, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return the arguments and the answer type as GLib objects, which are slow to create."""
        made = self._made.get((method, arguments))
        if made is None:
            variant = self._glib.Variant(method.takes, arguments) if arguments else None
            made = self._made[method, arguments] = (variant, self._glib.VariantType(method.gives))
        return made
