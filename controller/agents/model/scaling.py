"""Scale down screenshots for a model, and convert its coordinates back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from controller.observation.observer import encode_png

if TYPE_CHECKING:
    from controller.observation.observer import Screenshot


class ScaledScreenshot:
    """A screenshot scaled for a model.

    Args:
        shot: screenshot of a machine.
        scale: scale factor, above 0 and at most 1; 1 leaves it unchanged.
    """

    def __init__(self, shot: Screenshot, scale: float) -> None:
        self._shot = shot
        height, width = shot.frame.shape[:2]
        self._real_px = (width, height)
        self.size_px = (max(1, round(width * scale)), max(1, round(height * scale)))

    @property
    def is_scaled(self) -> bool:
        """Whether its coordinates differ from those of the machine's screen."""
        return self.size_px != self._real_px

    def png(self) -> bytes:
        """Return the scaled image as PNG."""
        if not self.is_scaled:
            return self._shot.png
        image = Image.fromarray(self._shot.frame).resize(self.size_px, Image.Resampling.LANCZOS)
        return encode_png(np.asarray(image))

    def to_scaled(self, point: tuple[int, int]) -> tuple[int, int]:
        """Convert a point on the machine's screen to coordinates in the scaled image."""
        x, y = (point[axis] * self.size_px[axis] // self._real_px[axis] for axis in (0, 1))
        return x, y

    def to_machine(self, value: int, axis: int) -> int:
        """Convert a coordinate from the scaled image to the machine's screen.

        Args:
            value: the coordinate.
            axis: 0 for horizontal, 1 for vertical.
        """
        shown, real = self.size_px[axis], self._real_px[axis]
        # The centre of the chosen pixel; the last pixel stays on the screen.
        return value if shown == real else (2 * value + 1) * real // (2 * shown)
