"""The review of a desktop, on data from a real Ubuntu 24.04, fresh and with an error dialog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from foundation.clock import FakeClock
from foundation.errors import DesktopFaultyError, LinkProtocolError, LinkTimeoutError
from foundation.process import CommandResult
from provisioning.protocols import Bounds, Element
from provisioning.reset.picture import clock_bounds
from provisioning.reset.windows import WindowState
from provisioning.review import reviewed
from provisioning.review.appearance import Appearance, read_appearance
from provisioning.review.desktop import (
    Review,
    describe_picture,
    find_interruptions,
    find_missing_icons,
    find_missing_windows,
    wait_until_complete,
)
from provisioning.review.reviewed import changed_ratio, read_reviewed, reviewed_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.protocols import Frame, Json

GOLDEN = Path(__file__).resolve().parents[3] / "golden/desktops"
IMAGE = "desktop:ubuntu-22.04"
Desktop = tuple[list[WindowState], list[Element]]


def read_recorded(name: str) -> Desktop:
    """Read the recorded data of a real desktop."""
    saved: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text())
    elements = [
        Element(
            row["role"],
            row["name"],
            Bounds(*row["bounds"]),
            frozenset(row["states"]),
            depth=row["depth"],
        )
        for row in saved["elements"]
    ]
    return [WindowState.model_validate(window) for window in saved["windows"]], elements


@pytest.fixture
def fresh() -> Desktop:
    return read_recorded("fresh")


def test_fresh_desktop_has_no_findings(fresh: Desktop) -> None:
    assert find_interruptions(*fresh) == ()
    assert find_missing_windows(*fresh) == ()


def test_error_dialog_is_found_as_a_window_and_in_the_tree() -> None:
    windows, elements = read_recorded("error-dialog")
    lines = find_interruptions(windows, elements)
    assert [line.partition(":")[0] for line in lines] == [
        "a dialog is open",
        "the accessibility tree has the alert 'Error'",
    ]
    assert find_interruptions([], elements) == lines[1:]
    assert find_interruptions(windows, []) == lines[:1]


@pytest.mark.parametrize(
    ("kind", "line"),
    [("dock", "windows missing: 0 of 2 panels"), ("desktop", "windows missing: 0 of 1 desktop")],
)
def test_missing_window_is_named(fresh: Desktop, kind: str, line: str) -> None:
    windows, elements = fresh
    left = [window for window in windows if window.kind != kind]
    assert find_missing_windows(left, elements) == (line,)


def test_panel_without_a_clock_is_a_failure(fresh: Desktop) -> None:
    windows, elements = fresh
    left = [element for element in elements if element.name or element.role != "toggle button"]
    assert len(left) < len(elements)
    assert find_missing_windows(windows, left) == ("the panel has no clock",)


def test_desktop_without_its_trash_is_a_warning(fresh: Desktop) -> None:
    """The recorded desktop booted on a host so busy that the trash service did not start in time."""
    _windows, elements = fresh
    assert find_missing_icons(elements) == ("the desktop has no Trash icon",)


class Rising:
    """`provisioning.protocols.Link` of a desktop whose tree is complete at the third request.

    Args:
        desktop: its final state.
        unseen: why its display cannot be read.
    """

    def __init__(self, desktop: Desktop, unseen: str = "") -> None:
        self._windows, self._elements = desktop
        self._unseen = unseen
        self.looks = 0

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 0.0
    ) -> Any:  # noqa: ANN401
        assert timeout_s > 10.0
        if op == "digest":
            windows = [] if self._unseen else [window.model_dump() for window in self._windows]
            return _digest(windows, self._unseen)
        self.looks += 1
        return [_row(element) for element in self._elements] if self.looks > 2 else []

    def close(self) -> None:
        pass


def _digest(windows: list[dict[str, Any]], unseen: str) -> dict[str, Any]:
    parts: dict[str, Any] = {"files": {}, "settings": {}, "processes": [], "selections": {}}
    return {**parts, "format": 3, "windows": windows, "unseen": unseen}


def _row(element: Element) -> dict[str, Any]:
    box = element.bounds
    return {
        "role": element.role,
        "name": element.name,
        "bounds": [box.left, box.top, box.right, box.bottom],
        "states": sorted(element.states),
        "depth": element.depth,
    }


def test_slow_desktop_is_polled_until_its_tree_is_complete(fresh: Desktop) -> None:
    windows, elements = fresh
    trash = Element("icon", "Trash", Bounds(0, 0, 9, 9), frozenset(), depth=1)
    clock = FakeClock(0.0)
    link = Rising((windows, [*elements, trash]))
    seen_windows, seen = wait_until_complete(link, clock)
    assert (find_missing_windows(seen_windows, seen), find_missing_icons(seen)) == ((), ())
    assert link.looks == 3
    assert 0 < clock.monotonic_s() < 30


def test_missing_element_is_waited_for_90_seconds_and_named(fresh: Desktop) -> None:
    clock = FakeClock(0.0)
    windows, elements = wait_until_complete(Rising(fresh), clock)
    assert find_missing_icons(elements) == ("the desktop has no Trash icon",)
    assert find_missing_windows(windows, elements) == ()
    assert clock.monotonic_s() == pytest.approx(90.0)


def test_unreadable_display_is_reported_instead_of_missing_windows(fresh: Desktop) -> None:
    link = Rising(fresh, unseen="the helper did not answer within 3 s")
    with pytest.raises(LinkTimeoutError, match="could not be read") as error:
        wait_until_complete(link, FakeClock(0.0))
    assert error.value.details == "the helper did not answer within 3 s"
    assert link.looks > 3


def blank() -> Frame:
    return np.zeros((800, 1280, 3), dtype=np.uint8)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reviewed pictures with a black one of Ubuntu 22.04."""
    monkeypatch.setattr(reviewed, "FOLDER", tmp_path)
    Image.fromarray(blank()).save(tmp_path / "desktop-ubuntu-22.04.png")
    return tmp_path


@pytest.mark.parametrize(("rows", "warns"), [(16, False), (17, True)])
def test_picture_may_differ_in_two_percent_of_its_pixels(
    folder: Path, fresh: Desktop, *, rows: int, warns: bool
) -> None:
    frame = blank()
    frame[400 : 400 + rows] = 255
    reviewed_picture = read_reviewed(IMAGE)
    assert reviewed_picture is not None
    bounds = clock_bounds(*fresh)
    lines = describe_picture(changed_ratio(reviewed_picture, frame, bounds), image=IMAGE)
    assert bool(lines) is warns
    if warns:
        assert lines == (
            f"the picture differs from the reviewed one of {IMAGE} in 2.1% of its pixels",
        )
    assert folder.is_dir()


def test_clocks_do_not_count() -> None:
    frame = blank()
    frame[:24, 1000:1200] = 255
    assert changed_ratio(blank(), frame) == pytest.approx(24 * 200 / (800 * 1280))
    assert changed_ratio(blank(), frame, [Bounds(1000, 0, 1200, 24)]) == 0


def test_other_size_is_another_picture() -> None:
    assert changed_ratio(blank(), blank()[:700]) == 1


def test_unreviewed_image_is_a_warning(folder: Path) -> None:
    lines = describe_picture(None, image="desktop:mine")
    assert lines == ("there is no reviewed picture of desktop:mine",)
    assert read_reviewed("desktop:mine") is None
    assert reviewed_path("desktop:ubuntu-22.04-cloud") == folder / "desktop-ubuntu-22.04.png"


def test_faulty_desktop_is_rejected_with_reason_and_picture(tmp_path: Path) -> None:
    picture = tmp_path / "refused/desktop-1.png"
    review = Review(("a dialog is open: dialog 'Panel'",), ("something moved",), blank())
    with pytest.raises(DesktopFaultyError, match="a dialog is open") as caught:
        review.require_faultless("desktop-1", picture)
    assert str(picture) in caught.value.details
    assert "something moved" in caught.value.details
    with Image.open(picture) as kept:
        assert kept.size == (1280, 800)


def test_warning_alone_rejects_nothing(tmp_path: Path) -> None:
    Review((), ("something moved",), blank()).require_faultless("desktop-1", tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


class OneReply:
    """`provisioning.protocols.Commands` of a guest whose Python has a fixed output."""

    def __init__(self, output: str, exit_code: int = 0, errors: str = "") -> None:
        self._result = CommandResult((), exit_code, output.encode(), errors.encode())
        self.argv: Sequence[str] = ()
        self.user: str | None = ""

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002 - as subprocess calls it
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        assert (timeout_s > 0, input, cwd, env) == (True, b"", None, None)
        self.argv, self.user = argv, user
        return self._result


def test_guest_toolkit_is_queried_as_the_session_user() -> None:
    guest = OneReply('{"missing_icons": [], "proportional_fonts": []}')
    assert read_appearance(guest).faults() == ()
    assert guest.user is None
    assert "STOCK_ICONS" in guest.argv[-1]
    compile(guest.argv[-1], "guest_look", "exec")


def test_unresponsive_guest_is_an_error() -> None:
    with pytest.raises(LinkProtocolError, match="could not be checked") as caught:
        read_appearance(OneReply("", 1, "no display"))
    assert "no display" in caught.value.details
    with pytest.raises(LinkProtocolError):
        read_appearance(OneReply("no JSON"))


def test_first_wrong_icons_and_fonts_are_named() -> None:
    icons = [f"icon-{number} at 16 px: not in the theme" for number in range(10)]
    appearance = Appearance(missing_icons=icons, proportional_fonts=["monospace 12 (DejaVu Sans)"])
    lines = appearance.faults()
    assert lines[0] == "icon icon-0 at 16 px: not in the theme"
    assert lines[-2:] == (
        "icons: 2 more do not resolve",
        "font not monospaced: monospace 12 (DejaVu Sans)",
    )
