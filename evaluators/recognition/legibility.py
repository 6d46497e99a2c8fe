"""Decide whether recognised content is also visible to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from evaluators.pictures import Pixels
    from evaluators.recognition.features import Placement
    from provisioning.protocols import Bounds

LEAST_CONTRAST = 24
"""Text and background that differ by no more than this (of 255) in each colour are indistinguishable."""

_BLOCKS = 8
_BLOCK_PX = 8
_COVERED = 32.0
_MAX_COVERED = 6


def is_legible(pixels: Pixels, bounds: Bounds) -> bool:
    """Return whether a text stands out from its background.

    Args:
        pixels: the picture, uint8 array (H, W, 3), RGB.
        bounds: bounds of the text's line, px.
    """
    left, top = max(bounds.left, 0), max(bounds.top, 0)
    part = pixels[top : bounds.bottom, left : bounds.right].astype(np.int16)
    return part.size > 0 and int(np.ptp(part, axis=(0, 1)).max()) > LEAST_CONTRAST


def is_whole(picture: Pixels, shown: Pixels, placed: Placement) -> bool:
    """Return whether a picture is completely visible at its position, except for up to a tenth.

    At most 6 of its 8 by 8 parts may have a mean difference of more than 32 of 255.

    Args:
        picture: the picture, uint8 array (H, W, 3), RGB.
        shown: the picture that contains it, likewise.
        placed: its position there.
    """
    left, top = max(round(placed.left), 0), max(round(placed.top), 0)
    part = shown[top : max(round(placed.bottom), 0), left : max(round(placed.right), 0)]
    if part.size == 0:
        return False
    difference = np.abs(_small(picture) - _small(part)).mean(axis=2)
    by_block = difference.reshape(_BLOCKS, _BLOCK_PX, _BLOCKS, _BLOCK_PX).mean(axis=(1, 3))
    return int((by_block > _COVERED).sum()) <= _MAX_COVERED


def _small(pixels: Pixels) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    side = _BLOCKS * _BLOCK_PX
    scaled = Image.fromarray(np.ascontiguousarray(pixels)).resize(
        (side, side), Image.Resampling.BOX
    )
    return np.asarray(scaled, dtype=np.float32)
