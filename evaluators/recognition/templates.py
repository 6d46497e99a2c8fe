"""Find a small picture with few features, such as an icon, by template matching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluators.recognition.extras import need

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluators.pictures import Pixels

_LEAST_SIDE_PX = 6
_FLAT = 4.0


@dataclass(frozen=True, slots=True)
class Hit:
    """The best match of a template.

    Attributes:
        left: left edge of the box, px.
        top: top edge, likewise.
        right: right edge, likewise, exclusive.
        bottom: bottom edge, likewise, exclusive.
        scale: scale of the template there.
        score: normalised correlation, -1 to 1.
        difference: mean absolute difference of colours there, 0 to 255.
    """

    left: int
    top: int
    right: int
    bottom: int
    scale: float
    score: float
    difference: float


def is_flat(template: Pixels) -> bool:
    """Return whether a picture has too little detail for template matching."""
    return float(template.astype(np.float32).std(axis=(0, 1)).max()) < _FLAT


def find_template(template: Pixels, hay: Pixels, scales: Sequence[float]) -> Hit | None:
    """Return the best match of a template over some scales; None if it is too large at every scale.

    Args:
        template: uint8 array (H, W, 3), RGB.
        hay: the picture to search, likewise.
        scales: scales of the template.

    Raises:
        RequirementError: the extra ``ocr`` is not installed.
    """
    cv: Any = need("cv2", "ocr")
    best: Hit | None = None
    for scale in scales:
        height, width = (max(1, round(side * scale)) for side in template.shape[:2])
        if min(height, width) < _LEAST_SIDE_PX or height > hay.shape[0] or width > hay.shape[1]:
            continue
        way = cv.INTER_AREA if scale < 1 else cv.INTER_CUBIC
        scaled = cv.resize(np.ascontiguousarray(template), (width, height), interpolation=way)
        scores = cv.matchTemplate(np.ascontiguousarray(hay), scaled, cv.TM_CCOEFF_NORMED)
        _, score, _, (left, top) = cv.minMaxLoc(scores)
        if best is None or score > best.score:
            there = hay[top : top + height, left : left + width].astype(np.int16)
            difference = float(np.abs(there - scaled.astype(np.int16)).mean())
            best = Hit(left, top, left + width, top + height, scale, float(score), difference)
    return best
