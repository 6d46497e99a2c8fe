from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.graph.outcome import Verdict
from evaluators.model.oracle import WaitFor
from provisioning.fake.desktop import FakeDesktop
from tests.honest_ways.solution_driver import SolutionDriver, segments
from tests.unit.controller.bench import DARK, SET_DARK, Bench, make_task

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.model.task import Task

TYPED = {"on": "desktop", "do": "type_text", "with": {"text": f"{SET_DARK}\n"}}
IS_DARK = {"on": "desktop", "check": "gsetting_equals", "with": DARK}
OPENED = {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}}
THERE = {"on": "desktop", "check": "window_in_front", "with": {"app": "Gnome-terminal"}}


def task() -> Task:
    steps = [OPENED, {"wait_for": THERE}, TYPED, {"wait_for": IS_DARK, "seconds": 20}]
    limits = {"steps": 9, "seconds": 600.0}
    return make_task(oracle=[*steps, {"do": "complete"}], limits=limits)


def lose_texts(monkeypatch: pytest.MonkeyPatch, count: int) -> list[str]:
    """Let a desktop lose the first texts that are typed; return all that are."""
    typed: list[str] = []
    arrives = FakeDesktop.text

    def text(desktop: FakeDesktop, text: str) -> None:
        typed.append(text)
        if len(typed) > count:
            arrives(desktop, text)

    monkeypatch.setattr(FakeDesktop, "text", text)
    return typed


def test_segments_end_where_an_effect_is_awaited() -> None:
    pieces = segments(next(iter(task().solutions.values())))
    assert [len(piece) for piece in pieces] == [2, 2, 1]
    assert [isinstance(piece[-1], WaitFor) for piece in pieces] == [True, True, False]


@pytest.mark.parametrize("lost", [0, 1])
def test_segment_without_effect_is_repeated_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    typed, driver = lose_texts(monkeypatch, lost), SolutionDriver(tmp_path)
    result = Bench(tmp_path / "trials").drive(task(), driver)
    assert (result.verdict, len(typed), len(driver.reports)) == (Verdict.PASS, lost + 1, lost)


def test_segment_that_never_has_an_effect_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed, driver = lose_texts(monkeypatch, 9), SolutionDriver(tmp_path)
    result = Bench(tmp_path / "trials").drive(task(), driver)
    assert (result.verdict, len(typed)) == (Verdict.FAIL, 2)
    assert "gsetting_equals on desktop was not met" in result.detail
    assert [path.name for path in sorted(tmp_path.glob("*.png"))] == [
        "desktop-1.png",
        "desktop-2.png",
    ]
    for part in ("gsetting_equals", f"{tmp_path}/desktop-2.png", "Terminal", "$ ls -la"):
        assert part in driver.reports[1]


def test_lost_earlier_segment_is_repeated_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first text closes the window that it is typed into."""
    typed, driver = lose_texts(monkeypatch, 0), SolutionDriver(tmp_path)
    arrives = FakeDesktop.text

    def text(desktop: FakeDesktop, text: str) -> None:
        if not typed:
            desktop.state.apps.clear()
        arrives(desktop, text)

    monkeypatch.setattr(FakeDesktop, "text", text)
    opened: list[str] = []
    opens = FakeDesktop.open_app

    def open_app(desktop: FakeDesktop, name: str) -> None:
        opened.append(name)
        opens(desktop, name)

    monkeypatch.setattr(FakeDesktop, "open_app", open_app)
    result = Bench(tmp_path / "trials").drive(task(), driver)
    assert (result.verdict, opened, len(typed)) == (Verdict.PASS, ["Terminal"] * 2, 2)
