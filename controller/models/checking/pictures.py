"""Pictures of known content, which models are asked about."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

if TYPE_CHECKING:
    from controller.models.pictures.sizing import Size

TARGET = (220, 20, 20)
_OTHER, _BACKGROUND, _LINE = (120, 120, 120), (235, 240, 245), (150, 160, 170)
_THIRDS = (1, 3, 5)
_SIDE_RATIO = 0.05
_LINES = 40


def places(size: Size) -> tuple[tuple[int, int], ...]:
    """Return the centres of nine squares, row by row, a little off any regular grid."""
    width, height = size
    return tuple(
        (round(width * column / 6) + 7 * row - 11, round(height * row / 6) - 5 * column + 13)
        for row in _THIRDS
        for column in _THIRDS
    )


def squares(size: Size, target: int) -> bytes:
    """Return a picture with nine squares as PNG: the target is red, the others are grey.

    Args:
        size: size of the picture.
        target: index of the red square.
    """
    picture = Image.new("RGB", size, _BACKGROUND)
    draw = ImageDraw.Draw(picture)
    half = max(4, round(min(size) * _SIDE_RATIO / 2))
    for index, (x, y) in enumerate(places(size)):
        colour = TARGET if index == target else _OTHER
        draw.rectangle((x - half, y - half, x + half, y + half), fill=colour)
    return _png(picture)


def cut_off_page(size: Size) -> bytes:
    """Return a picture of a page that goes on below, as PNG."""
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    step = size.height / _LINES
    for line in range(_LINES + 1):
        y = round(line * step)
        end = size.width * (0.7 + 0.2 * (line % 3 == 0))
        draw.rectangle((size.width * 0.05, y, end, y + step * 0.4), fill=_LINE)
    return _png(picture)


def _png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
