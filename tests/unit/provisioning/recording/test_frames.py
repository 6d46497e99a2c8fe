from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioning.protocols import Bounds
from provisioning.recording.frames import changed_region


def test_equal_frames_have_no_changed_region() -> None:
    frame = np.full((20, 32, 3), 7, np.uint8)
    assert changed_region(frame, frame.copy()) is None


@pytest.mark.parametrize("width", [32, 33])
def test_one_channel_of_one_pixel_is_a_change(width: int) -> None:
    before = np.zeros((20, width, 3), np.uint8)
    after = before.copy()
    after[19, width - 1, 2] = 1
    assert changed_region(before, after) == Bounds(width - 1, 19, width, 20)


def test_screen_of_another_size_has_changed_completely() -> None:
    small, large = np.zeros((10, 10, 3), np.uint8), np.zeros((20, 30, 3), np.uint8)
    assert changed_region(small, large) == Bounds(0, 0, 30, 20)


def test_view_into_a_larger_frame_is_compared_too() -> None:
    large = np.zeros((40, 64, 3), np.uint8)
    before, after = large[::2, ::2], large.copy()[::2, ::2]
    after[3, 4] = 1
    assert changed_region(before, after) == Bounds(4, 3, 5, 4)


@given(
    width=st.integers(1, 40),
    height=st.integers(1, 40),
    seed=st.integers(0, 2**32),
    pixels=st.integers(0, 5),
)
def test_region_is_the_smallest_that_holds_every_difference(
    width: int, height: int, seed: int, pixels: int
) -> None:
    rng = np.random.default_rng(seed)
    before = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    after = before.copy()
    for _ in range(pixels):
        after[rng.integers(height), rng.integers(width), rng.integers(3)] ^= 1
    places = np.argwhere((before != after).any(axis=2))

    region = changed_region(before, after)

    if not places.size:
        assert region is None
    else:
        (top, left), (bottom, right) = places.min(axis=0), places.max(axis=0) + 1
        assert region == Bounds(left, top, right, bottom)
