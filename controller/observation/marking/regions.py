"""Regions of a screen: what changed, and what the tree does not describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Frame = npt.NDArray[np.uint8]

TILE_PX = 32
_MARGIN_PX = 8


def changed_boxes(before: Frame | None, after: Frame) -> list[Bounds]:
    """Return boxes that contain all pixels in which two frames differ, in tiles of 32 px.

    Args:
        before: the earlier frame; None if there is none, which changes everything.
        after: the later frame.
    """
    height, width = after.shape[:2]
    if before is None or before.shape != after.shape:
        return [Bounds(0, 0, width, height)]
    if before is after or np.array_equal(before, after):
        return []
    differs = np.asarray(before != after).any(axis=2)
    rows, columns = -(-height // TILE_PX), -(-width // TILE_PX)
    padded = np.zeros((rows * TILE_PX, columns * TILE_PX), bool)
    padded[:height, :width] = differs
    tiles = np.asarray(padded.reshape(rows, TILE_PX, columns, TILE_PX).any(axis=(1, 3)))
    return [_clip(box, width, height) for box in _boxes_of(tiles)]


def _boxes_of(tiles: npt.NDArray[np.bool_]) -> Iterable[Bounds]:
    """Yield one box around each group of adjacent tiles; groups whose boxes touch are joined."""
    boxes: list[Bounds] = []
    for row, column in np.argwhere(tiles):
        top, left = int(row) * TILE_PX, int(column) * TILE_PX
        boxes = _join(boxes, Bounds(left, top, left + TILE_PX, top + TILE_PX))
    return boxes


def _join(boxes: list[Bounds], new: Bounds) -> list[Bounds]:
    rest = []
    for box in boxes:
        if touches(box, new):
            new = around(box, new)
        else:
            rest.append(box)
    return [*rest, new] if len(rest) == len(boxes) else _join(rest, new)


def touches(one: Bounds, other: Bounds) -> bool:
    """Return whether two boxes overlap or are adjacent."""
    return (
        one.left <= other.right
        and other.left <= one.right
        and one.top <= other.bottom
        and other.top <= one.bottom
    )


def around(one: Bounds, other: Bounds) -> Bounds:
    """Return the box around two boxes."""
    return Bounds(
        min(one.left, other.left),
        min(one.top, other.top),
        max(one.right, other.right),
        max(one.bottom, other.bottom),
    )


def grown(box: Bounds, frame: Frame) -> Bounds:
    """Return a box with a margin, inside the frame."""
    height, width = frame.shape[:2]
    wider = Bounds(
        box.left - _MARGIN_PX, box.top - _MARGIN_PX, box.right + _MARGIN_PX, box.bottom + _MARGIN_PX
    )
    return _clip(wider, width, height)


def _clip(box: Bounds, width: int, height: int) -> Bounds:
    return Bounds(max(box.left, 0), max(box.top, 0), min(box.right, width), min(box.bottom, height))


def background(frame: Frame) -> npt.NDArray[np.uint8]:
    """Return the most frequent colour of a picture (RGB)."""
    pixels = frame.reshape(-1, 3)
    packed = (pixels.astype(np.uint32) << np.array([16, 8, 0], np.uint32)).sum(axis=1)
    values, counts = np.unique(packed, return_counts=True)
    common = int(values[counts.argmax()])
    return np.array([common >> 16, common >> 8 & 255, common & 255], np.uint8)


def painted_over(frame: Frame, boxes: Iterable[Bounds]) -> Frame:
    """Return a copy of a picture in which boxes have the colour around them."""
    painted = frame.copy()
    height, width = frame.shape[:2]
    for box in boxes:
        part = _clip(box, width, height)
        edge = grown(part, frame)
        color = background(frame[edge.top : edge.bottom, edge.left : edge.right])
        painted[part.top : part.bottom, part.left : part.right] = color
    return painted
