"""Files that a setup puts on the desktop have their icons before the agent looks."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from controller.actions.desktop_icons import wait_for_icons
from foundation.clock import FakeClock
from provisioning.protocols import Bounds, Element, Search

if TYPE_CHECKING:
    import pytest

    from provisioning.protocols import Machine


class Desktop:
    """A desktop that shows an icon some seconds after its start."""

    def __init__(self, shown_at_s: dict[str, float]) -> None:
        self.clock = FakeClock(0.0)
        self._shown_at_s = shown_at_s
        self.asked: list[str | None] = []
        self.info = SimpleNamespace(machine_id="desktop-1", home="/home/user")
        self.tree = self

    def search(self, *, name: str | None, role: str | None, count: int = 1) -> Search:
        self.asked.append(name)
        is_shown = self._shown_at_s.get(name or "", 1e9) <= self.clock.monotonic_s()
        return Search([Element("icon", name or "", Bounds(0, 0, 9, 9))] if is_shown else [])

    def wait(self, *paths: str) -> float:
        wait_for_icons(cast("Machine", self), paths, self.clock)
        return self.clock.monotonic_s()


def test_icons_are_awaited_together() -> None:
    desktop = Desktop({"a.txt": 1.0, "b.txt": 3.0})
    assert 3 <= desktop.wait("/home/user/Desktop/a.txt", "/home/user/Desktop/b.txt") < 4


def test_files_elsewhere_and_hidden_ones_have_no_icons() -> None:
    desktop = Desktop({})
    desktop.wait("/home/user/a.txt", "/home/user/Desktop/x/y.txt", "/home/user/Desktop/.hidden")
    assert desktop.asked == []


def test_missing_icon_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert Desktop({}).wait("/home/user/Desktop/a.txt") >= 20
    assert "the desktop shows no icon of a.txt" in caplog.text
