"""Reviewed pictures of fresh desktops, which a person has approved: one per distribution."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

import images
from provisioning.reset.picture import still

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Bounds, Frame

MAX_CHANGED_RATIO = 0.02
"""Maximum share of changed pixels at which a desktop counts as the reviewed one."""

FOLDER = Path(images.__file__).parent / "reviewed"


def reviewed_path(image: str) -> Path:
    """Return the path of an image's reviewed picture, which need not exist.

    Args:
        image: label of the image, such as ``desktop:ubuntu-22.04``.
    """
    return FOLDER / f"{image.replace(':', '-').removesuffix('-cloud')}.png"


def read_reviewed(image: str) -> Frame | None:
    """Read the reviewed picture of an image; return None if there is none.

    Returns:
        uint8 array (H, W, 3), RGB.
    """
    path = reviewed_path(image)
    return read_picture(path) if path.is_file() else None


def read_picture(path: Path) -> Frame:
    """Read a picture.

    Returns:
        uint8 array (H, W, 3), RGB.

    Raises:
        OSError: it is missing, or no picture.
    """
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.uint8)


def changed_ratio(reviewed: Frame, current: Frame, left_out: Sequence[Bounds] = ()) -> float:
    """Return the share of pixels, 0 to 1, that differ visibly; 1 if the sizes differ.

    Args:
        reviewed: uint8 array (H, W, 3), RGB.
        current: uint8 array (H, W, 3), RGB.
        left_out: areas of clocks, which count as equal.
    """
    if reviewed.shape != current.shape:
        return 1.0
    changed = ~still(reviewed, current)
    for box in left_out:
        changed[max(0, box.top) : max(0, box.bottom), max(0, box.left) : max(0, box.right)] = False
    return float(changed.mean())
