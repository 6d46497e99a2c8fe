"""Screen sizes in px; the origin is at the top left.

Views are laid out in px of the screen's own density. If another density is forced, they are laid
out on a larger or smaller canvas, and the picture is scaled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

WIDTH_PX = 1080
HEIGHT_PX = 2400
DENSITY_DPI = 420
STATUS_BAR_PX = 84
NAVIGATION_BAR_PX = 126

MIN_SIDE_PX = 200
"""Minimum that Android accepts for ``wm size``."""

MAX_PIXELS = 5_200_000
"""Maximum of a forced size and of the canvas: such a picture takes 21 MB."""

_BASE_DPI = 160


def dp(value: float) -> int:
    """Convert density-independent px to px."""
    return round(value * DENSITY_DPI / _BASE_DPI)


class Box(NamedTuple):
    """A rectangle; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """The width."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """The height."""
        return self.bottom - self.top

    @property
    def is_empty(self) -> bool:
        """Return whether the box has no area."""
        return self.right <= self.left or self.bottom <= self.top

    def holds(self, x: int, y: int) -> bool:
        """Return whether a point is inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def cut(self, other: Box) -> Box:
        """Return the intersection, which may be empty."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )


NOWHERE = Box(0, 0, 0, 0)


@dataclass(frozen=True)
class Display:
    """Size, density and rotation of the screen.

    Attributes:
        rotation: quarter turns from upright, 0 to 3, as Android's ``Surface.ROTATION_*``.
        upright_px: width and height in portrait orientation, as tools see them.
        density_dpi: density, as tools see it.
    """

    rotation: int = 0
    upright_px: tuple[int, int] = (WIDTH_PX, HEIGHT_PX)
    density_dpi: int = DENSITY_DPI

    @property
    def is_wide(self) -> bool:
        """Return whether the orientation is landscape."""
        return self.rotation % 2 == 1

    @property
    def seen_px(self) -> tuple[int, int]:
        """Width and height of the picture, in the coordinates that tools use."""
        width_px, height_px = self.upright_px
        return (height_px, width_px) if self.is_wide else (width_px, height_px)

    @property
    def scale_ratio(self) -> float:
        """Ratio of the px that tools see to px of the canvas."""
        return self.density_dpi / DENSITY_DPI

    @property
    def width_px(self) -> int:
        """The width of the canvas."""
        return round(self.seen_px[0] / self.scale_ratio)

    @property
    def height_px(self) -> int:
        """The height of the canvas."""
        return round(self.seen_px[1] / self.scale_ratio)

    def to_canvas(self, x: int, y: int) -> tuple[int, int]:
        """Convert tool coordinates to canvas coordinates."""
        return int(x / self.scale_ratio), int(y / self.scale_ratio)

    def to_seen(self, box: Box) -> Box:
        """Convert a box of the canvas to tool coordinates."""
        if self.density_dpi == DENSITY_DPI:
            return box
        return Box(*(round(side * self.scale_ratio) for side in box))

    @property
    def screen(self) -> Box:
        """The box of the whole canvas."""
        return Box(0, 0, self.width_px, self.height_px)

    @property
    def keys_top(self) -> int:
        """The top of the bar with BACK and HOME."""
        return self.height_px - NAVIGATION_BAR_PX


UPRIGHT = Display()
