"""The walk over the accessibility tree ends in time, whatever does not answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from provisioning.probe import tree
from provisioning.probe.params import Params

_STATES = SimpleNamespace(contains=lambda _: True, get_states=tuple)
_ASKING_S = 0.8


class DBusError(Exception):
    """What AT-SPI raises when an application does not answer."""


class BusyOffice:
    """An application with many children, none of which answers; asking each takes its time."""

    def __init__(self, *, gives_children: bool) -> None:
        self.now_s = 0.0
        self.gives_children = gives_children

    def get_role_name(self) -> str:
        return "application"

    def get_state_set(self) -> object:
        return _STATES

    def get_child_count(self) -> int:
        return 400

    def get_child_at_index(self, _index: int) -> object:
        if self.gives_children:
            return SimpleNamespace(get_role_name=self._wait)
        return self._wait()

    def _wait(self) -> object:
        self.now_s += _ASKING_S
        raise DBusError


class Node:
    """An element that answers, and counts how often it is asked."""

    asked = 0

    def __init__(
        self, role: str, *box: int, shows: bool = True, below: tuple[Node, ...] = ()
    ) -> None:
        self._role, self._box, self._shows, self._below = role, box, shows, below

    def get_role_name(self) -> str:
        Node.asked += 1
        return self._role

    def get_name(self) -> str:
        return self._role

    def get_state_set(self) -> object:
        Node.asked += 1
        return SimpleNamespace(contains=lambda _: self._shows, get_states=tuple)

    def get_component_iface(self) -> Any:  # noqa: ANN401
        names = ("x", "y", "width", "height")
        extents = SimpleNamespace(**dict(zip(names, self._box, strict=True)))
        return SimpleNamespace(get_extents=lambda _: extents)

    def get_child_count(self) -> int:
        return len(self._below)

    def get_child_at_index(self, index: int) -> Node:
        return self._below[index]


def rows_of(*apps: Node) -> list[dict[str, Any]]:
    desktop: Any = SimpleNamespace(
        clear_cache=lambda: None,
        get_child_count=lambda: len(apps),
        get_child_at_index=lambda index: apps[index],
    )
    atspi = SimpleNamespace(
        init=lambda: None,
        set_timeout=lambda *_: None,
        get_desktop=lambda _: desktop,
        StateType=SimpleNamespace(SHOWING=1),
        CoordType=SimpleNamespace(SCREEN=0),
    )
    context = SimpleNamespace(iteration=lambda _: False)
    glib = SimpleNamespace(Error=DBusError, MainContext=SimpleNamespace(default=lambda: context))
    return tree.Walker(atspi, glib).tree(Params({}, timeout_s=10.0))


def menu(shows: bool, entries: int = 400) -> Node:
    entry = Node("menu item", 0, 90, 100, 20, shows=shows)
    return Node("menu", 0, 61, 40, 25, below=(entry,) * entries)


def test_entries_of_closed_menus_are_not_asked_one_by_one() -> None:
    Node.asked = 0
    shut = rows_of(Node("application", below=(menu(shows=False),)))
    assert [row["role"] for row in shut] == ["menu"]
    assert Node.asked < 20
    opened = rows_of(Node("application", below=(menu(shows=True, entries=30),)))
    assert [row["role"] for row in opened] == ["menu", *["menu item"] * 30]


def test_what_libreoffice_draws_is_found_below_its_menu_bar() -> None:
    # As Calc of LibreOffice 7.3 claims in the GTK 3 plug-in; a picture showed Save at y 105.
    save = Node("push button", 92, 63, 44, 35)
    gtk = Node("panel", 4, 166, 173, 34, below=(Node("text", 4, 166, 137, 34),))
    name_box = Node("panel", 4, 141, 173, 34, below=(gtk,))
    unseen = Node("menu bar", 0, 61, 1280, 0, below=(menu(shows=True),))
    root = Node("root pane", 0, 61, 1280, 690, below=(unseen, save, name_box))
    window = Node("panel", 0, 86, 1280, 690, below=(root,))
    frame = Node("frame", 0, 24, 1280, 752, below=(menu(shows=False), window))
    found = [(row["role"], row["bounds"]) for row in rows_of(Node("application", below=(frame,)))]
    assert found == [
        ("frame", [0, 24, 1280, 776]),
        ("menu", [0, 61, 40, 86]),
        ("panel", [0, 86, 1280, 776]),
        ("root pane", [0, 86, 1280, 776]),
        ("push button", [92, 88, 136, 123]),
        ("panel", [4, 166, 177, 200]),
        ("panel", [4, 166, 177, 200]),
        ("text", [4, 166, 141, 200]),
    ]


@pytest.mark.parametrize("gives_children", [True, False])
def test_children_that_do_not_answer_take_no_more_than_the_deadline(
    monkeypatch: pytest.MonkeyPatch, gives_children: bool
) -> None:
    app = BusyOffice(gives_children=gives_children)
    desktop: Any = SimpleNamespace(
        clear_cache=lambda: None, get_child_count=lambda: 1, get_child_at_index=lambda _: app
    )
    atspi = SimpleNamespace(
        init=lambda: None,
        set_timeout=lambda *_: None,
        get_desktop=lambda _: desktop,
        StateType=SimpleNamespace(SHOWING=1),
    )
    context = SimpleNamespace(iteration=lambda _: False)
    glib = SimpleNamespace(Error=DBusError, MainContext=SimpleNamespace(default=lambda: context))
    monkeypatch.setattr(tree, "time", SimpleNamespace(monotonic=lambda: app.now_s))
    assert tree.Walker(atspi, glib).tree(Params({}, timeout_s=10.0)) == []
    assert app.now_s < 10.0
