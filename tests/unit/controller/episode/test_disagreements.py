from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from controller.actions.space import Action
from controller.episode.disagreements import Disagreement, ScreenWatch, visits_unseen
from foundation.clock import FakeClock
from foundation.errors import LinkTimeoutError
from provisioning.desktop.qemu.screen import VmScreen
from provisioning.links.guest_io import LinkScreen
from provisioning.protocols import OutsideScreen
from tests.unit.controller.bench import Bench, Scripted, make_task
from tests.unit.controller.episode.test_trial import desktop_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.protocols import Frame, Json, Link, Screen

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
DESKTOP = (1, "Desktop", (0, 0, 320, 200))
EDITOR = (2, "Editor", (40, 30, 100, 80))


@dataclass
class Desk:
    """A machine: the guest's windows, bottom to top, the last one active; and its screenshot."""

    windows: list[tuple[int, str, tuple[int, int, int, int]]] = field(
        default_factory=lambda: [DESKTOP]
    )
    picture: Frame = field(default_factory=lambda: wallpaper())  # noqa: PLW0108 - defined below
    error: Exception | None = None
    captured_by: str = "QEMU"

    @property
    def screen(self) -> Screen:
        return cast("Screen", self)

    @property
    def link(self) -> Link:
        return cast("Link", self)

    def capture(self) -> Frame:
        return self.picture

    def call(self, op: str, _params: Mapping[str, Json], *, timeout_s: float) -> Any:  # noqa: ANN401
        assert (op, timeout_s) == ("windows", 5.0)
        if self.error:
            raise self.error
        return [
            {"id": id_, "title": title, "geometry": [*geometry], "active": number == len(self.windows)}
            for number, (id_, title, geometry) in enumerate(self.windows, 1)
        ]  # fmt: skip


def wallpaper() -> Frame:
    rows, columns = np.mgrid[0:200, 0:320]
    return np.stack([rows, columns % 251, (rows + columns) % 251], axis=2).astype(np.uint8)


def drawn(*, left: int = 40, top: int = 30, width: int = 100, height: int = 80) -> Frame:
    picture = wallpaper()
    picture[top : top + height, left : left + width] = (250, 250, 245)
    return picture


def disagreements_of(before: Desk, **after: object) -> list[tuple[str, str]]:
    clock = FakeClock()
    start_s = clock.monotonic_s()
    watch = ScreenWatch({"desktop": before}, clock)
    watch.begin()
    for name, value in after.items():
        setattr(before, name, value)
    disagreements = watch.disagreements()
    assert (clock.monotonic_s() > start_s) is bool(disagreements)
    return [(row.guest, row.appliance) for row in disagreements]


EDITOR_TOLD = "the window 'Editor' is in front, 100x80 px at 40,30"
NOT_DRAWN = [
    (EDITOR_TOLD, "QEMU's screenshot shows no change there since before the window existed")
]


def test_undrawn_window_is_a_disagreement() -> None:
    assert disagreements_of(Desk(), windows=[DESKTOP, EDITOR]) == NOT_DRAWN
    pixel = wallpaper()
    pixel[60, 60] ^= 128
    assert disagreements_of(Desk(), windows=[DESKTOP, EDITOR], picture=pixel) == NOT_DRAWN


def test_window_on_a_dark_screen_is_a_disagreement() -> None:
    dark = np.zeros((200, 320, 3), np.uint8)
    assert disagreements_of(Desk([DESKTOP, EDITOR], drawn()), picture=dark) == [
        (EDITOR_TOLD, "QEMU's screenshot of the whole screen has a single colour")
    ]
    speck = dark.copy()
    speck[3, 5] = 9
    assert disagreements_of(Desk([DESKTOP, EDITOR], drawn()), picture=speck) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(Desk(), {"windows": [DESKTOP, EDITOR], "picture": drawn()}, id="drawn"),
        pytest.param(Desk(), {}, id="nothing happened"),
        pytest.param(Desk(), {"windows": []}, id="no window"),
        pytest.param(Desk([DESKTOP, EDITOR]), {}, id="there from the start"),
        pytest.param(
            Desk([DESKTOP, EDITOR]), {"windows": [DESKTOP, (9, "New", EDITOR[2])]}, id="opened again"
        ),
        pytest.param(Desk(), {"windows": [DESKTOP, (2, "Small", (9, 9, 31, 31))]}, id="tiny"),
        pytest.param(Desk(), {"windows": [DESKTOP, (2, "Away", (400, 9, 99, 99))]}, id="elsewhere"),
        pytest.param(Desk(), {"windows": [(2, "Away", (-99, -99, 99, 99))]}, id="above and left"),
        pytest.param(
            Desk(),
            {"windows": [(2, "All", (0, 0, 320, 200))], "picture": np.zeros((200, 320, 3), np.uint8)},
            id="a dark window over all of it",
        ),
        pytest.param(
            Desk(), {"windows": [DESKTOP, EDITOR], "picture": wallpaper()[:100]}, id="another size"
        ),
    ],
)  # fmt: skip
def test_plausible_states_are_no_disagreement(before: Desk, after: Mapping[str, object]) -> None:
    assert disagreements_of(before, **after) == []


def test_window_covered_by_others_is_no_disagreement() -> None:
    class Covered(Desk):
        def call(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            rows = super().call(*args, **options)
            return [{**row, "active": row["id"] == EDITOR[0]} for row in rows]

    cover = (3, "Cover", (40, 30, 100, 79))
    assert disagreements_of(Covered(), windows=[DESKTOP, EDITOR, cover]) == []
    assert (
        disagreements_of(Covered(), windows=[DESKTOP, EDITOR, (3, "Cover", (40, 30, 50, 80))])
        == NOT_DRAWN
    )


def test_window_drawn_late_is_no_disagreement() -> None:
    desk = Desk()

    class Slow(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            desk.picture = drawn()

    watch = ScreenWatch({"desktop": desk}, Slow())
    watch.begin()
    desk.windows.append(EDITOR)
    assert watch.disagreements() == ()


@pytest.mark.parametrize("when", ["before", "after"])
def test_unresponsive_guest_is_no_disagreement(when: str) -> None:
    silent = LinkTimeoutError("no reply")
    before = Desk(error=silent if when == "before" else None)
    assert (
        disagreements_of(before, windows=[EDITOR], error=silent if when == "after" else None) == []
    )
    assert disagreements_of(Desk(), windows=[("x", "no number", (0, 0, 99, 99))]) == []


def test_only_pictures_taken_outside_are_evidence() -> None:
    outside = VmScreen(cast("Hypervisor", None), "vm", Path())
    assert isinstance(outside, OutsideScreen)
    assert outside.captured_by == "QEMU"
    assert not isinstance(LinkScreen(cast("Link", None)), OutsideScreen)


def test_disagreement_is_in_result_and_log_of_the_trial(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    still = wallpaper()
    honest = bench.run(make_task(), Scripted(OPEN))
    desktop = desktop_of(bench)
    monkeypatch.setattr(desktop, "captured_by", "QEMU", raising=False)
    shown = bench.run(make_task(), Scripted(OPEN))
    monkeypatch.setattr(desktop, "capture", lambda: still)
    hidden = bench.run(make_task(), Scripted(OPEN))
    assert (honest.disagreements, shown.disagreements) == ((), ())
    assert [row.appliance for row in hidden.disagreements] == [NOT_DRAWN[0][1]]
    assert bench.events[-1]["result"]["disagreements"][0]["role"] == "desktop"


def visit(check: str = "firefox_visited", url: str = "https://shop.test/cart") -> dict[str, object]:
    return {"id": "seen", "on": "desktop", "check": check, "with": {"url": url}}


ASKED = {"desktop": [{"host": "shop.test", "port": 443, "is_allowed": True}]}
REFUSED = {"desktop": [{"host": "shop.test", "port": 443, "is_allowed": False}]}
ABROAD = {"host": "xn--mnchen-3ya.test", "port": 443, "is_allowed": True}
FULL = {"desktop": [{"host": "news.test", "port": 443, "is_allowed": True}] * 1000}


@pytest.mark.parametrize(
    ("node", "asked", "is_unseen"),
    [
        (visit(), {"desktop": []}, True),
        (visit("firefox_tab_open"), REFUSED, True),
        (visit(), ASKED, False),
        (visit(), FULL, False),
        (visit(), {}, False),
        (visit("firefox_bookmarked"), {"desktop": []}, False),
        (visit(url="http://localhost:8080/"), {"desktop": []}, False),
        (visit(url="http://127.0.0.1/"), {"desktop": []}, False),
        (visit(url="about:config"), {"desktop": []}, False),
        (visit(url="//shop.test"), {"desktop": []}, False),
        (visit(url="https://M\u00fcnchen.test/"), {"desktop": [ABROAD]}, False),
    ],
)
def test_visits_are_compared_with_the_proxy_log(
    node: dict[str, object], asked: dict[str, list[dict[str, object]]], *, is_unseen: bool
) -> None:
    task = make_task(graph=[node])
    disagreements = visits_unseen(task, {"seen"}, asked)
    assert bool(disagreements) is is_unseen
    assert visits_unseen(task, set(), asked) == ()
    if disagreements:
        assert disagreements == (
            Disagreement(
                "desktop",
                f"{node['check']}: a page of shop.test",
                "the egress proxy forwarded no request for shop.test",
            ),
        )
