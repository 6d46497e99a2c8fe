"""A desktop that does not show new files is not saved."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from foundation.clock import FakeClock
from provisioning.review.icons import find_frozen_icons

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.protocols import Machine

ROW = {"role": "push button", "bounds": [0, 0, 9, 9], "states": [], "depth": 4}


class Desktop:
    """A desktop that watches its folder from a moment on, and perhaps never again."""

    def __init__(self, watches_from_s: float, *, removes: bool = True) -> None:
        self.clock = FakeClock(0.0)
        self.info = SimpleNamespace(home="/home/user")
        self.link = self.files = self
        self._from_s = watches_from_s
        self._removes = removes
        self._is_there = self._is_shown = False

    def put(self, path: str, data: bytes) -> None:
        self._is_there = True
        assert path == "/home/user/Desktop/new file.txt"

    def run(self, argv: Sequence[str], *, timeout_s: float) -> None:
        self._is_there = False
        assert list(argv) == ["rm", "-f", "/home/user/Desktop/new file.txt"]

    def call(self, op: str, params: Mapping[str, Any], *, timeout_s: float) -> object:
        assert op == "find"
        if self.clock.monotonic_s() >= self._from_s and (self._is_there or self._removes):
            self._is_shown = self._is_there
        nodes = [{**ROW, "name": params["name"]}] if self._is_shown else []
        return {"nodes": nodes, "cut": ""}


@pytest.mark.parametrize(
    ("watches_from_s", "removes", "is_frozen"),
    [(0.0, True, False), (30.0, True, False), (1e9, True, True), (0.0, False, True)],
)
def test_desktop_must_show_and_remove_the_icon_of_a_file(
    watches_from_s: float, *, removes: bool, is_frozen: bool
) -> None:
    desktop = Desktop(watches_from_s, removes=removes)
    faults = find_frozen_icons(cast("Machine", desktop), clock=desktop.clock)
    assert bool(faults) == is_frozen
