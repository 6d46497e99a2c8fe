"""Choose the size of the picture that a model is sent.

A server that finds a picture too large shrinks it silently, and the model's coordinates then refer to
a size that nobody knows. So each picture is resized before it is sent, to a size that the server keeps.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from PIL import Image


class Size(NamedTuple):
    """A size in px."""

    width: int
    height: int


class Sizer(Protocol):
    """Chooses the size of a picture."""

    def size(self, screen: Size) -> Size:
        """Return the size at which the picture of a screen is sent."""
        ...


@dataclass(frozen=True, slots=True)
class Scaled:
    """Multiplies both sides by a factor.

    Attributes:
        factor: above 0 and at most 1; 1 leaves the picture unchanged.
    """

    factor: float = 1.0

    def size(self, screen: Size) -> Size:
        """Return the scaled size, at least 1 px."""
        return Size(*(max(1, round(side * self.factor)) for side in screen))


@dataclass(frozen=True, slots=True)
class Bounded:
    """Shrinks a picture, with its proportions, into a vendor's limits; never enlarges it.

    Attributes:
        max_side_px: limit of the longer side.
        max_pixels: limit of the area.
        tile_px: side of the tiles that the vendor cuts pictures into; 0 if it cuts none.
        max_tiles: limit of the number of tiles.
    """

    max_side_px: int
    max_pixels: int = 0
    tile_px: int = 0
    max_tiles: int = 0

    def size(self, screen: Size) -> Size:
        """Return the largest size within the limits."""
        width, height = screen
        factor = min(1.0, self.max_side_px / max(screen))
        if self.max_pixels:
            factor = min(factor, math.sqrt(self.max_pixels / (width * height)))
        size = self._at(screen, factor)
        while self.max_tiles and self._tiles(size) > self.max_tiles:
            size = self._at(screen, (max(size) - 1) / max(screen))
        return size

    def _tiles(self, size: Size) -> int:
        return math.prod(-(-side // self.tile_px) for side in size)

    @staticmethod
    def _at(screen: Size, factor: float) -> Size:
        if factor >= 1:
            return screen
        return Size(*(max(1, math.floor(side * factor)) for side in screen))


@dataclass(frozen=True, slots=True)
class SmartResize:
    """Resizes to multiples of a factor, so that the area is within limits, as Qwen's processor does.

    Both sides are rounded on their own: their scale factors differ a little.

    Source: qwen-vl-utils, ``smart_resize``.

    Attributes:
        factor: both sides are multiples of it, px.
        min_pixels: smallest area.
        max_pixels: largest area.
    """

    factor: int
    min_pixels: int
    max_pixels: int

    def size(self, screen: Size) -> Size:
        """Return the size that the model's processor keeps."""
        sides = [max(self.factor, round(side / self.factor) * self.factor) for side in screen]
        area = math.prod(sides)
        if area > self.max_pixels:
            shrink = math.sqrt(math.prod(screen) / self.max_pixels)
            sides = [self._multiple(math.floor, side / shrink) for side in screen]
        elif area < self.min_pixels:
            grow = math.sqrt(self.min_pixels / math.prod(screen))
            sides = [self._multiple(math.ceil, side * grow) for side in screen]
        return Size(*sides)

    def _multiple(self, rounded: _Rounding, side: float) -> int:
        return max(self.factor, rounded(side / self.factor) * self.factor)


class _Rounding(Protocol):
    def __call__(self, value: float, /) -> int: ...


def resize_png(png: bytes, size: Size) -> bytes:
    """Return a picture at another size, as PNG; unchanged if it has that size."""
    with Image.open(io.BytesIO(png)) as picture:
        if picture.size == size:
            return png
        out = io.BytesIO()
        resized = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        resized.save(out, "PNG", compress_level=1)
        return out.getvalue()
