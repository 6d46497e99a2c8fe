"""Changes that programs report on a real message bus, to a stand-in of the registry."""

from __future__ import annotations

import socket
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from jeepney import DBusAddress, MessageType, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from provisioning.probe.accessibility.client import Ref
from provisioning.probe.accessibility.events import EventWatch
from provisioning.probe.accessibility.recent import Reading, RecentTree
from provisioning.probe.serving.params import Params
from tests.unit.provisioning.probe.accessibility.test_bus import daemon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REGISTRY = "org.a11y.atspi.Registry"
OBJECT = DBusAddress("/app", None, "org.a11y.atspi.Event.Object")
assert callable(daemon)


class Registry:
    """Accepts registrations of events, and reports changes like a program."""

    def __init__(self, path: str) -> None:
        self._link = open_dbus_connection(f"unix:path={path}")
        self._link.send_and_get_reply(message_bus.RequestName(REGISTRY))
        self.events: list[str] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                message = self._link.receive(timeout=30)
            except (OSError, TimeoutError):
                return
            if message.header.message_type is not MessageType.method_call:
                continue
            self.events.append(message.body[0])
            self._link.send(new_method_return(message))

    def close(self) -> None:
        self._link.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=5)
        self._link.close()


def report(path: str, member: str) -> None:
    """Report a change on a connection of its own, and wait until the bus has it."""
    with open_dbus_connection(f"unix:path={path}") as link:
        link.send(new_signal(OBJECT, member, "s", ("focused",)))
        link.send_and_get_reply(message_bus.GetId())


@pytest.fixture
def bus(daemon: tuple[str, int]) -> Iterator[str]:
    with closing(Registry(daemon[0])):
        yield daemon[0]


def test_a_report_is_noticed_once_and_ends_the_watch(bus: str) -> None:
    watch = EventWatch(lambda: bus)
    assert watch.begin()
    assert watch.is_quiet()
    report(bus, "TextCaretMoved")
    assert watch.is_quiet()
    report(bus, "StateChanged")
    assert not watch.is_quiet()
    assert watch.fileno() == -1
    assert watch.begin()
    assert watch.is_quiet()
    watch.end()


def test_the_registry_is_asked_for_events(daemon: tuple[str, int]) -> None:
    watch = EventWatch(lambda: daemon[0])
    with closing(Registry(daemon[0])) as registry:
        assert watch.begin()
        assert {"object:state-changed", "object:children-changed", "window"} <= {*registry.events}
        watch.end()


@pytest.mark.parametrize("path", ["", "/nowhere/bus"])
def test_without_a_bus_nothing_is_watched(path: str) -> None:
    watch = EventWatch(lambda: path)
    assert not watch.begin()
    assert not watch.is_quiet()


def test_without_a_registry_nothing_is_watched(daemon: tuple[str, int]) -> None:
    assert not EventWatch(lambda: daemon[0]).begin()


WINDOW = Ref(":1.1", "/window")


class Programs:
    """Answers where windows are."""

    def __init__(self) -> None:
        self.box: tuple[int, int, int, int] | None = (0, 0, 100, 50)

    def begin(self) -> None:
        """Do nothing."""

    def ask(self, queries: Sequence[Any], deadline_s: float, timeout_s: float = 1.0) -> list[Any]:
        del deadline_s, timeout_s
        return [self.box and (self.box,) for _ in queries]


class Reader:
    """Counts how often a tree is read."""

    def __init__(self) -> None:
        self.count = 0
        self.is_whole = True

    def read(self, params: Params) -> Reading:
        del params
        self.count += 1
        rows = [{"name": str(self.count)}]
        return Reading(rows, {WINDOW: (0, 0, 100, 50)}, is_whole=self.is_whole)


def test_a_tree_is_read_again_only_if_something_changed(bus: str) -> None:
    programs, reader, params = Programs(), Reader(), Params({}, 10.0)
    watch = EventWatch(lambda: bus)
    recent = RecentTree(programs, reader, watch)
    rows = [recent.tree(params) for _ in range(3)]
    assert (rows, reader.count) == ([[{"name": "1"}]] * 3, 1)
    report(bus, "ChildrenChanged")
    assert recent.tree(params) == [{"name": "2"}]
    programs.box = (5, 0, 100, 50)
    assert recent.tree(params) == [{"name": "3"}]
    programs.box = None
    assert recent.tree(params) == [{"name": "4"}]
    watch.end()


def test_a_tree_that_is_not_whole_is_read_again(bus: str) -> None:
    reader, watch = Reader(), EventWatch(lambda: bus)
    reader.is_whole = False
    recent = RecentTree(Programs(), reader, watch)
    recent.tree(Params({}, 10.0))
    recent.tree(Params({}, 10.0))
    assert reader.count == 2
    watch.end()
