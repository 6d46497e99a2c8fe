"""Requests about accessibility trees, of which a guest carries out one at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from provisioning.probe.errors import ProbeError
from provisioning.probe.ops import Ops
from provisioning.probe.serving.params import Params

if TYPE_CHECKING:
    from collections.abc import Mapping


class SlowTree:
    """A helper that answers when it is told to, and notes how many requests it has at once."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.begun = threading.Event()
        self.most_at_once = 0
        self._now = 0

    def call(self, op: str, params: Mapping[str, Any], timeout_s: float) -> str:
        del params, timeout_s
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        self.begun.set()
        assert self.goes_on.wait(10)
        self._now -= 1
        return op


@pytest.fixture
def tree(monkeypatch: pytest.MonkeyPatch) -> SlowTree:
    monkeypatch.setattr("provisioning.probe.ops.Worker", lambda *_, **__: SlowTree())
    return SlowTree()


def test_requests_wait_for_each_other(tree: SlowTree) -> None:
    ops = Ops("root", ["probe"])
    ops._tree = tree  # type: ignore[assignment]
    table, answers = ops.table(), []
    threads = [
        threading.Thread(target=lambda op=op: answers.append(table[op](Params({}, 10.0))))
        for op in ("tree", "recent_tree", "find")
    ]
    for thread in threads:
        thread.start()
    assert tree.begun.wait(10)
    tree.goes_on.set()
    for thread in threads:
        thread.join(10)
    assert sorted(answers) == ["find", "recent_tree", "tree"]
    assert tree.most_at_once == 1


def test_a_request_that_waits_too_long_is_refused(tree: SlowTree) -> None:
    ops = Ops("root", ["probe"])
    ops._tree = tree  # type: ignore[assignment]
    table = ops.table()
    first = threading.Thread(target=lambda: table["tree"](Params({}, 10.0)))
    first.start()
    assert tree.begun.wait(10)
    with pytest.raises(ProbeError) as caught:
        table["find"](Params({}, 0.05))
    assert caught.value.kind == "busy"
    tree.goes_on.set()
    first.join(10)
