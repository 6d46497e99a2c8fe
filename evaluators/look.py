"""Compare how two pictures look, and judge by the worst tile.

A picture's mean difference says nothing about a mostly white page: a dropped line or a changed amount
is a small part of it. Here the difference is taken at full size, and the tile where it is largest
counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evaluators.pictures import Picture, Pixels

    Values = npt.NDArray[np.float32]

TILE_PX = 8
_HALF_TILES = (0, TILE_PX // 2)
SAME_LOOK = 0.05
"""Largest difference of a tile between pages that look the same.

Measured on pages of LibreOffice 7.4 at 96 dpi: 0 for the same document in another format; at least 0.19
for a changed digit of 11 points, 0.13 of 8 and 0.08 of 6; up to 0.1 for text of 11 points that is
moved by 0.05 to 0.3 mm.
"""
MAX_SIDE_PX = 2048
"""Maximum side of pictures that are compared regardless of scale; larger ones are scaled down."""
_MAX_DEVIATION = 12.0
"""Maximum standard deviation of the difference in a tile, of 255.

Measured on pages of text of 14 to 28 px: up to 10 for pictures that are scaled by 0.15 to 2, or saved
as JPEG of quality 40, and at least 18 for a changed digit or a missing full stop.
"""
_FULL = 255.0
_LEAST_CONTRAST = 30.0
"""Contrast below which a tile has no ink, to which differences are relative."""
_NEIGHBOURS = tuple(product(range(3), repeat=2))
_SHIFTS_PX = tuple(product((0, -1, 1), repeat=2))
_FILTERS = (
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
)
_SAMPLERS = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.NEAREST)


@dataclass(frozen=True, slots=True)
class WorstTile:
    """The tile in which two pages differ most.

    Attributes:
        difference: root mean square of the differences of its pixels, smoothed over 3 by 3 px, in
            the colour channel with the largest; 0 is equal, 1 is black against white, or the largest contrast within
            the tile and those beside it.
        left_px: its left edge.
        top_px: its upper edge.
    """

    difference: float
    left_px: int = 0
    top_px: int = 0


def worst_tile(first: Pixels, second: Pixels) -> WorstTile:
    """Return the tile of 8 by 8 px in which two pages differ most.

    What a tile shows may lie one px off in any direction, where rounding placed it. Pages whose sizes
    differ by more than one px differ by 1.

    Args:
        first: a page.
        second: another, rendered at the same scale.
    """
    sizes = list(zip(first.shape[:2], second.shape[:2], strict=True))
    if any(abs(one - other) > 1 for one, other in sizes):
        return WorstTile(1.0)
    height, width = map(min, sizes)
    first, second = first[:height, :width], second[:height, :width]
    changed = (first != second).any(axis=2)
    if not changed.any():
        return WorstTile(0.0)
    top, left, bottom, right = _bounds(changed)
    part = np.s_[top:bottom, left:right]
    shifted = np.pad(second, ((1, 1), (1, 1), (0, 0)), "edge")
    near = [
        shifted[1 + down : 1 + down + height, 1 + across : 1 + across + width][part]
        for down, across in _SHIFTS_PX
    ]
    worst = max(
        (_worst_of_grid(first[part], near, *corner) for corner in product(_HALF_TILES, repeat=2)),
        key=lambda tile: tile.difference,
    )
    return WorstTile(worst.difference, worst.left_px + left, worst.top_px + top)


def _bounds(changed: npt.NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Return the edges of the changed part, with a tile around it."""
    edges: list[int] = []
    for axis in (1, 0):
        places = np.flatnonzero(changed.any(axis=axis))
        edges += [max(0, int(places[0]) - TILE_PX), int(places[-1]) + 1 + TILE_PX]
    return edges[0], edges[2], edges[1], edges[3]


def _worst_of_grid(page: Pixels, near: list[Pixels], top: int, left: int) -> WorstTile:
    """Return the worst tile of those whose corners lie on a grid; each is compared where it fits best."""
    if page.shape[0] <= top or page.shape[1] <= left:
        return WorstTile(0.0)
    values = np.stack([_powers(page[top:, left:], other[top:, left:]) for other in near])
    contrasts = np.maximum(_contrasts(page[top:, left:]), _contrasts(near[0][top:, left:]))
    contrasts = np.where(contrasts < _LEAST_CONTRAST, _FULL, contrasts)
    differences = np.sqrt(values.min(axis=0)) / contrasts
    row, column = np.unravel_index(int(differences.argmax()), differences.shape)
    return WorstTile(
        float(differences.max()), int(column) * TILE_PX + left, int(row) * TILE_PX + top
    )


def _contrasts(page: Pixels) -> Values:
    """Return how much the pixels of each tile differ, or those of one beside it, in the channel with the largest difference."""
    channels = [_tiles(page[:, :, channel].astype(np.float32)) for channel in range(3)]
    ranges = [tiles.max(axis=(1, 3)) - tiles.min(axis=(1, 3)) for tiles in channels]
    most = np.pad(np.max(ranges, axis=0), 1, "edge")
    height, width = most.shape[0] - 2, most.shape[1] - 2
    near = [most[down : down + height, across : across + width] for down, across in _NEIGHBOURS]
    return np.asarray(np.max(near, axis=0), np.float32)


def _powers(one: Pixels, other: Pixels) -> Values:
    """Return the mean square of the difference in each tile, in the worst channel."""
    difference = one.astype(np.float32) - other
    channels = [
        _tiles(_blurred(difference[:, :, channel]) ** 2).mean(axis=(1, 3)) for channel in range(3)
    ]
    return np.asarray(np.max(channels, axis=0), np.float32)


def has_same_details(first: Picture, second: Picture) -> bool:
    """Return whether no tile of two pictures shows something else, apart from scaling and compression.

    Either picture is scaled to the other's size in the ways that programs use, and both are blurred
    slightly. In the best way, the brightness may differ only by a constant in each tile of 8 by 8
    px, up to a standard deviation of 12 of 255. Colours are not compared.

    Args:
        first: a picture.
        second: another, with about the same aspect ratio.
    """
    one, other = _brightness(first), _brightness(second)
    if one.size == other.size:
        return _is_same(_fitted(one), _fitted(other))
    return any(
        _is_same(scaled, target)
        for source, target in ((one, _fitted(other)), (other, _fitted(one)))
        for scaled in _scaled(source, target.size)
    )


def _brightness(picture: Picture) -> Image.Image:
    return Image.fromarray(picture.pixels).convert("L")


def _fitted(picture: Image.Image) -> Image.Image:
    """Return a picture without a side over the limit."""
    factor = MAX_SIDE_PX / max(picture.size)
    if factor >= 1:
        return picture
    width, height = (max(1, round(side * factor)) for side in picture.size)
    return picture.resize((width, height), Image.Resampling.BOX)


def _scaled(picture: Image.Image, size: tuple[int, int]) -> Iterator[Image.Image]:
    """Iterate over a picture scaled to a size: by filters, and by sampling without a filter."""
    for method in _FILTERS:
        yield picture.resize(size, method)
    for sampler in _SAMPLERS:
        yield picture.transform(
            size, Image.Transform.EXTENT, (0, 0, *picture.size), resample=sampler
        )


def _is_same(one: Image.Image, other: Image.Image) -> bool:
    difference = _blurred(np.asarray(one, np.float32) - np.asarray(other, np.float32))
    return all(
        _tiles(difference[top:, left:]).std(axis=(1, 3)).max(initial=0.0) <= _MAX_DEVIATION
        for top, left in product(_HALF_TILES, repeat=2)
    )


def _blurred(values: Values) -> Values:
    """Return an array smoothed over 3 by 3 px."""
    for _ in range(2):
        padded = np.pad(values, ((1, 1), (0, 0)), "edge")
        smoothed = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
        values = np.asarray(smoothed.T, np.float32)
    return values


def _tiles(values: Values) -> Values:
    """Return an array as (rows, 8, columns, 8); the last row and column of tiles are filled up."""
    rest = [(0, -side % TILE_PX) for side in values.shape]
    full = np.pad(values, rest, "edge") if values.size else np.zeros((TILE_PX, TILE_PX), np.float32)
    height, width = (side // TILE_PX for side in full.shape)
    return np.asarray(full.reshape(height, TILE_PX, width, TILE_PX), np.float32)
