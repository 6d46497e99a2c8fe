"""Compares frames to find which part of a screen changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from provisioning.protocols import Bounds

if TYPE_CHECKING:
    import numpy.typing as npt

    from provisioning.protocols import Frame

_WORD_BYTES = 8


def changed_region(before: Frame, after: Frame) -> Bounds | None:
    """Return the smallest rectangle that contains all differing pixels; None if there are none.

    Args:
        before: uint8 array (H, W, 3), RGB.
        after: uint8 array (H, W, 3), RGB; if its size differs, all of it counts as changed.
    """
    height, width = after.shape[:2]
    if before.shape != after.shape:
        return Bounds(0, 0, width, height)
    rows = np.flatnonzero((_as_integers(before) != _as_integers(after)).any(axis=1))
    if not rows.size:
        return None
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    differs = (before[top:bottom] != after[top:bottom]).any(axis=0)
    columns = np.flatnonzero(differs.any(axis=1))
    return Bounds(int(columns[0]), top, int(columns[-1]) + 1, bottom)


def _as_integers(frame: Frame) -> npt.NDArray[np.unsignedinteger]:
    """View each row as 64-bit integers if its length allows, to compare an eighth of the items."""
    rows = np.ascontiguousarray(frame).reshape(frame.shape[0], -1)
    return rows.view(np.uint64) if rows.shape[1] % _WORD_BYTES == 0 else rows
