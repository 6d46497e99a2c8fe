"""Pictures as models receive them: size, format, and the way back to the screen's coordinates."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from PIL import Image

from controller.specification.observation import ImageSpec
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    import numpy.typing as npt

    Frame = npt.NDArray[np.uint8]

_PNG_SPEC: Final = ImageSpec()


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a screen is in a picture of it.

    Attributes:
        size_px: width and height of the picture.
        inside_px: the part of the picture that shows the screen.
    """

    size_px: tuple[int, int]
    inside_px: Bounds


def fit_screen(screen_px: tuple[int, int], spec: ImageSpec) -> Layout:
    """Return the layout of a screen's picture.

    Args:
        screen_px: width and height of the screen.
        spec: the wanted size, and how it is reached.
    """
    width, height = screen_px
    box = (spec.width or width, spec.height or height)
    if spec.fit == "stretch":
        return _whole(box)
    scale = min(box[0] / width, box[1] / height)
    if spec.fit == "scale":
        scale = min(scale, 1.0)
    shown = (max(1, round(width * scale)), max(1, round(height * scale)))
    if spec.fit == "scale":
        return _whole(shown)
    left, top = (box[0] - shown[0]) // 2, (box[1] - shown[1]) // 2
    return Layout(box, Bounds(left, top, left + shown[0], top + shown[1]))


def _whole(size_px: tuple[int, int]) -> Layout:
    return Layout(size_px, Bounds(0, 0, *size_px))


class Picture:
    """A screen's picture for a model; it is drawn and encoded when its data is requested.

    Args:
        frame: the screen, with what is drawn on it: uint8 array (H, W, 3), RGB.
        spec: size and format.
        png: the frame as PNG, if it has been encoded before.
        layout: where the screen is in the picture; that of `spec` by default.
    """

    def __init__(
        self,
        frame: Frame,
        spec: ImageSpec = _PNG_SPEC,
        *,
        png: bytes | None = None,
        layout: Layout | None = None,
    ) -> None:
        height, width = frame.shape[:2]
        self._frame = frame
        self._spec = spec
        self._png = png
        self._screen_px = (width, height)
        self._layout = layout or fit_screen(self._screen_px, spec)
        self._data: bytes | None = None

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the picture."""
        return self._layout.size_px

    @property
    def screen_px(self) -> tuple[int, int]:
        """Width and height of the screen."""
        return self._screen_px

    @property
    def is_mapped(self) -> bool:
        """Whether its coordinates differ from those of the screen."""
        return self._layout != _whole(self._screen_px)

    @property
    def is_plain(self) -> bool:
        """Whether it is the screenshot itself: nothing is drawn on it, and it has its PNG."""
        return self._png is not None and self._spec.format == "png" and not self.is_mapped

    @property
    def media_type(self) -> str:
        """Media type of its data."""
        return f"image/{self._spec.format}"

    def data(self) -> bytes:
        """Return the encoded picture."""
        if self._data is None:
            self._data = self._encode()
        return self._data

    def fitted(self, spec: ImageSpec) -> Picture:
        """Return the same picture with another size and format, as a model's adapter wants it."""
        return Picture(self._frame, spec, png=self._png)

    def scaled(self, scale: float) -> Picture:
        """Return the same picture, smaller.

        Args:
            scale: factor of both sides, above 0 and at most 1; 1 returns the picture itself.
        """
        if scale == 1:
            return self
        (width, height), inside = self._layout.size_px, self._layout.inside_px
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        left, top = round(inside.left * scale), round(inside.top * scale)
        right = size[0] if inside.right == width else round(inside.right * scale)
        bottom = size[1] if inside.bottom == height else round(inside.bottom * scale)
        layout = Layout(size, Bounds(left, top, right, bottom))
        return Picture(self._frame, self._spec, png=self._png, layout=layout)

    def resized(self, other: Picture) -> Picture:
        """Return the same picture with the size and format of another one."""
        return Picture(self._frame, other._spec, png=self._png, layout=other._layout)

    def to_picture(self, point: tuple[int, int]) -> tuple[int, int]:
        """Convert a point on the screen to coordinates in the picture."""
        starts, shown = self._axes()
        x, y = (
            starts[axis] + point[axis] * shown[axis] // self._screen_px[axis] for axis in (0, 1)
        )
        return x, y

    def to_machine(self, value: int, axis: int) -> int:
        """Convert a coordinate in the picture to the screen; one in a border becomes the edge's.

        Args:
            value: the coordinate.
            axis: 0 for horizontal, 1 for vertical.
        """
        starts, shown = self._axes()
        real: int = self._screen_px[axis]
        if shown[axis] == real:
            return min(max(value - starts[axis], 0), real - 1)
        # The centre of the chosen pixel; the last pixel stays on the screen.
        place = (2 * (value - starts[axis]) + 1) * real // (2 * shown[axis])
        return min(max(place, 0), real - 1)

    def _axes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        inside = self._layout.inside_px
        size = (inside.right - inside.left, inside.bottom - inside.top)
        return (inside.left, inside.top), size

    def _encode(self) -> bytes:
        if self._spec.format == "png" and not self.is_mapped:
            return self._png or encode_png(self._frame)
        image = Image.fromarray(self._frame)
        if self.is_mapped:
            (left, top), size = self._axes()
            shown = image.resize(size, Image.Resampling.LANCZOS)
            image = Image.new("RGB", self._layout.size_px)
            image.paste(shown, (left, top))
        if self._spec.format == "png":
            return encode_png(np.asarray(image))
        out = io.BytesIO()
        image.save(out, self._spec.format.upper(), quality=self._spec.quality)
        return out.getvalue()


def encode_png(frame: Frame) -> bytes:
    """Compress a frame losslessly, optimized for speed rather than size."""
    out = io.BytesIO()
    Image.fromarray(frame).save(out, "PNG", compress_level=1)
    return out.getvalue()
