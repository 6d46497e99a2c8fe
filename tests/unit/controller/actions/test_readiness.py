"""A trial begins when its document is on the screen, not when a window is."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from controller.actions.readiness import Expected, Readiness
from foundation.clock import FakeClock
from foundation.errors import ActionError, GuestCallError
from foundation.process import CommandResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Machine

PATH = "/home/user/prices.ods"
FILE = Expected("~/prices.ods", PATH)
BLANK: list[dict[str, Any]] = []


def document(name: str = "prices.ods", **fields: object) -> list[dict[str, Any]]:
    return [{"role": "document", "name": name, "url": "", "busy": False, "content": 5, **fields}]


@dataclass(frozen=True)
class Moment:
    """What a desktop shows and does from a moment on."""

    at_s: float
    title: str = ""
    picture: int = 0
    cpu_share: float = 0.0
    documents: list[dict[str, Any]] = field(default_factory=list)
    is_splash: bool = False


class Desktop:
    """A desktop that follows a plot; an animated one shows another picture each time."""

    def __init__(self, *plot: Moment, animated_from_s: float = 1e9) -> None:
        self.clock = FakeClock(0.0)
        self._plot = (Moment(0.0), *plot)
        self._animated_from_s = animated_from_s
        self.info = SimpleNamespace(machine_id="desktop-1")
        self.link = SimpleNamespace(call=self.call)
        self.screen = SimpleNamespace(capture=self.capture)

    @property
    def now(self) -> Moment:
        return [moment for moment in self._plot if moment.at_s <= self.clock.monotonic_s()][-1]

    def capture(self) -> Any:  # noqa: ANN401
        picture = self.now.picture
        if self.clock.monotonic_s() >= self._animated_from_s:
            picture = int(self.clock.monotonic_s() * 100) % 200 + 50
        return np.full((10, 10, 3), picture, np.uint8)

    def call(self, op: str, params: dict[str, Any], *, timeout_s: float) -> object:
        if op == "windows":
            rows = [{"id": 1, "title": "Desktop", "pid": 1}]
            return rows + [{"id": 2, "title": self.now.title, "pid": 7}] * bool(self.now.title)
        assert params == {"pids": [7]}
        if op == "activity":
            return {"cpu_s": self._cpu_s(), "clock_s": self.clock.monotonic_s()}
        assert op == "documents"
        self.clock.advance(1.0)
        return {"documents": self.now.documents, "is_complete": True}

    def _cpu_s(self) -> float:
        now_s, total_s = self.clock.monotonic_s(), 0.0
        ends = [moment.at_s for moment in self._plot[1:]] + [now_s]
        for moment, end_s in zip(self._plot, ends, strict=True):
            total_s += moment.cpu_share * max(0.0, min(end_s, now_s) - moment.at_s)
        return total_s

    def run(self, argv: Sequence[str], *, timeout_s: float) -> CommandResult:
        kind = b"SPLASH" if self.now.is_splash else b"NORMAL"
        return CommandResult(tuple(argv), 0, b"_NET_WM_WINDOW_TYPE_" + kind, b"")


def waited_s(desktop: Desktop, expected: Expected = FILE, limit_s: float = 120.0) -> float:
    machine = cast("Machine", desktop)
    Readiness(machine, expected, desktop.clock, lambda: 1.0).wait(limit_s)
    return desktop.clock.monotonic_s()


def test_office_document_is_awaited_past_splash_blank_frame_and_title() -> None:
    # Measured on an emulated desktop: LibreOffice Writer with a .docx.
    desktop = Desktop(
        Moment(4, "LibreOffice 7.3", 10, 0.9, is_splash=True),
        Moment(19, "prices.ods - LibreOffice Calc", 20, 0.9),
        Moment(35, "prices.ods - LibreOffice Calc", 30, 1.0, document()),
        Moment(45, "prices.ods - LibreOffice Calc", 40, 0.0, document()),
    )
    assert 46 <= waited_s(desktop) < 51


def test_blank_page_with_the_right_title_is_not_the_document() -> None:
    empty = document(content=0)
    desktop = Desktop(
        Moment(2, "prices.ods", 20, 0.0, empty), Moment(6, "prices.ods", 30, 0.0, document())
    )
    assert waited_s(desktop) >= 7


def test_page_of_another_address_is_not_the_document() -> None:
    new_tab, page = document("New Tab", url="about:newtab"), document("P", url="file://" + PATH)
    desktop = Desktop(Moment(2, "New Tab", 20, 0.0, new_tab), Moment(40, "P", 30, 0.0, page))
    assert 41 <= waited_s(desktop) < 45
    with pytest.raises(ActionError, match=r"~/prices.ods was not shown within 30 s: its program shows 'about:newtab'"):  # fmt: skip
        waited_s(Desktop(Moment(2, "New Tab", 20, 0.0, new_tab)), limit_s=30)


def test_page_that_is_being_loaded_is_not_ready() -> None:
    desktop = Desktop(
        Moment(2, "prices.ods", 20, 0.0, document(busy=True)),
        Moment(30, "prices.ods", 30, 0.0, document()),
    )
    assert 31 <= waited_s(desktop) < 35


def test_document_without_content_is_accepted_after_a_longer_rest() -> None:
    desktop = Desktop(Moment(2, "prices.ods", 20, 0.0, document(content=0)))
    assert 8 <= waited_s(desktop) < 15


def test_program_without_documents_must_rest_longer() -> None:
    assert 8 <= waited_s(Desktop(Moment(2, "GIMP", 20, 0.0, BLANK)), Expected("gimp")) < 15


def test_program_that_works_in_the_background_is_ready_once_its_document_is_still() -> None:
    assert 22 <= waited_s(Desktop(Moment(2, "prices.ods", 20, 1.5, document()))) < 30


def test_animated_document_is_accepted_in_the_end() -> None:
    desktop = Desktop(Moment(2, "prices.ods", 20, 1.5, document()), animated_from_s=7)
    assert 47 <= waited_s(desktop) < 60


def test_program_that_is_always_busy_between_slow_reads_is_not_idle() -> None:
    # Each poll takes longer than the pause between two reads, as on a busy host.
    desktop = Desktop(
        Moment(2, "prices.ods", 20, 0.9, BLANK), Moment(60, "prices.ods", 30, 0.0, document())
    )
    call = desktop.link.call

    def slow(op: str, params: dict[str, Any], *, timeout_s: float) -> object:
        desktop.clock.advance(5.0 if op == "documents" else 1.5)
        return call(op, params, timeout_s=timeout_s)

    desktop.link.call = slow
    assert waited_s(desktop) > 60


def test_window_of_before_counts_once_it_shows_another_title() -> None:
    desktop = Desktop(
        Moment(3, "Start page", 20, 0.0), Moment(20, "prices.ods", 30, 0.0, document())
    )
    desktop.clock.advance(5)
    assert 21 <= waited_s(desktop) < 26


def test_silent_program_is_asked_again() -> None:
    desktop = Desktop(Moment(2, "prices.ods", 20, 0.0, document()))
    call = desktop.link.call
    refused: list[str] = []

    def answer(op: str, params: dict[str, Any], *, timeout_s: float) -> object:
        if op == "documents" and not refused:
            refused.append(op)
            raise GuestCallError("late")
        return call(op, params, timeout_s=timeout_s)

    desktop.link.call = answer
    assert waited_s(desktop) < 10
    assert refused


def test_missing_window_names_the_document_and_what_was_missing() -> None:
    with pytest.raises(ActionError, match=r"~/prices.ods .* within 5 s: no window of it appeared"):
        waited_s(Desktop(), limit_s=5)


def test_busy_host_stretches_the_limit() -> None:
    desktop = Desktop(Moment(30, "prices.ods", 20, 0.0, document()))
    Readiness(cast("Machine", desktop), FILE, desktop.clock, lambda: 4.0).wait(10)
    assert desktop.clock.monotonic_s() < 40
