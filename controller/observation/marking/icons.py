"""Candidates for marks by a detector of icons: shapes in the picture, or GroundingDINO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from controller.observation.marking.candidates import Candidate, area_px, overlap
from controller.observation.marking.changes import Piece, RegionReader
from controller.observation.marking.regions import painted_over
from evaluators.recognition.extras import need
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from controller.specification.observation import IconDetector, MarksSpec

    Frame = npt.NDArray[np.uint8]

_LEAST_SIDE_PX = 10
_LARGEST_SIDE_PX = 96
_LARGEST_RATIO = 2.5
_GAP_PX = 5
"""Parts of an icon are at most this far apart."""
_LEAST_FILL = 0.12
"""Share of an icon's box that has edges; a frame or a line has less."""
_CANNY = (60, 160)


class IconFinder(Protocol):
    """Finds icons in a picture."""

    def find(self, frame: Frame) -> Sequence[Bounds]:
        """Return the boxes of icons, px.

        Args:
            frame: uint8 array (H, W, 3), RGB.
        """
        ...


class ContourFinder:
    """Finds small shapes with OpenCV: edges, closed over small gaps, as boxes.

    Raises:
        RequirementError: the extra ``ocr`` is not installed.
    """

    def __init__(self) -> None:
        self._cv: Any = need("cv2", "ocr")

    def find(self, frame: Frame) -> Sequence[Bounds]:
        """Return the boxes of shapes that have the size and the density of icons."""
        cv = self._cv
        edges = cv.Canny(np.ascontiguousarray(frame), *_CANNY)
        kernel = np.ones((_GAP_PX, _GAP_PX), np.uint8)
        closed = cv.morphologyEx(edges, cv.MORPH_CLOSE, kernel)
        _, _, rows, _ = cv.connectedComponentsWithStats(closed, connectivity=8)
        boxes = [Bounds(int(x), int(y), int(x + w), int(y + h)) for x, y, w, h, _ in rows[1:]]
        return [box for box in boxes if _has_icon_size(box) and _fill(edges, box) >= _LEAST_FILL]


def _has_icon_size(box: Bounds) -> bool:
    width, height = box.right - box.left, box.bottom - box.top
    return (
        min(width, height) >= _LEAST_SIDE_PX
        and max(width, height) <= _LARGEST_SIDE_PX
        and max(width, height) <= _LARGEST_RATIO * min(width, height)
    )


def _fill(edges: npt.NDArray[np.uint8], box: Bounds) -> float:
    part = edges[box.top : box.bottom, box.left : box.right]
    return float((part > 0).mean())


class IconReader:
    """Finds the icons of one screen; what did not change is not searched again.

    Args:
        spec: names the detector, which is created when it is first needed.
        finder: another detector.
    """

    def __init__(self, spec: MarksSpec, finder: IconFinder | None = None) -> None:
        self._spec = spec
        self._finder = finder
        self._regions = RegionReader(self._read)

    def find(self, frame: Frame, known: Sequence[Bounds]) -> list[Candidate]:
        """Return a candidate for each icon outside known elements.

        Args:
            frame: the screen, uint8 array (H, W, 3), RGB.
            known: boxes of known elements.

        Raises:
            RequirementError: a dependency of the detector is not installed, or weights are missing.
        """
        return [
            Candidate(piece.box, "icon", "", "icon")
            for piece in self._regions.update(painted_over(frame, known))
            if not any(area_px(overlap(piece.box, other)) for other in known)
        ]

    def _read(self, frame: Frame) -> list[Piece]:
        if self._finder is None:
            self._finder = _icon_finder(self._spec)
        return [Piece(box) for box in self._finder.find(frame)]


def _icon_finder(spec: MarksSpec) -> IconFinder:
    """Return the detector that a specification names, created at the first call.

    Raises:
        RequirementError: a dependency is not installed, or weights are missing.
    """
    name: IconDetector = spec.detector
    if name == "groundingdino":
        from controller.observation.marking.grounding import grounding_finder  # noqa: PLC0415

        return grounding_finder(spec.prompt)
    return ContourFinder()
