"""Candidates for marks by a detector of icons: shapes in the picture, or GroundingDINO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from controller.observation.marking.candidates import Candidate, area_px, overlap, share_inside
from controller.observation.marking.changes import Piece, RegionReader
from controller.observation.marking.regions import background, grown, painted_over
from evaluators.recognition.extras import need
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from controller.specification.observation import IconDetector, MarksSpec

    Frame = npt.NDArray[np.uint8]

_LEAST_SIDE_PX = 7
_LARGEST_SIDE_PX = 96
_LARGEST_RATIO = 2.5
_USUAL_SIDE_PX = 1280
"""Longer side of a screen for which the sizes above are; those of a larger one are larger."""
_GAP_PX = 5
"""Parts of an icon are at most this far apart."""
_LEAST_FILL = 0.12
"""Share of an icon's box that differs from what is around it; a frame or a line has less."""
_LEAST_REGION_FILL = 0.85
"""Share of its box that an area without edges covers if it is a key, a swatch or a flat button."""
_CANNY = (20, 70)
_CONTRAST = 16
_KNOWN_SHARE = 0.3


class IconFinder(Protocol):
    """Finds icons in a picture."""

    def find(self, frame: Frame, scale: float = 1.0) -> Sequence[Bounds]:
        """Return the boxes of icons, px.

        Args:
            frame: the picture or a part of it, uint8 array (H, W, 3), RGB.
            scale: size of icons relative to those of a screen of 1280 px.
        """
        ...


class ContourFinder:
    """Finds small shapes with OpenCV: edges, closed over small gaps, and what edges enclose.

    Raises:
        RequirementError: the extra ``ocr`` is not installed.
    """

    def __init__(self) -> None:
        self._cv: Any = need("cv2", "ocr")

    def find(self, frame: Frame, scale: float = 1.0) -> Sequence[Bounds]:
        """Return the boxes of shapes that have the size and the density of icons."""
        cv = self._cv
        edges = cv.Canny(np.ascontiguousarray(frame), *_CANNY)
        gap = round(_GAP_PX * scale) | 1
        closed = cv.morphologyEx(edges, cv.MORPH_CLOSE, np.ones((gap, gap), np.uint8))
        shapes = [box for box, _ in self._parts(closed, scale) if _fill(frame, box) >= _LEAST_FILL]
        regions = [
            box
            for box, count in self._parts(255 - edges, scale, connectivity=4)
            if count >= _LEAST_REGION_FILL * area_px(box)
            and not any(area_px(overlap(box, shape)) for shape in shapes)
        ]
        return [*shapes, *regions]

    def _parts(
        self, mask: npt.NDArray[np.uint8], scale: float, connectivity: int = 8
    ) -> Iterator[tuple[Bounds, int]]:
        """Yield the connected parts of a mask that have the size of icons, with their pixels."""
        _, _, rows, _ = self._cv.connectedComponentsWithStats(mask, connectivity=connectivity)
        for left, top, width, height, count in rows[1:].tolist():
            if _has_icon_size(width, height, scale):
                yield Bounds(left, top, left + width, top + height), count


def _has_icon_size(width: int, height: int, scale: float) -> bool:
    short, long = sorted((width, height))
    is_large = short >= _LEAST_SIDE_PX * scale and long <= _LARGEST_SIDE_PX * scale
    return is_large and long <= _LARGEST_RATIO * short


def _fill(frame: Frame, box: Bounds) -> float:
    """Return the share of a box that differs from the colour around it."""
    edge = grown(box, frame)
    around = background(frame[edge.top : edge.bottom, edge.left : edge.right])
    part = frame[box.top : box.bottom, box.left : box.right].astype(np.int16)
    return float((np.abs(part - around) > _CONTRAST).any(axis=2).mean())


class IconReader:
    """Finds the icons of one screen; what did not change is not searched again.

    Args:
        spec: names the detector, which is created when it is first needed.
        finder: another detector.
    """

    def __init__(self, spec: MarksSpec, finder: IconFinder | None = None) -> None:
        self._spec = spec
        self._finder = finder
        self._scale = 1.0
        self._regions = RegionReader(self._read)

    def find(self, frame: Frame, known: Sequence[Bounds]) -> list[Candidate]:
        """Return a candidate for each icon outside known elements.

        Args:
            frame: the screen, uint8 array (H, W, 3), RGB.
            known: boxes of known elements.

        Raises:
            RequirementError: a dependency of the detector is not installed, or weights are missing.
        """
        self._scale = max(1.0, max(frame.shape[:2]) / _USUAL_SIDE_PX)
        return [
            Candidate(piece.box, "icon", "", "icon")
            for piece in self._regions.update(painted_over(frame, known))
            if not any(share_inside(piece.box, other) > _KNOWN_SHARE for other in known)
        ]

    def _read(self, frame: Frame) -> list[Piece]:
        if self._finder is None:
            self._finder = icon_finder(self._spec)
        return [Piece(box) for box in self._finder.find(frame, self._scale)]


def icon_finder(spec: MarksSpec) -> IconFinder:
    """Return the detector that a specification names, created at the first call.

    Raises:
        RequirementError: a dependency is not installed, or weights are missing.
    """
    name: IconDetector = spec.detector
    if name == "groundingdino":
        from controller.observation.marking.grounding import grounding_finder  # noqa: PLC0415

        return grounding_finder(spec.prompt)
    return ContourFinder()
