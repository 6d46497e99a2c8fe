"""Reads pictures by region: what did not change since the last picture is not read again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from controller.observation.marking.candidates import area_px
from controller.observation.marking.regions import around, changed_boxes, grown, touches
from evaluators.recognition.legibility import LEAST_CONTRAST
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Frame = npt.NDArray[np.uint8]

_ENLARGED_PX = 736
"""Engines enlarge a picture whose shorter side is shorter. Source: ``Det.limit_side_len`` of RapidOCR."""

_CONTENT_RATIO = 2
"""How much more a whole screen costs than its size says, for all the lines that must be read."""


class Piece(NamedTuple):
    """What was read at a place.

    Attributes:
        box: the place, px.
        text: the text there; empty for icons.
    """

    box: Bounds
    text: str = ""


@dataclass(slots=True)
class RegionReader:
    """Reads the changed regions of one screen.

    Attributes:
        read: reads a picture; the boxes that it returns are relative to it.
        read_px: number of pixels read by the last update.
    """

    read: Callable[[Frame], Sequence[Piece]]
    read_px: int = 0
    _last: Frame | None = None
    _pieces: list[Piece] = field(default_factory=list)

    def update(self, frame: Frame) -> Sequence[Piece]:
        """Return everything on a screen, top to bottom; only changed regions are read.

        Args:
            frame: the screen, uint8 array (H, W, 3), RGB.
        """
        boxes = _merged(
            [grown(box, frame) for box in changed_boxes(self._last, frame)],
            [piece.box for piece in self._pieces],
        )
        regions = _regions([box for box in boxes if _is_drawn(frame, box)], frame)
        changed = [*boxes, *regions]
        kept = [row for row in self._pieces if not any(touches(row.box, box) for box in changed)]
        self.read_px = 0
        for box in regions:
            kept += self._read(frame, box)
        self._last = frame
        self._pieces = sorted(kept, key=lambda piece: (piece.box.top, piece.box.left))
        return self._pieces

    def _read(self, frame: Frame, box: Bounds) -> list[Piece]:
        part = frame[box.top : box.bottom, box.left : box.right]
        self.read_px += area_px(box)
        return [Piece(_moved(piece.box, box), piece.text) for piece in self.read(part)]


def _moved(box: Bounds, origin: Bounds) -> Bounds:
    x, y = origin.left, origin.top
    return Bounds(box.left + x, box.top + y, box.right + x, box.bottom + y)


def _merged(boxes: Sequence[Bounds], pieces: Sequence[Bounds]) -> list[Bounds]:
    """Extend boxes to all of the pieces that they touch; boxes that touch are joined."""
    merged: list[Bounds] = []
    for changed in boxes:
        box = changed
        for piece in pieces:
            if touches(piece, box):
                box = around(box, piece)
        while touched := [other for other in merged if touches(other, box)]:
            for other in touched:
                merged.remove(other)
                box = around(box, other)
        merged.append(box)
    return merged


def _is_drawn(frame: Frame, box: Bounds) -> bool:
    """Return whether there is anything to see in a region."""
    part = frame[box.top : box.bottom, box.left : box.right]
    return int(np.ptp(part, axis=(0, 1)).max()) > LEAST_CONTRAST


def _regions(boxes: Sequence[Bounds], frame: Frame) -> Sequence[Bounds]:
    """Return the regions to read: the whole picture if that costs less than its regions."""
    height, width = frame.shape[:2]
    whole = Bounds(0, 0, width, height)
    cost_px = _CONTENT_RATIO * _cost_px(whole)
    return [whole] if sum(map(_cost_px, boxes)) > cost_px else boxes


def _cost_px(box: Bounds) -> float:
    """Return the size of a region as engines see it, px."""
    shorter = min(box.right - box.left, box.bottom - box.top)
    return area_px(box) * max(1.0, _ENLARGED_PX / max(1, shorter)) ** 2
