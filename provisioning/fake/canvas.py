"""Draws the screens of fake machines."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

if TYPE_CHECKING:
    import numpy.typing as npt

    from provisioning.protocols import Bounds, Element

_POINTER_PX = 3


def draw(
    size: tuple[int, int],
    elements: list[Element],
    *,
    dark: bool = False,
    pointer: tuple[int, int] | None = None,
) -> npt.NDArray[np.uint8]:
    """Draw each element as a box with its name.

    Args:
        size: width and height in px.
        elements: elements in drawing order.
        dark: whether to draw light on dark instead of dark on light.
        pointer: position of a small cross, px.

    Returns:
        A read-only uint8 array (H, W, 3), RGB; the same object while the input does not change.
    """
    boxes = tuple((element.name, element.bounds) for element in elements)
    return _drawn(size, boxes, dark, pointer)


@lru_cache(64)
def _drawn(
    size: tuple[int, int],
    boxes: tuple[tuple[str, Bounds], ...],
    dark: bool,  # noqa: FBT001
    pointer: tuple[int, int] | None,
) -> npt.NDArray[np.uint8]:
    """Return a cached frame for the same arguments."""
    ink, paper = ("white", "black") if dark else ("black", "white")
    image = Image.new("RGB", size, paper)
    pen = ImageDraw.Draw(image)
    for name, box in boxes:
        pen.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=paper, outline=ink)
        pen.multiline_text((box.left + 2, box.top + 1), name, fill=ink)
    if pointer is not None:
        x, y = pointer
        pen.line((x - _POINTER_PX, y, x + _POINTER_PX, y), fill="red")
        pen.line((x, y - _POINTER_PX, x, y + _POINTER_PX), fill="red")
    frame = np.array(image, dtype=np.uint8)
    frame.setflags(write=False)
    return frame
