from __future__ import annotations

import io

import pytest
from PIL import Image

from controller.models.pictures.sizing import (
    Bounded,
    Scaled,
    Size,
    Sizer,
    SmartResize,
    resize_png,
)

DESKTOP, LARGE, PHONE = Size(1280, 800), Size(2560, 1440), Size(1080, 2400)
QWEN25 = SmartResize(28, 100 * 28 * 28, 16384 * 28 * 28)
QWEN3 = SmartResize(32, 64 * 32 * 32, 16384 * 32 * 32)
SHOWUI = SmartResize(28, 256 * 28 * 28, 1344 * 28 * 28)


@pytest.mark.parametrize(
    ("sizer", "screen", "size"),
    [
        (Scaled(), DESKTOP, (1280, 800)),
        (Scaled(0.5), PHONE, (540, 1200)),
        # 1280 / 28 = 45.7 -> 46, 800 / 28 = 28.57 -> 29
        (QWEN25, DESKTOP, (1288, 812)),
        # 1080 / 28 = 38.57 -> 39, 2400 / 28 = 85.7 -> 86
        (QWEN25, PHONE, (1092, 2408)),
        # 2560 / 32 = 80, 1440 / 32 = 45
        (QWEN3, LARGE, (2560, 1440)),
        # 1344 tiles of 28 px: 1053696 px; sqrt(1280 * 800 / 1053696) < 1 is not shrunk: 1288 * 812 is
        # 1045856 px, within the limit
        (SHOWUI, DESKTOP, (1288, 812)),
        # 2592000 px are too many: divided by 1.5684, 688.6 and 1530.2, floored to 24 and 54 tiles
        (SHOWUI, PHONE, (672, 1512)),
        # 100 x 100 px are too few: times 2.8 is 280, 10 tiles
        (QWEN25, Size(100, 100), (280, 280)),
        # Anthropic before Opus 4.7: 1568 px; 1280 x 800 fits, 2560 is divided by 1.6327
        (Bounded(1568, 1_150_000), DESKTOP, (1280, 800)),
        # 1568 x 882 are 1382976 px, still too many: sqrt(1150000 / 3686400) = 0.55853
        (Bounded(1568, 1_150_000), LARGE, (1429, 804)),
        # 2576 px at most, and 4784 tiles of 28 px: 92 x 52 tiles are just 4784
        (Bounded(2576, tile_px=28, max_tiles=4784), LARGE, (2560, 1440)),
        (Bounded(2576, tile_px=28, max_tiles=4784), Size(3840, 2160), (2576, 1449)),
        # 69 x 69 tiles are 4761, 70 x 70 too many
        (Bounded(2576, tile_px=28, max_tiles=4784), Size(3000, 3000), (1932, 1932)),
    ],
)
def test_sizes_are_those_computed_by_hand(
    sizer: Sizer, screen: Size, size: tuple[int, int]
) -> None:
    assert sizer.size(screen) == size


@pytest.mark.parametrize("sizer", [QWEN25, QWEN3, SHOWUI])
@pytest.mark.parametrize("screen", [DESKTOP, LARGE, PHONE, Size(1, 1), Size(7680, 4320)])
def test_server_keeps_a_size_that_was_smart_resized(sizer: SmartResize, screen: Size) -> None:
    size = sizer.size(screen)
    assert sizer.size(size) == size
    assert all(side % sizer.factor == 0 for side in size)


def test_picture_is_resized_only_if_its_size_differs() -> None:
    out = io.BytesIO()
    Image.new("RGB", (40, 20), "red").save(out, "PNG")
    assert resize_png(out.getvalue(), Size(40, 20)) == out.getvalue()
    smaller = Image.open(io.BytesIO(resize_png(out.getvalue(), Size(20, 10))))
    assert (smaller.size, smaller.getpixel((5, 5))) == ((20, 10), (255, 0, 0))
