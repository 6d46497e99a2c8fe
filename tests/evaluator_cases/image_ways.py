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
        "16-bit grey": lambda: saved(_deep(CAT), "PNG"),
        "camera format with a second picture": lambda: frames(CAT, DOG, "MPO"),
    }
    return _cases(args, forgeries, ways)


def format_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a JPEG."""
    jpeg = encoded(CAT, "JPEG")
    forgeries = {
        "JPEG after a PNG": lambda: encoded(CAT) + jpeg,
        "JPEG header before a PNG": lambda: jpeg[:20] + encoded(CAT),
        "JPEG header and end only": lambda: jpeg[:20] + jpeg[-2:],
    }
    ways = {
        "progressive": lambda: encoded(CAT, "JPEG", progressive=True),
        "CMYK": lambda: saved(Image.fromarray(CAT).convert("CMYK"), "JPEG"),
        "grey": lambda: encoded(CAT[:, :, 0], "JPEG"),
        "camera format with a second picture": lambda: frames(CAT, DOG, "MPO"),
    }
    return _cases(args, forgeries, ways)


def same_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a picture like the original."""
    spoilt = CAT.copy()
    spoilt[40:56, 60:76] = DOG[40:56, 60:76]
    forgeries = {
        "fully transparent": lambda: encoded(veiled(CAT, 0)),
        "in the second frame": lambda: frames(DOG, CAT),
        "a small part replaced": lambda: encoded(spoilt),
        "blurred beyond recognition": lambda: encoded(scaled(scaled(CAT, 8, 6), 160, 120)),
    }
    ways = {
        "indexed colours": lambda: saved(Image.fromarray(CAT).quantize(256), "GIF"),
        "CMYK": lambda: saved(Image.fromarray(CAT).convert("CMYK"), "TIFF"),
        "WebP": lambda: encoded(CAT, "WEBP", quality=80),
        "stored rotated, displayed upright": lambda: _shown(np.rot90(CAT, -1), _TURNED_BACK),
        "with an opaque alpha channel": lambda: encoded(veiled(CAT, 255)),
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
    spot, edge = NIGHT.copy(), NIGHT.copy()
    spot[:18, :20] = 255
    edge[:2] = edge[-1:] = 255
    of_night = {**args, "original": as_url(encoded(NIGHT))}
    forgeries = {
        "white spot": lambda: encoded(spot),
        "white edges": lambda: encoded(edge),
    }
    partly = {
        f"{name} brighter": partial(_partly_brighter, rows)
        for name, rows in (("half of the picture", 60), ("three fifths of the picture", 72))
    }
    ways = {
        "with a gamma curve": lambda: encoded(_curved(CAT, lambda tone: tone**0.7)),
        "with semi-transparent white": lambda: encoded((CAT * 0.8 + 51).astype(np.uint8)),
        "with transparency": lambda: encoded(veiled(CAT, 200)),
        "without colours": lambda: encoded(_grey(CAT @ np.array([0.299, 0.587, 0.114]) + 25)),
        "as JPEG": lambda: encoded(_curved(CAT, lambda tone: tone**0.8), "JPEG", quality=70),
    }
    return (*_cases(of_night, forgeries, {}), *_cases(args, partly, ways))


def _partly_brighter(rows: int) -> bytes:
    changed = np.clip(CAT[:rows] + 20.0, 0, 255).astype(np.uint8)
    return encoded(np.vstack([changed, CAT[rows:]]))


def contrast_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a picture with more contrast."""
    spot, spots = NIGHT.copy(), NIGHT.copy()
    spot[:14, -20:] = 255
    spots[:14, -10:] = spots[-14:, -10:] = 255
    of_night = {**args, "original": as_url(encoded(NIGHT))}
    forgeries = {
        "white spot": lambda: encoded(spot),
        "two white corners": lambda: encoded(spots),
    }
    dull = Image.fromarray(CAT).filter(ImageFilter.GaussianBlur(6))
    sharp = Image.fromarray(CAT).filter(ImageFilter.UnsharpMask(6, 150, 0))
    not_tones = {"sharpened": lambda: saved(sharp, "PNG")}
    blurred = {"blurred": lambda: saved(dull, "PNG")}
    less = {**args, "direction": "less"}
    cat = Image.fromarray(CAT)
    steeper = _curved(CAT, lambda tone: tone * tone * (3 - 2 * tone))
    ways = {
        "with a tone curve": lambda: encoded(steeper),
        "with stretched levels": lambda: encoded(_curved(CAT, lambda tone: tone * 1.4 - 0.2)),
        "as JPEG": lambda: encoded(steeper, "JPEG", quality=80),
        "each colour channel separately": lambda: saved(ImageOps.autocontrast(cat, 2), "PNG"),
        "equalised": lambda: saved(ImageOps.equalize(cat), "PNG"),
        "four times as much": lambda: encoded(_curved(CAT, lambda tone: tone * 4 - 1.5)),
    }
    paler = {
        "slightly, as JPEG": lambda: encoded((CAT * 0.9 + 12).astype(np.uint8), "JPEG", quality=75),
    }
    return (
        *_cases(of_night, forgeries, {}),
        *_cases(args, not_tones, ways),
        *_cases(less, blurred, paler),
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
        "grey in the second frame": lambda: frames(CAT, _grey(luma)),
    }
    ways = {
        "from the mean": lambda: encoded(_grey(values.mean(axis=2))),
        "from the lightness": lambda: encoded(_grey(lightness)),
        "from the value": lambda: encoded(_grey(values.max(axis=2))),
        "16 bits": lambda: saved(_deep(CAT), "PNG"),
        "with an opaque alpha channel": lambda: encoded(veiled(_grey(luma), 255)),
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
        "rotated in the second frame": lambda: frames(CAT, turned),
    }
    ways = {
        "only displayed rotated": lambda: _shown(CAT, _TURNED_ON),
        "scaled, JPEG": lambda: encoded(scaled(turned, 90, 120), "JPEG"),
        "rotated three times in the other direction": lambda: encoded(np.rot90(CAT, 3)),
        "indexed colours": lambda: saved(Image.fromarray(turned).quantize(256), "GIF"),
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
        **{
            f"shifted by {name}": partial(_part_at, 40 + x, 20 + y)
            for name, x, y in (
                ("3 px in both directions", 3, 3),
                ("3 px right", 3, 0),
                ("3 px left", -3, 0),
                ("3 px down", 0, 3),
                ("3 px up", 0, -3),
            )
        },
        "mirrored": lambda: encoded(part[:, ::-1]),
        "transparent": lambda: encoded(veiled(part, 0)),
    }
    ways = {
        "shifted by one px": lambda: encoded(CAT[21:71, 41:101]),
        "shifted by 2 px": lambda: encoded(CAT[22:72, 42:102]),
        "shifted by 2 px in the other direction": lambda: encoded(CAT[18:68, 38:98]),
        "only 2 px wider": lambda: encoded(CAT[19:69, 38:100]),
        "shifted by 2 px and smaller": lambda: encoded(CAT[22:70, 38:96]),
        "WebP": lambda: encoded(part, "WEBP", quality=90),
        "stored rotated, displayed upright": lambda: _shown(np.rot90(part, -1), _TURNED_BACK),
        "with an opaque alpha channel": lambda: encoded(veiled(part, 255)),
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
    """Return cases of a part of an original with details as small as the tolerance, and of a smooth one."""
    fine = noise(4, cells=(80, 60))
    smooth = np.zeros_like(CAT) + np.linspace(30, 220, 120).astype(np.uint8)[:, None, None]
    smooth += np.random.default_rng(5).integers(0, 2, (1, 160, 1), dtype=np.uint8)
    of_fine = {**args, "original": as_url(encoded(fine))}
    of_smooth = {**args, "original": as_url(encoded(smooth))}
    whole = {**of_fine, "left": 0, "top": 0, "width": 160, "height": 120}
    at_corner = {**of_fine, "left": 0, "top": 0}
    at_end = {**of_fine, "left": 100, "top": 70}
    ways = {
        "fine details, shifted by 2 px": lambda: encoded(fine[18:68, 42:102]),
    }
    forgeries = {"fine details, shifted by 3 px": lambda: encoded(fine[20:70, 43:103])}
    return (
        *_cases(of_fine, forgeries, ways),
        *_cases(
            of_smooth,
            {},
            {"smooth picture as JPEG": lambda: encoded(smooth[20:70, 40:100], "JPEG", quality=60)},
        ),
        *_cases(
            whole, {"complete picture, 2 px larger": lambda: encoded(scaled(fine, 162, 122))}, {}
        ),
        *_cases(
            at_corner,
            {"shifted by 3 px from the corner": lambda: encoded(fine[3:53, :60])},
            {"shifted by 2 px from the corner": lambda: encoded(fine[2:52, 2:62])},
        ),
        *_cases(
            at_end,
            {"shifted by 3 px from the opposite corner": lambda: encoded(fine[67:117, 100:])},
            {"shifted by 2 px from the opposite corner": lambda: encoded(fine[68:118, 98:158])},
        ),
    )


def pair_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of two pictures side by side."""
    dog = scaled(DOG, 160, 120)
    both = np.hstack([CAT, dog])
    covered = both.copy()
    covered[:, 160:200] = CAT[:, -40:]
    forgeries = {
        "first picture covers part of the second": lambda: encoded(covered),
        "second picture in the second frame": lambda: frames(np.hstack([CAT, CAT]), both),
        "second picture transparent": lambda: encoded(
            np.hstack([veiled(CAT, 255), veiled(dog, 0)])
        ),
        "one picture stretched over both halves": lambda: encoded(scaled(CAT, 320, 120)),
    }
    gap = np.hstack([CAT, _WHITE[:, :2], dog])
    ways = {
        "WebP": lambda: encoded(both, "WEBP", quality=90),
        "gap of 2 px": lambda: encoded(gap),
        "indexed colours": lambda: saved(Image.fromarray(both).quantize(256), "PNG"),
        "on a transparent background": lambda: encoded(veiled(both, 255)),
    }
    page, changed = invoice(), invoice("928.50")
    of_pages = {**args, "first": as_url(encoded(page)), "second": as_url(encoded(changed))}
    line = np.full((page.shape[0], 2, 3), 255, np.uint8)
    wide = np.hstack([line, line, line])
    pages = _cases(
        of_pages,
        {
            "invoices: different amount": lambda: encoded(np.hstack([page, page])),
            "invoices with a gap of 6 px": lambda: encoded(np.hstack([page, wide, changed])),
        },
        {
            "invoices": lambda: encoded(np.hstack([page, changed]), "JPEG"),
            "invoices with a gap of 2 px": lambda: encoded(np.hstack([page, line, changed])),
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


def _deep(pixels: Pixels) -> Image.Image:
    """Create a grey picture with 16 bits."""
    level = pixels @ np.array([0.299, 0.587, 0.114])
    return Image.fromarray((level * 257).astype(np.uint16))


def _curved(pixels: Pixels, curve: Callable[[Any], Any]) -> Pixels:
    """Apply a tone curve from 0 to 1."""
    tones: Pixels = np.clip(curve(pixels / 255.0) * 255, 0, 255).astype(np.uint8)
    return tones
