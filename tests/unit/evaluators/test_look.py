"""Tests of the comparison of pages by their worst tile."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from evaluators.look import SAME_LOOK, worst_tile

SIZE = (816, 1056)


def page(text: str, *, left: float = 100, color: str = "black") -> np.ndarray:
    picture = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=11)
    for number in range(60):
        draw.text((100, 40 + 16 * number), "The quick brown fox jumps over the dog.", "black", font)
    draw.text((left, 1020), text, color, font)
    return np.array(picture)


BASE = page("Total: 928.50")


def test_equal_pages_do_not_differ() -> None:
    assert worst_tile(BASE, BASE.copy()).difference == 0


@pytest.mark.parametrize("other", ["923.50", "928.60", "928.58"])
def test_one_digit_is_a_difference_in_its_place(other: str) -> None:
    tile = worst_tile(BASE, page(f"Total: {other}"))
    assert tile.difference > SAME_LOOK
    assert 1010 <= tile.top_px <= 1040
    assert 100 <= tile.left_px <= 200


def test_what_is_a_pixel_off_is_no_difference_but_two_are() -> None:
    assert worst_tile(BASE, page("Total: 928.50", left=101)).difference <= SAME_LOOK
    assert worst_tile(BASE, page("Total: 928.50", left=103)).difference > SAME_LOOK


def test_colours_of_the_same_brightness_differ() -> None:
    red, green = (np.full((64, 64, 3), color, np.uint8) for color in ((118, 0, 0), (0, 60, 0)))
    assert worst_tile(red, green).difference > SAME_LOOK


@pytest.mark.slow
def test_a_paler_page_is_a_difference() -> None:
    tinted = np.minimum(BASE, 235)
    # More than 20 of 255 where the ink is pale, such as at the edges of letters.
    assert 20 / 255 - 0.02 <= worst_tile(BASE, tinted).difference <= 0.2


def test_differences_are_relative_to_pale_ink() -> None:
    page, other = (np.full((32, 32, 3), 255, np.uint8) for _ in range(2))
    page[12:20, 12:14] = 216
    other[12:20, 17:19] = 216
    dark = [np.where(one < 255, 0, 255).astype(np.uint8) for one in (page, other)]
    pale = worst_tile(page, other).difference
    assert pale == pytest.approx(worst_tile(*dark).difference, abs=0.02)
    assert pale > SAME_LOOK


def test_pages_of_other_sizes_differ_unless_by_a_pixel() -> None:
    assert worst_tile(BASE, BASE[:-1, :-1]).difference == 0
    assert worst_tile(BASE, BASE[:-2]).difference == 1


@pytest.mark.parametrize("corner", [(0, 0), (1055, 815), (1055, 0), (500, 811)])
def test_a_spot_at_any_place_is_found(corner: tuple[int, int]) -> None:
    spotted = BASE.copy()
    top, left = min(corner[0], 1052), min(corner[1], 812)
    spotted[top : top + 4, left : left + 4] = (0, 0, 255)
    assert worst_tile(BASE, spotted).difference > SAME_LOOK
