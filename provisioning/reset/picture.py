"""The picture of a desktop that a reset must reproduce, except areas that change on their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from provisioning.protocols import Bounds
from provisioning.recording.frames import changed_region

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from foundation.clock import Clock
    from provisioning.protocols import Element, Frame, Screen
    from provisioning.reset.windows import WindowState

    Mask = npt.NDArray[np.bool_]

TOLERANCE_LEVELS = 8
"""Maximum tolerated difference of a channel, of 255 levels."""

TOLERANCE_PX = 16
"""Number of pixels that may differ by more: the size of a one-line text cursor."""

MAX_MASKED_RATIO = 0.5
"""Maximum share of the screen that may be excluded; beyond it, a picture proves nothing."""

_WATCH_S = 3.0
_EVERY_S = 0.25
_TILE_PX = 32
_TIME_OF_DAY = re.compile(r"\b\d{1,2}[:.]\d{2}\b")
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Picture:
    """The expected content of a screen.

    Attributes:
        frame: uint8 array (H, W, 3), RGB.
        mask: bool array (H, W), True for pixels that are compared.
    """

    frame: Frame
    mask: Mask

    def differences(self, frame: Frame) -> tuple[str, ...]:
        """Return one line for each region that differs; empty if none does.

        Args:
            frame: uint8 array (H, W, 3), RGB.
        """
        if frame.shape != self.frame.shape:
            sizes = (f"{width}x{height}" for height, width, _ in (self.frame.shape, frame.shape))
            return (f"screen: {' -> '.join(sizes)} px",)
        box = changed_region(self.frame, frame)
        if box is None:
            return ()
        rows = np.s_[box.top : box.bottom]
        off = np.zeros_like(self.mask)
        off[rows] = _differs(self.frame[rows], frame[rows]) & self.mask[rows]
        if np.count_nonzero(off) <= TOLERANCE_PX:
            return ()
        return tuple(
            f"screen: {count} px differ within x {box.left}-{box.right - 1}, "
            f"y {box.top}-{box.bottom - 1}"
            for box, count in regions(off)[:_MAX_NAMED]
        )

    @property
    def masked_ratio(self) -> float:
        """Return the share of the screen that is excluded, 0 to 1."""
        return 1.0 - float(self.mask.mean())

    def without(self, mask: Mask) -> Picture:
        """Return a picture that also excludes the pixels where `mask` is False."""
        return Picture(self.frame, self.mask & mask)

    def write(self, path: Path) -> None:
        """Write both arrays to one file, atomically."""
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.save(file, self.frame, allow_pickle=False)
            np.save(file, self.mask, allow_pickle=False)
        part.replace(path)

    @classmethod
    def read(cls, path: Path) -> Picture:
        """Read a picture from a file.

        Raises:
            OSError, ValueError: the file is missing or damaged.
        """
        with path.open("rb") as file:
            try:
                frame, mask = (np.load(file, allow_pickle=False) for _ in range(2))
            except EOFError as exc:
                raise ValueError(f"{path.name} is not a valid picture: {exc}") from exc
        if frame.dtype != np.uint8 or mask.dtype != np.bool_ or frame.shape != (*mask.shape, 3):
            raise ValueError(f"{path.name} is not a valid picture: {frame.dtype} {frame.shape}")
        return cls(frame, mask)


def watch(screen: Screen, *, left_out: Sequence[Bounds] = (), clock: Clock) -> Picture:
    """Watch a screen for some seconds; return its picture, excluding pixels that change meanwhile.

    Args:
        screen: screen of an idle machine.
        left_out: regions to exclude because they change more rarely.
        clock: clock used for waits.
    """
    frame = screen.capture()
    mask = np.ones(frame.shape[:2], dtype=np.bool_)
    end_s = clock.monotonic_s() + _WATCH_S
    while clock.monotonic_s() < end_s:
        clock.sleep(_EVERY_S)
        mask &= still(frame, screen.capture())
    for box in left_out:
        mask[max(0, box.top) : max(0, box.bottom), max(0, box.left) : max(0, box.right)] = False
    return Picture(frame, mask)


def still(frame: Frame, other: Frame) -> Mask:
    """Return where two frames are equal: bool array (H, W); all False if their sizes differ."""
    if frame.shape != other.shape:
        return np.zeros(frame.shape[:2], dtype=np.bool_)
    return ~_differs(frame, other)


def clock_bounds(windows: Sequence[WindowState], elements: Sequence[Element]) -> list[Bounds]:
    """Return the bounds of the panels' clocks, with a margin for text that grows.

    GNOME's panel clock is the only toggle button without a name; other panels name their clock by the
    time. If a desktop has panels but no recognizable clock, the whole panels are returned.

    Args:
        windows: windows of the desktop.
        elements: its accessibility tree.
    """
    docks = [_bounds_of(window) for window in windows if window.kind == "dock"]
    clocks = []
    for element in elements:
        is_clock = (element.role == "toggle button" and not element.name) or _TIME_OF_DAY.search(
            element.name
        )
        dock = next((dock for dock in docks if _is_within(element.bounds, dock)), None)
        if is_clock and dock is not None:
            margin_px = (element.bounds.right - element.bounds.left) // 2
            left = max(dock.left, element.bounds.left - margin_px)
            right = min(dock.right, element.bounds.right + margin_px)
            clocks.append(Bounds(left, dock.top, right, dock.bottom))
    return clocks or docks


def regions(off: Mask) -> list[tuple[Bounds, int]]:
    """Return the bounding boxes of groups of pixels and their pixel counts, largest count first.

    Args:
        off: bool array (H, W); pixels in the same or adjacent tiles of 32 px form a group.
    """
    ys, xs = np.nonzero(off)
    columns = off.shape[1] // _TILE_PX + 1
    numbers = np.unique(ys // _TILE_PX * columns + xs // _TILE_PX)
    tiles = {divmod(number, columns) for number in numbers.tolist()}
    boxes = []
    while tiles:
        group, edge = set(), [tiles.pop()]
        while edge:
            row, column = edge.pop()
            group.add((row, column))
            near = {(row + dy, column + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & tiles
            tiles -= near
            edge += near
        boxes.append(_box_of(off, group))
    return sorted(boxes, key=lambda region: -region[1])


def _box_of(off: Mask, tiles: set[tuple[int, int]]) -> tuple[Bounds, int]:
    picked = np.zeros_like(off)
    for row, column in tiles:
        part = np.s_[row * _TILE_PX : (row + 1) * _TILE_PX]
        across = np.s_[column * _TILE_PX : (column + 1) * _TILE_PX]
        picked[part, across] = off[part, across]
    ys, xs = np.nonzero(picked)
    box = Bounds(int(xs.min()), int(ys.min()), int(xs.max()) + 1, int(ys.max()) + 1)
    return box, int(ys.size)


def _differs(frame: Frame, other: Frame) -> Mask:
    # Subtract the smaller from the larger value, as unsigned bytes cannot be negative.
    off = np.maximum(frame, other) - np.minimum(frame, other) > TOLERANCE_LEVELS
    mask: Mask = np.logical_or.reduce(off, axis=2)
    return mask


def _bounds_of(window: WindowState) -> Bounds:
    left, top, width, height = window.geometry
    return Bounds(left, top, left + width, top + height)


def _is_within(inner: Bounds, outer: Bounds) -> bool:
    return (
        outer.left <= inner.left
        and inner.right <= outer.right
        and outer.top <= inner.top
        and inner.bottom <= outer.bottom
    )
