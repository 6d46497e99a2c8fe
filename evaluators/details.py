"""Compare the details of two pictures of the same content, and judge by the worst tile.

A picture's mean difference says nothing about a mostly white page: a dropped line or a changed amount
is a small part of it. Here the difference is taken at full size, and its strongest pattern within
any tile counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evaluators.pictures import Picture

    Grey = npt.NDArray[np.float32]

MAX_SIDE_PX = 2048
"""Maximum side of the pictures that are compared; larger ones are scaled down."""
_TILE_PX = 8
_MAX_DEVIATION = 12.0
"""Maximum standard deviation of the difference in a tile, of 255.

Measured on pages of text of 14 to 28 px: up to 10 for pictures that are scaled by 0.15 to 2, or saved
as JPEG of quality 40, and at least 18 for a changed digit or a missing full stop.
"""
_FILTERS = (
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
)
_SAMPLERS = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.NEAREST)


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
        _deviations(difference[top:, left:]).max(initial=0.0) <= _MAX_DEVIATION
        for top in (0, _TILE_PX // 2)
        for left in (0, _TILE_PX // 2)
    )


def _blurred(values: Grey) -> Grey:
    """Return an array smoothed over 3 by 3 px."""
    for _ in range(2):
        padded = np.pad(values, ((1, 1), (0, 0)), "edge")
        smoothed = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
        values = np.asarray(smoothed.T, np.float32)
    return values


def _deviations(values: Grey) -> Grey:
    """Return the standard deviation in each tile; the last row and column of tiles are filled up."""
    if not values.size:
        return np.zeros((1, 1), np.float32)
    rest = [(0, -side % _TILE_PX) for side in values.shape]
    full = np.pad(values, rest, "edge")
    height, width = (side // _TILE_PX for side in full.shape)
    tiles = full.reshape(height, _TILE_PX, width, _TILE_PX)
    return np.asarray(tiles.std(axis=(1, 3)), np.float32)
