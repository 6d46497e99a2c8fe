"""Find a picture in another one by features: OpenCV's SIFT, or kornia's XFeat.

Matches are mutual, and USAC_MAGSAC finds the homography with the most inliers.
Source: D. Lowe, IJCV 2004 (SIFT); Potje et al., CVPR 2024 (XFeat); Barath et al., CVPR 2020
(MAGSAC++); OpenCV's ``findHomography``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from evaluators.recognition.extras import need, version_of
from evaluators.recognition.settings import VisionSettings, checked_weights
from foundation.once import once

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from evaluators.pictures import Pixels

    Points = npt.NDArray[np.float32]

MatcherName = Literal["sift", "xfeat"]
_MAX_FEATURES = 4000
_RATIO = 0.8
_REPROJECTION_PX = 2.0
_LEAST_INLIERS = 12
_LEAST_INLIER_SHARE = 0.4
_LEAST_CELLS = 4
_SKEW = 0.12


@dataclass(frozen=True, slots=True)
class Placement:
    """Position of a picture in another one.

    Attributes:
        left: left edge of its bounding box, px of the other picture.
        top: top edge, likewise.
        right: right edge, likewise, exclusive.
        bottom: bottom edge, likewise, exclusive.
        scale: its width there, relative to its own width.
        inliers: number of features that agree.
    """

    left: float
    top: float
    right: float
    bottom: float
    scale: float
    inliers: int


class Matcher(Protocol):
    """Matcher of features of two pictures."""

    @property
    def version(self) -> str:
        """Names and versions of the libraries used."""
        ...

    def pairs(self, needle: Pixels, hay: Pixels) -> tuple[Points, Points]:
        """Return matching points: two float32 arrays (N, 2), x then y in px."""
        ...


class Sift:
    """SIFT with Lowe's ratio test.

    Raises:
        RequirementError: the extra ``ocr`` is not installed.
    """

    def __init__(self) -> None:
        self._cv: Any = need("cv2", "ocr")
        self._sift = self._cv.SIFT_create(nfeatures=_MAX_FEATURES)
        self.version = f"OpenCV {self._cv.__version__} SIFT"

    def pairs(self, needle: Pixels, hay: Pixels) -> tuple[Points, Points]:
        """Return matching points; each point occurs at most once."""
        cv = self._cv
        detections = [
            self._sift.detectAndCompute(
                cv.cvtColor(np.ascontiguousarray(image), cv.COLOR_RGB2GRAY), None
            )
            for image in (needle, hay)
        ]
        (points, descriptors), (others, other_descriptors) = detections
        if descriptors is None or other_descriptors is None or min(len(points), len(others)) < 2:  # noqa: PLR2004
            return _none(), _none()
        best: dict[int, tuple[float, int]] = {}
        for match in cv.BFMatcher(cv.NORM_L2).knnMatch(descriptors, other_descriptors, k=2):
            if len(match) == 2 and match[0].distance < _RATIO * match[1].distance:  # noqa: PLR2004
                row = (match[0].distance, match[0].queryIdx)
                best[match[0].trainIdx] = min(row, best.get(match[0].trainIdx, row))
        return (
            np.array([points[query].pt for _, query in best.values()], np.float32).reshape(-1, 2),
            np.array([others[train].pt for train in best], np.float32).reshape(-1, 2),
        )


class XFeat:
    """XFeat, with weights from a local file whose checksum is verified.

    Args:
        threshold: detection threshold; 0.05 for trained weights.

    Raises:
        RequirementError: the extra ``vision`` is not installed, or the weights have another checksum.
    """

    def __init__(self, threshold: float = 0.05) -> None:
        settings = VisionSettings()
        path = checked_weights(
            settings.xfeat_weights,
            settings.xfeat_sha256,
            engine="XFeat",
            place="xfeat_weights",
            checksum="xfeat_sha256",
        )
        torch = need("torch", "vision")
        feature = need("kornia.feature", "vision")
        need("cv2", "ocr")
        self._torch: Any = torch
        self._net: Any = feature.XFeat(top_k=_MAX_FEATURES)
        self._net.net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        self._net.eval()
        self._threshold = threshold
        self.version = version_of("kornia", "torch") + f" XFeat {settings.xfeat_sha256[:12]}"

    def pairs(self, needle: Pixels, hay: Pixels) -> tuple[Points, Points]:
        """Return matching points that are mutual nearest neighbours."""
        with self._torch.inference_mode():
            needle_features, hay_features = (
                self._net.detectAndCompute(
                    self._tensor(image), top_k=_MAX_FEATURES, detection_threshold=self._threshold
                )[0]
                for image in (needle, hay)
            )
            if min(len(needle_features["keypoints"]), len(hay_features["keypoints"])) < 2:  # noqa: PLR2004
                return _none(), _none()
            alike = needle_features["descriptors"] @ hay_features["descriptors"].T
            there, back = alike.argmax(dim=1), alike.argmax(dim=0)
            mutual = back[there] == self._torch.arange(len(there))
            points = needle_features["keypoints"][mutual], hay_features["keypoints"][there[mutual]]
        return tuple(np.asarray(point, np.float32).reshape(-1, 2) for point in points)  # type: ignore[return-value]

    def _tensor(self, pixels: Pixels) -> Any:  # noqa: ANN401 - a tensor (1, 3, H, W), 0 to 1
        array = np.ascontiguousarray(pixels.transpose(2, 0, 1))[None]
        return self._torch.from_numpy(array).float() / 255


_MAKERS: dict[MatcherName, Callable[[], Matcher]] = {"sift": once(Sift), "xfeat": once(XFeat)}


def matcher(name: MatcherName) -> Matcher:
    """Return the matcher of this process, created at the first call.

    Raises:
        RequirementError: a dependency is not installed.
    """
    return _MAKERS[name]()


def locate(needle: Pixels, hay: Pixels, by: Matcher) -> Placement | None:
    """Find a picture in another one, moved and scaled but not rotated or distorted.

    At least 12 features and two fifths of all matches must agree on a rectangular placement, and
    they must be spread over at least 4 of the 9 parts of the picture.

    Args:
        needle: the picture to find, uint8 array (H, W, 3), RGB.
        hay: the picture to search, likewise.
        by: matcher of features.
    """
    points, others = by.pairs(needle, hay)
    if len(points) < _LEAST_INLIERS:
        return None
    cv: Any = need("cv2", "ocr")
    matrix, mask = cv.findHomography(
        points, others, cv.USAC_MAGSAC, _REPROJECTION_PX, maxIters=5000, confidence=0.999
    )
    if matrix is None:
        return None
    agree = mask.ravel().astype(bool)
    height, width = needle.shape[:2]
    cells = {(int(3 * x / width), int(3 * y / height)) for x, y in points[agree]}
    count = int(agree.sum())
    if count < max(_LEAST_INLIERS, _LEAST_INLIER_SHARE * len(points)) or len(cells) < _LEAST_CELLS:
        return None
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    placed = cv.perspectiveTransform(corners[None], matrix)[0]
    return _upright(placed, (width, height), count)


def _upright(corners: Points, size: tuple[int, int], inliers: int) -> Placement | None:
    """Return the placement if the corners (clockwise from the upper left) form an upright box."""
    left, right = float(corners[[0, 3], 0].mean()), float(corners[[1, 2], 0].mean())
    top, bottom = float(corners[:2, 1].mean()), float(corners[2:, 1].mean())
    width, height = right - left, bottom - top
    if width <= 0 or height <= 0:
        return None
    box = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    if np.abs(corners - box).max() > _SKEW * min(width, height):
        return None
    if abs(width / size[0] / (height / size[1]) - 1) > _SKEW:
        return None
    return Placement(left, top, right, bottom, width / size[0], inliers)


def _none() -> Points:
    return np.empty((0, 2), np.float32)
