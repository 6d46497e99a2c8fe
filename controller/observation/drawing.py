"""Draws marks and the place of the last click on a screenshot."""

from __future__ import annotations

import colorsys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from controller.observation.marks import Mark
    from provisioning.protocols import Bounds

    Frame = npt.NDArray[np.uint8]

_HUE_STEP = 0.381966
"""Neighbouring numbers get hues that are far apart: the golden section of the circle."""
_FONT_PX = 12
_LARGE_FONT_PX = 26
_LARGE_SCREEN_PX = 1600
_LONG_RATIO = 6
"""A box is long if so many labels fit in it."""
_CLICK_COLOR = (255, 0, 80)
_CLICK_RADIUS_PX = 14


def draw_marks(frame: Frame, marks: Sequence[Mark]) -> Frame:
    """Return a copy of a screenshot with a numbered box around each mark.

    Args:
        frame: uint8 array (H, W, 3), RGB.
        marks: the marks.
    """
    image = Image.fromarray(frame)
    canvas = ImageDraw.Draw(image)
    height, width = frame.shape[:2]
    is_large = max(width, height) > _LARGE_SCREEN_PX
    font, line_px = _font(_LARGE_FONT_PX if is_large else _FONT_PX), 3 if is_large else 1
    for mark in marks:
        box, color = mark.box_px, _color(mark.id)
        canvas.rectangle(_inside(box), outline=color, width=line_px)
    for mark in marks:
        _label(canvas, mark, font, (width, height))
    return np.asarray(image)


def _label(canvas: ImageDraw.ImageDraw, mark: Mark, font: Any, size_px: tuple[int, int]) -> None:  # noqa: ANN401 - Pillow has two classes of fonts
    """Draw a number above a small box, at the right end of a long one, else in the upper left corner.

    The left end of a long box usually has an icon, or a mark that tells whether it is checked.
    """
    text, box = str(mark.id), mark.box_px
    left, top, right, bottom = canvas.textbbox((0, 0), text, font=font)
    width, height = int(right - left) + 3, int(bottom - top) + 3
    is_small = width > (box.right - box.left) // 2 or height > (box.bottom - box.top) * 2 // 3
    y = box.top - height if is_small and box.top >= height else box.top
    is_long = box.right - box.left >= _LONG_RATIO * width
    x = max(0, min(box.right - width if is_long else box.left, size_px[0] - width))
    color = _color(mark.id)
    canvas.rectangle((x, y, x + width - 1, y + height - 1), fill=color)
    ink = (0, 0, 0) if sum(color) > 380 else (255, 255, 255)  # noqa: PLR2004 - half of the brightness
    canvas.text((x + 1 - left, y + 1 - top), text, font=font, fill=ink)


def draw_click(frame: Frame, point: tuple[int, int]) -> Frame:
    """Return a copy of a screenshot with a box around the place of a click.

    Args:
        frame: uint8 array (H, W, 3), RGB.
        point: the place, px.
    """
    image = Image.fromarray(frame)
    canvas = ImageDraw.Draw(image)
    height, width = frame.shape[:2]
    radius = _CLICK_RADIUS_PX * (2 if max(width, height) > _LARGE_SCREEN_PX else 1)
    x, y = point
    box = (x - radius, y - radius, x + radius, y + radius)
    canvas.rectangle(box, outline=_CLICK_COLOR, width=3)
    return np.asarray(image)


def _inside(box: Bounds) -> tuple[int, int, int, int]:
    return box.left, box.top, box.right - 1, box.bottom - 1


def _color(number: int) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(number * _HUE_STEP % 1, 0.9, 0.85)
    return round(red * 255), round(green * 255), round(blue * 255)


@cache
def _font(size_px: int) -> Any:  # noqa: ANN401 - Pillow has two classes of fonts
    return ImageFont.load_default(size_px)
