"""View of a picture: decoded, oriented, and in sRGB."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageCms, ImageOps

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import Reply, encode_png

if TYPE_CHECKING:
    from images.renderer.program.office import Office

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")
MAX_PIXELS = 40_000_000
_INVALID = (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError)


def view_picture(office: Office, data: bytes, request: dict[str, Any]) -> Reply:
    """Return the view of a picture; its page is the picture itself.

    Args:
        office: unused.
        data: the file.
        request: whether the picture is wanted.

    Raises:
        DocumentError: it is no picture of a known format, or too large.
    """
    del office
    if request["shown"]:
        raise DocumentError("Items of pictures cannot be decided.")
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS // 2  # Pillow refuses from twice of it
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
            shown = _shown(picture)
            view: dict[str, Any] = {
                "kind": "picture",
                "format": picture.format,
                "mode": picture.mode,
                "width_px": shown.width,
                "height_px": shown.height,
                "frames": getattr(picture, "n_frames", 1),
                "has_transparency": picture.has_transparency_data,
                "shown": [],
            }
    except _INVALID as exc:
        raise DocumentError(f"Pillow: {exc}") from exc
    return Reply(view, [encode_png(shown)] if request["pages"] else [])


def _shown(picture: Image.Image) -> Image.Image:
    """Return the picture as it is displayed, over white."""
    profile = picture.info.get("icc_profile")
    oriented = ImageOps.exif_transpose(picture)
    if picture.has_transparency_data:
        layer = oriented.convert("RGBA")
        oriented = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    if profile and oriented.mode in {"RGB", "CMYK", "L"}:
        return _to_srgb(oriented, profile)
    return oriented.convert("RGB")


def _to_srgb(picture: Image.Image, profile: bytes) -> Image.Image:
    """Apply a colour profile; a damaged one is ignored, as viewers do."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        target = ImageCms.createProfile("sRGB")
        converted = ImageCms.profileToProfile(picture, source, target, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, TypeError):
        return picture.convert("RGB")
    return converted or picture.convert("RGB")
