"""Pictures of a mostly white page with text, forged and legitimate."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tests.evaluator_cases.file_builders import scaled

if TYPE_CHECKING:
    from evaluators.pictures import Pixels

WIDTH_PX, HEIGHT_PX = 480, 640
_ITEMS = ("Hotel, 2 nights", "Train to Zurich", "Breakfast", "Paper, 5 reams", "Delivery")
_TOTAL = 3
_FONT_PX = 18


@cache
def invoice(amount: str = "128.50", *, missing: int | None = None) -> Pixels:
    """Draw an invoice.

    Args:
        amount: the total.
        missing: number of the line that is left out.
    """
    page = Image.new("RGB", (WIDTH_PX, HEIGHT_PX), "white")
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(_FONT_PX)
    for number in range(15):
        is_total = number == _TOTAL
        line = f"Total due {amount}" if is_total else f"{_ITEMS[number % 5]}  {number * 7 + 3}.40"
        if number != missing:
            draw.text((40, 40 + 36 * number), line, fill="black", font=font)
    return np.asarray(page)


def forged_pages() -> dict[str, Pixels]:
    """Return pictures that look like the invoice from afar."""
    page = invoice()
    half = scaled(invoice("928.50"), WIDTH_PX // 2, HEIGHT_PX // 2)
    wiped = page.copy()
    wiped[40 + 36 * _TOTAL : 64 + 36 * _TOTAL, 40:90] = 255
    added = page.copy()
    added[600:618, 300:380] = page[40:58, 40:120]
    return {
        "line missing": invoice(missing=5),
        "different first digit of the amount": invoice("928.50"),
        "different last digit of the amount": invoice("128.51"),
        "amount without a point": invoice("128 50"),
        "different amount, scaled down": half,
        "word wiped out": wiped,
        "word added": added,
    }


def honest_pages() -> dict[str, Pixels]:
    """Return the invoice as programs scale it."""
    page = invoice()
    return {
        "half size": scaled(page, WIDTH_PX // 2, HEIGHT_PX // 2),
        "a third larger": scaled(page, WIDTH_PX * 4 // 3, HEIGHT_PX * 4 // 3),
        "scaled without a filter": _sampled(page, 288, 384),
    }


def _sampled(page: Pixels, width: int, height: int) -> Pixels:
    """Scale a picture by interpolation between the nearest pixels only, as phones do."""
    box = (0, 0, page.shape[1], page.shape[0])
    picture = Image.fromarray(page).transform(
        (width, height), Image.Transform.EXTENT, box, resample=Image.Resampling.BILINEAR
    )
    return np.asarray(picture)
