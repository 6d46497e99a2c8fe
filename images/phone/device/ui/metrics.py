"""Sizes of the screen, in px, origin top left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

WIDTH_PX = 1080
HEIGHT_PX = 2400
DENSITY_DPI = 420
STATUS_BAR_PX = 84
NAVIGATION_BAR_PX = 126

_BASE_DPI = 160


def dp(value: float) -> int:
    """Give the px of a length in density-independent px."""
    return round(value * DENSITY_DPI / _BASE_DPI)


class Box(NamedTuple):
    """A rectangle; right and bottom are not included."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """From top to bottom."""
        return self.bottom - self.top

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing is inside."""
        return self.right <= self.left or self.bottom <= self.top

    def holds(self, x: int, y: int) -> bool:
        """Tell whether a point is inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def cut(self, other: Box) -> Box:
        """Give what both have in common; empty when they have nothing."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )


NOWHERE = Box(0, 0, 0, 0)
SCREEN = Box(0, 0, WIDTH_PX, HEIGHT_PX)


@dataclass(frozen=True)
class Display:
    """The screen as it is held.

    Attributes:
        rotation: quarter turns from upright, 0 to 3, as Android's ``Surface.ROTATION_*``.
    """

    rotation: int = 0

    @property
    def is_wide(self) -> bool:
        """Tell whether it lies on its side."""
        return self.rotation % 2 == 1

    @property
    def width_px(self) -> int:
        """From left to right."""
        return HEIGHT_PX if self.is_wide else WIDTH_PX

    @property
    def height_px(self) -> int:
        """From top to bottom."""
        return WIDTH_PX if self.is_wide else HEIGHT_PX

    @property
    def screen(self) -> Box:
        """All of it."""
        return Box(0, 0, self.width_px, self.height_px)

    @property
    def keys_top(self) -> int:
        """Where the bar with BACK and HOME begins."""
        return self.height_px - NAVIGATION_BAR_PX


UPRIGHT = Display()
