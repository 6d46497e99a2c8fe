from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from foundation.clock import FakeClock
from provisioning.protocols import Bounds, Element
from provisioning.reset.picture import (
    TOLERANCE_LEVELS,
    TOLERANCE_PX,
    Picture,
    clock_bounds,
    watch,
)
from tests.standins.states import a_frame, a_picture, a_window

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from provisioning.protocols import Frame

PANEL = a_window("Panel", kind="dock", geometry=[0, 0, 1280, 24])


class Show:
    """A screen that draws a new frame for each capture."""

    def __init__(self, draw: Callable[[int], Frame]) -> None:
        self._draw = draw
        self._looks = 0

    def capture(self) -> Frame:
        self._looks += 1
        return self._draw(self._looks)

    def size(self) -> tuple[int, int]:
        height, width, _ = self._draw(0).shape
        return width, height


def painted(box: Bounds, value: int = 255) -> Frame:
    frame = a_frame()
    frame[box.top : box.bottom, box.left : box.right] = value
    return frame


def test_same_picture_has_no_differences() -> None:
    assert a_picture().differences(a_frame()) == ()


def test_region_is_described_in_pixels() -> None:
    frame = painted(Bounds(30, 20, 50, 31))
    assert a_picture().differences(frame) == ("screen: 220 px differ within x 30-49, y 20-30",)


def test_separate_regions_are_listed_largest_first() -> None:
    frame = painted(Bounds(0, 0, 5, 5))
    frame[70:80, 90:100] = 255
    assert a_picture().differences(frame) == (
        "screen: 100 px differ within x 90-99, y 70-79",
        "screen: 25 px differ within x 0-4, y 0-4",
    )


def test_masked_pixels_are_not_compared() -> None:
    picture = a_picture()
    mask = np.ones_like(picture.mask)
    mask[20:31, 30:50] = False
    masked = picture.without(mask)
    assert masked.differences(painted(Bounds(30, 20, 50, 31))) == ()
    assert masked.differences(painted(Bounds(30, 20, 53, 31))) == (
        "screen: 33 px differ within x 50-52, y 20-30",
    )
    assert masked.masked_ratio == pytest.approx(220 / 8000)


def test_few_pixels_and_slight_colour_changes_are_tolerated() -> None:
    picture, dot = a_picture(), a_frame()
    dot[0, :TOLERANCE_PX] = 255
    assert picture.differences(dot) == ()
    dot[0, TOLERANCE_PX] = 255
    assert len(picture.differences(dot)) == 1
    frame = np.full((80, 100, 3), 100, dtype=np.uint8)
    grey = Picture(frame, picture.mask)
    for sign in (-1, 1):
        assert grey.differences(np.full_like(frame, 100 + sign * TOLERANCE_LEVELS)) == ()
        off = frame.copy()
        off[..., 1] = 100 + sign * (TOLERANCE_LEVELS + 1)
        assert grey.differences(off) == ("screen: 8000 px differ within x 0-99, y 0-79",)


def test_screen_of_another_size_differs() -> None:
    assert a_picture().differences(a_frame(90, 100)) == ("screen: 100x80 -> 100x90 px",)


def test_written_picture_is_read_back(tmp_path: Path) -> None:
    mask = np.zeros((80, 100), dtype=np.bool_)
    mask[3, 4] = True
    a_picture().without(mask).write(tmp_path / "one.npy")
    picture = Picture.read(tmp_path / "one.npy")
    assert np.array_equal(picture.frame, a_frame())
    assert np.array_equal(picture.mask, mask)
    assert [path.name for path in tmp_path.iterdir()] == ["one.npy"]


def test_invalid_arrays_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "one.npy"
    with path.open("wb") as file:
        np.save(file, np.zeros((4, 5, 3)))
        np.save(file, np.zeros((4, 5), dtype=np.bool_))
    with pytest.raises(ValueError, match="not a valid picture: float64"):
        Picture.read(path)


def test_moving_regions_are_masked() -> None:
    cursor = Bounds(40, 40, 42, 56)
    screen = Show(lambda look: painted(cursor, 0) if look % 2 else a_frame())
    picture = watch(screen, left_out=[Bounds(90, -5, 200, 3)], clock=FakeClock())
    assert not picture.mask[40:56, 40:42].any()
    assert not picture.mask[:3, 90:].any()
    assert np.count_nonzero(~picture.mask) == 16 * 2 + 3 * 10
    assert picture.differences(a_frame()) == ()


def test_screen_that_changes_its_size_is_masked_completely() -> None:
    screen = Show(lambda look: a_frame(80 + look, 100))
    assert watch(screen, clock=FakeClock()).masked_ratio == 1


def clock_of(role: str, name: str, box: Bounds) -> list[Bounds]:
    others = [
        Element("menu", "Applications", Bounds(0, 0, 121, 24)),
        Element("toggle button", "", Bounds(300, 300, 400, 320)),
        Element("document", "at 10:30", Bounds(0, 24, 1280, 800)),
    ]
    return clock_bounds([PANEL, a_window()], [*others, Element(role, name, box)])


@pytest.mark.parametrize(
    ("role", "name"), [("toggle button", ""), ("label", "Nov 21  19:35"), ("menu", "9.05 Sat")]
)
def test_panel_clock_is_found_and_gets_room_to_grow(role: str, name: str) -> None:
    assert clock_of(role, name, Bounds(1105, 0, 1203, 24)) == [Bounds(1056, 0, 1252, 24)]
    assert clock_of(role, name, Bounds(1230, 2, 1280, 20)) == [Bounds(1205, 0, 1280, 24)]


def test_panels_without_a_known_clock_are_masked_completely() -> None:
    assert clock_of("label", "Saturday", Bounds(1105, 0, 1203, 24)) == [Bounds(0, 0, 1280, 24)]
    assert clock_bounds([a_window()], []) == []
