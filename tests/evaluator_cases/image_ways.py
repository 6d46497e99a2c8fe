"""Forged pictures of an original, and legitimate ones that are created differently."""

from __future__ import annotations

import io
import struct
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageFilter, ImageOps

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import as_url, encoded, noise, scaled
from tests.evaluator_cases.invoice_pictures import forged_pages, honest_pages, invoice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evaluators.pictures import Pixels
    from evaluators.testing.case import Case

    Args = Mapping[str, Any]
    Files = Mapping[str, Callable[[], bytes]]

CAT = noise(1)
DOG = noise(2)
NIGHT = np.ascontiguousarray(CAT // 16)
NIGHT[:, 80:] += 120
"""A dark picture in which a spot changes mean and contrast more than the structure."""
_STRONG: Pixels = np.kron(
    np.array(
        [
            [[144, 36, 216], [0, 216, 180], [72, 144, 108], [144, 180, 144]],
            [[180, 0, 216], [252, 36, 36], [216, 36, 72], [108, 108, 216]],
            [[108, 108, 180], [36, 180, 180], [180, 0, 252], [72, 72, 252]],
        ],
        np.uint8,
    ),
    np.ones((40, 40, 1), np.uint8),
).astype(np.uint8)
"""A picture whose lightness differs from its luma, mean and value."""
_WHITE = np.full_like(CAT, 255)
_EXIF = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0%c\0\0\0\0\0\0"
_TURNED_BACK, _TURNED_ON = 8, 6


def size_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a size of 160 by 120 px."""
    forgeries = {
        "size only declared in the header": lambda: _claimed(CAT[:10, :10], 160, 120),
        "size of the second frame": lambda: frames(CAT[:10, :10], CAT),
    }
    ways = {
        "indexed colours": lambda: saved(Image.fromarray(CAT).quantize(256), "GIF"),
        "camera format with a second picture": lambda: frames(CAT, DOG, "MPO"),
    }
    return _cases(args, forgeries, ways)


def format_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a JPEG."""
    jpeg = encoded(CAT, "JPEG")
    forgeries = {
        "JPEG after a PNG": lambda: encoded(CAT) + jpeg,
        "JPEG header before a PNG": lambda: jpeg[:20] + encoded(CAT),
    }
    ways = {
        "progressive": lambda: encoded(CAT, "JPEG", progressive=True),
        "camera format with a second picture": lambda: frames(CAT, DOG, "MPO"),
    }
    return _cases(args, forgeries, ways)


def same_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a picture like the original."""
    spoilt = CAT.copy()
    spoilt[40:56, 60:76] = DOG[40:56, 60:76]
    forgeries = {
        "fully transparent": lambda: encoded(veiled(CAT, 0)),
        "a small part replaced": lambda: encoded(spoilt),
        "blurred beyond recognition": lambda: encoded(scaled(scaled(CAT, 8, 6), 160, 120)),
    }
    ways = {
        "indexed colours": lambda: saved(Image.fromarray(CAT).quantize(256), "GIF"),
        "WebP": lambda: encoded(CAT, "WEBP", quality=80),
        "stored rotated, displayed upright": lambda: _shown(np.rot90(CAT, -1), _TURNED_BACK),
    }
    return (*_cases(args, forgeries, ways), *page_cases(args))


def page_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a picture like an invoice."""
    of_page = {**args, "original": as_url(encoded(invoice()))}
    forgeries = {
        f"invoice: {name}": partial(encoded, page) for name, page in forged_pages().items()
    }
    ways = {f"invoice: {name}": partial(encoded, page) for name, page in honest_pages().items()}
    compressed: Files = {
        "invoice: as JPEG": partial(encoded, invoice(), "JPEG", quality=60),
        "invoice: as GIF": lambda: saved(Image.fromarray(invoice()).quantize(256), "GIF"),
        "invoice: half size, as JPEG": partial(
            encoded, honest_pages()["half size"], "JPEG", quality=75
        ),
    }
    return _cases(of_page, forgeries, {**ways, **compressed})


def brightness_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a brightened picture."""
    spot = NIGHT.copy()
    spot[:18, :20] = 255
    of_night = {**args, "original": as_url(encoded(NIGHT))}
    forgeries = {
        "white spot": lambda: encoded(spot),
    }
    partly = {"half of the picture brighter": partial(_partly_brighter, 60)}
    ways = {
        "with a gamma curve": lambda: encoded(_curved(CAT, lambda tone: tone**0.7)),
        "as JPEG": lambda: encoded(_curved(CAT, lambda tone: tone**0.8), "JPEG", quality=70),
    }
    return (*_cases(of_night, forgeries, {}), *_cases(args, partly, ways))


def _partly_brighter(rows: int) -> bytes:
    changed = np.clip(CAT[:rows] + 20.0, 0, 255).astype(np.uint8)
    return encoded(np.vstack([changed, CAT[rows:]]))


def contrast_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a picture with more contrast."""
    spot = NIGHT.copy()
    spot[:14, -20:] = 255
    of_night = {**args, "original": as_url(encoded(NIGHT))}
    forgeries = {
        "white spot": lambda: encoded(spot),
    }
    sharp = Image.fromarray(CAT).filter(ImageFilter.UnsharpMask(6, 150, 0))
    not_tones = {"sharpened": lambda: saved(sharp, "PNG")}
    cat = Image.fromarray(CAT)
    steeper = _curved(CAT, lambda tone: tone * tone * (3 - 2 * tone))
    ways = {
        "with a tone curve": lambda: encoded(steeper),
        "as JPEG": lambda: encoded(steeper, "JPEG", quality=80),
        "each colour channel separately": lambda: saved(ImageOps.autocontrast(cat, 2), "PNG"),
    }
    return (
        *_cases(of_night, forgeries, {}),
        *_cases(args, not_tones, ways),
    )


def grey_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a picture without colours."""
    luma = CAT @ np.array([0.299, 0.587, 0.114])
    spot = _grey(luma)
    spot[:12, :15] = CAT[:12, :15]
    sepia = np.clip(luma[:, :, None] * np.array([1.07, 0.95, 0.8]), 0, 255).astype(np.uint8)
    values = CAT.astype(float)
    lightness = (values.max(axis=2) + values.min(axis=2)) / 2
    forgeries = {
        "coloured spot": lambda: encoded(spot),
        "sepia": lambda: encoded(sepia),
    }
    ways = {
        "from the mean": lambda: encoded(_grey(values.mean(axis=2))),
        "from the lightness": lambda: encoded(_grey(lightness)),
    }
    strong = {**args, "original": as_url(encoded(_STRONG))}
    extremes = _STRONG.astype(float)
    level = (extremes.max(axis=2) + extremes.min(axis=2)) / 2
    in_strong = {"strong colours, from the lightness": lambda: encoded(_grey(level))}
    return (*_cases(args, forgeries, ways), *_cases(strong, {}, in_strong))


def turned_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a picture rotated clockwise."""
    turned = np.rot90(CAT, -1)
    forgeries = {
        "rotated, and displayed as before": lambda: _shown(turned, _TURNED_BACK),
        "rows and columns swapped": lambda: encoded(CAT.transpose(1, 0, 2)),
    }
    ways = {
        "only displayed rotated": lambda: _shown(CAT, _TURNED_ON),
        "scaled, JPEG": lambda: encoded(scaled(turned, 90, 120), "JPEG"),
    }
    of_page = {**args, "original": as_url(encoded(invoice()))}
    pages = _cases(
        of_page,
        {"invoice: different amount": lambda: encoded(np.rot90(invoice("928.50"), -1))},
        {"invoice": lambda: encoded(np.rot90(invoice(), -1), "JPEG")},
    )
    return (*_cases(args, forgeries, ways), *pages)


def cropped_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of the part of 60 by 50 px at (40, 20)."""
    part = CAT[20:70, 40:100]
    alone = np.full_like(CAT, 255)
    alone[20:70, 40:100] = part
    forgeries: dict[str, Callable[[], bytes]] = {
        "rest painted over": lambda: encoded(alone),
        "shifted by 3 px": partial(_part_at, 43, 20),
    }
    ways = {
        "shifted by 2 px": lambda: encoded(CAT[22:72, 42:102]),
        "stored rotated, displayed upright": lambda: _shown(np.rot90(part, -1), _TURNED_BACK),
    }
    page = {
        **args,
        "original": as_url(encoded(invoice())),
        "left": 20,
        "top": 30,
        "width": 300,
        "height": 500,
    }
    pages = _cases(
        page,
        {"invoice: different amount": lambda: encoded(invoice("928.50")[30:530, 20:320])},
        {"invoice, shifted by one px": lambda: encoded(invoice()[31:531, 21:321], "JPEG")},
    )
    return (*_cases(args, forgeries, ways), *_fine_crops(args), *pages)


def _part_at(left: int, top: int) -> bytes:
    return encoded(CAT[top : top + 50, left : left + 60])


def _fine_crops(args: Args) -> tuple[Case, ...]:
    """Return cases of a part of an original with details as small as the tolerance."""
    fine = noise(4, cells=(80, 60))
    of_fine = {**args, "original": as_url(encoded(fine))}
    return _cases(
        of_fine,
        {"fine details, shifted by 3 px": lambda: encoded(fine[20:70, 43:103])},
        {"fine details, shifted by 2 px": lambda: encoded(fine[18:68, 42:102])},
    )


def pair_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of two pictures side by side."""
    dog = scaled(DOG, 160, 120)
    both = np.hstack([CAT, dog])
    covered = both.copy()
    covered[:, 160:200] = CAT[:, -40:]
    forgeries = {
        "first picture covers part of the second": lambda: encoded(covered),
        "second picture transparent": lambda: encoded(
            np.hstack([veiled(CAT, 255), veiled(dog, 0)])
        ),
    }
    gap = np.hstack([CAT, _WHITE[:, :2], dog])
    ways = {
        "gap of 2 px": lambda: encoded(gap),
        "indexed colours": lambda: saved(Image.fromarray(both).quantize(256), "PNG"),
    }
    page, changed = invoice(), invoice("928.50")
    of_pages = {**args, "first": as_url(encoded(page)), "second": as_url(encoded(changed))}
    pages = _cases(
        of_pages,
        {
            "invoices: different amount": lambda: encoded(np.hstack([page, page])),
        },
        {
            "invoices": lambda: encoded(np.hstack([page, changed]), "JPEG"),
        },
    )
    return (*_cases(args, forgeries, ways), *pages)


def _cases(args: Args, forgeries: Files, ways: Files) -> tuple[Case, ...]:
    path = args["path"]
    return (
        *(forged(name, at(path, make), **args) for name, make in forgeries.items()),
        *(another_way(name, at(path, make), **args) for name, make in ways.items()),
    )


def saved(picture: Image.Image, form: str, **options: Any) -> bytes:
    """Save a picture of Pillow."""
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def frames(first: Pixels, second: Pixels, form: str = "TIFF") -> bytes:
    """Create a file of two pictures."""
    further = [Image.fromarray(np.ascontiguousarray(second))]
    picture = Image.fromarray(np.ascontiguousarray(first))
    return saved(picture, form, save_all=True, append_images=further)


def _claimed(pixels: Pixels, width: int, height: int) -> bytes:
    """Create a PNG whose header declares a different size."""
    data = encoded(pixels)
    head = b"IHDR" + struct.pack(">II", width, height) + data[24:29]
    return data[:12] + head + struct.pack(">I", zlib.crc32(head)) + data[33:]


def _shown(pixels: Pixels, orientation: int) -> bytes:
    """Create a JPEG that is displayed rotated."""
    return encoded(pixels, "JPEG", quality=95, exif=_EXIF % orientation)


def veiled(pixels: Pixels, alpha: int) -> Pixels:
    """Add an alpha channel."""
    return np.dstack([pixels, np.full(pixels.shape[:2], alpha, np.uint8)])


def _grey(level: Any) -> Pixels:
    return np.repeat(np.asarray(level).astype(np.uint8)[:, :, None], 3, axis=2)


def _curved(pixels: Pixels, curve: Callable[[Any], Any]) -> Pixels:
    """Apply a tone curve from 0 to 1."""
    tones: Pixels = np.clip(curve(pixels / 255.0) * 255, 0, 255).astype(np.uint8)
    return tones
