"""Screenshots made smaller for a model, and its coordinates converted back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from controller.observation.observer import encode_png

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.observation.observer import Shot
    from provisioning.protocols import Json

_AXES = {"x": 0, "to_x": 0, "y": 1, "to_y": 1}
"""Arguments of actions that are coordinates, by axis."""


class Scaled:
    """One screenshot as a model is shown it.

    Args:
        shot: of a machine.
        scale: above 0, at most 1, which leaves it as it is.
    """

    def __init__(self, shot: Shot, scale: float) -> None:
        self._shot = shot
        height, width = shot.frame.shape[:2]
        self._real_px = (width, height)
        self.size_px = (max(1, round(width * scale)), max(1, round(height * scale)))

    def png(self) -> bytes:
        """Return the picture."""
        if self.size_px == self._real_px:
            return self._shot.png
        image = Image.fromarray(self._shot.frame).resize(self.size_px, Image.Resampling.LANCZOS)
        return encode_png(np.asarray(image))

    def shown(self, point: tuple[int, int]) -> tuple[int, int]:
        """Return where a point of the machine's screen is in the picture."""
        x, y = (point[axis] * self.size_px[axis] // self._real_px[axis] for axis in (0, 1))
        return x, y

    def real(self, args: Mapping[str, Json]) -> dict[str, Json]:
        """Return an action's arguments with the coordinates of the machine's screen."""
        return {name: self._real(name, value) for name, value in args.items()}

    def _real(self, name: str, value: Json) -> Json:
        axis = _AXES.get(name)
        if axis is None or isinstance(value, bool) or not isinstance(value, int):
            return value
        shown, real = self.size_px[axis], self._real_px[axis]
        # The middle of the pixel that was named; the last one stays on the screen.
        return value if shown == real else (2 * value + 1) * real // (2 * shown)
