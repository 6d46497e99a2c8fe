from __future__ import annotations

import numpy as np
import pytest

from appliance.base.errors import MachineError
from provisioning.desktop.qemu.screen import parse_ppm


def test_a_picture_is_rows_of_rgb_from_the_top_left() -> None:
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)

    frame = parse_ppm(b"P6\n3 2\n255\n" + pixels.tobytes())

    assert frame.dtype == np.uint8
    assert np.array_equal(frame, pixels)


def test_pixels_that_look_like_white_space_are_pixels() -> None:
    assert parse_ppm(b"P6\n1 1\n255\n\n \t").tolist() == [[[10, 32, 9]]]


@pytest.mark.parametrize(
    "data",
    [b"", b"P5\n1 1\n255\n\0", b"P6\n2 2\n255\n" + bytes(11), b"P6\n1 1\n65535\n" + bytes(6)],
    ids=["empty", "grey", "short", "16 bit"],
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(MachineError):
        parse_ppm(data)
