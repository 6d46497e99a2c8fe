"""Encode pictures as PNG and raw bytes."""

from __future__ import annotations

import zlib
from struct import pack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL import Image

_LEVEL = 1
_BAND_ROWS = 16


def encode_png(image: Image.Image) -> bytes:
    """Return the PNG of an RGB image; much faster than Pillow's encoder, which tries filters.

    It works in bands, so that the data being compressed is still in the processor's cache.
    """
    width, height = image.size
    stride = width * 3
    packer = zlib.compressobj(_LEVEL)
    packed = []
    for band in _bands(image):
        raw = band.tobytes()
        rows = b"".join(b"\0" + raw[start : start + stride] for start in range(0, len(raw), stride))
        packed.append(packer.compress(rows))
    parts = (
        (b"IHDR", pack(">2I5B", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", b"".join((*packed, packer.flush()))),
        (b"IEND", b""),
    )
    chunks = (
        pack(">I", len(data)) + name + data + pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def encode_rgba(image: Image.Image) -> bytes:
    """Return 8 bits of red, green, blue and full alpha for each pixel of an RGB image."""
    return image.convert("RGBA").tobytes()


def _bands(image: Image.Image) -> Iterator[Image.Image]:
    width, height = image.size
    for top in range(0, height, _BAND_ROWS):
        yield image.crop((0, top, width, min(height, top + _BAND_ROWS)))
