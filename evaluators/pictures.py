"""Decode pictures from guests, within size limits."""

from __future__ import annotations

import base64
import binascii
import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps

from foundation.errors import EvaluationError, ObstructedEvaluationError

if TYPE_CHECKING:
    import numpy.typing as npt

    Pixels = npt.NDArray[np.uint8]

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")
MAX_PIXELS = 40_000_000
_PARENTS = {"MPO": "JPEG"}
"""Formats that are another format with further pictures after the first."""
_DATA_URL = "data:image/"
_VECTORS = (b"\xd7\xcd\xc6\x9a", b"\x01\x00\x09\x00", b"%PDF-")
"""First bytes of WMF, with and without a placeable header, and of PDF."""
_MAX_PROLOGUE = 4096


@dataclass(frozen=True, slots=True)
class Picture:
    """A decoded picture.

    Attributes:
        pixels: uint8 array (H, W, 3), RGB, origin top left, as displayed: in its EXIF orientation,
            with transparency over white.
        format: format of its file, one of `FORMATS`.
        mode: Pillow's mode: ``L`` for grey, ``RGB``, ``RGBA``, ``P`` ...
    """

    pixels: Pixels
    format: str
    mode: str

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in px."""
        return int(self.pixels.shape[1]), int(self.pixels.shape[0])

    def with_pixels(self, pixels: Pixels) -> Picture:
        """Return a copy with other pixels."""
        return replace(self, pixels=np.ascontiguousarray(pixels))

    def grey(self) -> npt.NDArray[np.float32]:
        """Return the brightness of each pixel (ITU-R BT.601), 0 to 255, float32 array (H, W)."""
        weights = np.array([0.299, 0.587, 0.114], dtype=np.float32)
        return np.asarray(self.pixels.astype(np.float32) @ weights, dtype=np.float32)


def unusable(source: str, brief: str, details: str = "") -> EvaluationError:
    """Return the error for a picture that an evaluator needs and cannot use.

    An unusable inline picture is an error of the task; a file existed when the trial began.

    Args:
        source: path of its file, or ``data:image/png;base64,...``.
        brief: description of the problem.
        details: further details.
    """
    kind = EvaluationError if source.startswith("data:") else ObstructedEvaluationError
    return kind(brief, details)


def is_picture(data: bytes) -> bool:
    """Return whether a file is a picture that `decode_picture` decodes, or has a vector format."""
    if data[40:44] == b" EMF" or data.startswith(_VECTORS):
        return True
    return b"<svg" in data[:_MAX_PROLOGUE] or decode_picture(data) is not None


def decode_picture(data: bytes, *, is_oriented: bool = True) -> Picture | None:
    """Decode a picture's first frame; None if it is corrupt, not a picture or over 40 megapixels.

    Args:
        data: the file; the format is detected from the content.
        is_oriented: whether it is turned into its EXIF orientation, which not all programs do.
    """
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                return None
            opened.load()
            shown = _eight_bits(ImageOps.exif_transpose(opened) if is_oriented else opened)
            has_alpha = "A" in shown.getbands() or "transparency" in shown.info
            rgba = shown.convert("RGBA") if has_alpha else shown.convert("RGB")
            if has_alpha:
                rgba = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
            form = opened.format or ""
            return Picture(np.array(rgba.convert("RGB")), _PARENTS.get(form, form), opened.mode)
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, Image.DecompressionBombError):
        return None


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Scale a 16-bit grey picture to 8 bits, because Pillow would clip it at 255."""
    if not picture.mode.startswith("I;16"):
        return picture
    return Image.fromarray((np.asarray(picture, dtype=np.uint16) // 257).astype(np.uint8))


def picture_of_url(url: str) -> bytes | None:
    """Return the file in a ``data:image/...;base64,`` URL; None if it is not such a URL."""
    head, comma, body = url.partition(",")
    if not head.startswith(_DATA_URL) or not head.endswith(";base64") or not comma:
        return None
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        return None
