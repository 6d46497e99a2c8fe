"""Convert a model's coordinates to the screen of a machine, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from controller.models.pictures.sizing import Size, Sizer

Place = tuple[float, float]
"""Horizontal and vertical coordinate, as a model writes them."""


class Kind(StrEnum):
    """What coordinates refer to."""

    PIXELS = "pixels"
    """px of the picture that was sent."""
    RESIZED = "resized"
    """px of the picture after the resizing by the model's own processor."""
    GRID = "grid"
    """A grid that covers the picture, whatever its size, such as 0 to 1000."""
    RATIO = "ratio"
    """Parts of the picture's width and height, 0 to 1."""


class CoordinateError(MesocosmError):
    """Coordinates are not numbers, or not on the picture."""

    code = "model_coordinates"


@dataclass(frozen=True, slots=True)
class Coordinates:
    """What the coordinates of a family of models refer to.

    Attributes:
        kind: what they refer to.
        steps: value that stands for the right or lower edge of a grid, such as 1000 or 999.
        processor: resizing by the model's processor, for `Kind.RESIZED`.
    """

    kind: Kind
    steps: int = 1000
    processor: Sizer | None = None

    def extent(self, sent: Size) -> tuple[float, float]:
        """Return the coordinates of the lower right corner of a picture that was sent."""
        match self.kind:
            case Kind.GRID:
                return self.steps, self.steps
            case Kind.RATIO:
                return 1, 1
            case Kind.RESIZED if self.processor is not None:
                return self.processor.size(sent)
            case _:
                return sent

    def to_screen(self, place: Place, sent: Size, screen: Size) -> tuple[int, int]:
        """Return the pixel of a screen that a model means.

        A place on the right or lower edge is the last pixel.

        Args:
            place: coordinates as the model writes them.
            sent: size of the picture that it was sent.
            screen: size of the machine's screen.

        Raises:
            CoordinateError: they are not finite, or outside the picture.
        """
        x, y = (
            self._pixel(value, whole, side)
            for value, whole, side in zip(place, self.extent(sent), screen, strict=True)
        )
        return x, y

    def to_model(self, point: tuple[float, float], sent: Size, screen: Size) -> Place:
        """Return the coordinates that a model writes for a point of a screen."""
        x, y = (
            value / side * whole
            for value, side, whole in zip(point, screen, self.extent(sent), strict=True)
        )
        return (x, y) if self.kind is Kind.RATIO else (math.floor(x), math.floor(y))

    def _pixel(self, value: float, whole: float, side: int) -> int:
        if not (math.isfinite(value) and 0 <= value <= whole):
            raise CoordinateError(
                f"The coordinate {value:g} is outside the picture.",
                details=f"Coordinates go from 0 to {whole:g}.",
            )
        is_pixel = self.kind in {Kind.PIXELS, Kind.RESIZED}
        if is_pixel and whole == side:
            return min(side - 1, int(value))
        # The centre of the chosen pixel of the picture; grids and ratios name points.
        centre = int(value) + 0.5 if is_pixel else value
        return min(side - 1, int(centre / whole * side))
