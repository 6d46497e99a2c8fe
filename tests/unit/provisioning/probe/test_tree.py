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
