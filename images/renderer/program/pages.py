"""Pages as pictures: rendered by pdfium, compared by Pillow."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import pypdfium2
from PIL import Image, ImageChops

from images.renderer.program.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DPI = 96
MAX_PAGES = 60
MAX_PIXELS = 16_000_000
_POINTS_PER_INCH = 72
_MM_PER_INCH = 25.4
_EDGE_PX = 0.3
"""Width of the edge of a letter that is drawn beside its box."""
CONTRAST = 40
"""Least change of a colour channel, 0 to 255, that a person sees."""


@dataclass(frozen=True)
class Reply:
    """What a viewer returns.

    Attributes:
        view: JSON data of the view.
        pages: pages as PNG.
    """

    view: dict[str, Any]
    pages: list[bytes] = field(default_factory=list)


@dataclass(frozen=True)
class Box:
    """A place on a page, in mm from the top left corner."""

    page: int
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Return whether two boxes have a point in common."""
        return (
            self.page == other.page
            and self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, other: Box) -> Box | None:
        """Return the part that two boxes have in common; None if there is none."""
        if not self.overlaps(other):
            return None
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Box(
            self.page, left, top, min(self.right, other.right), min(self.bottom, other.bottom)
        )


@dataclass(frozen=True)
class Change:
    """How a part of a page differs between two pictures.

    Attributes:
        pixels: number of pixels that differ by `CONTRAST` or more, at `DPI`.
        height_px: height of the smallest rectangle around them.
        width_px: its width.
        contrast: the largest difference of a colour channel, 0 to 255.
    """

    pixels: int = 0
    height_px: int = 0
    width_px: int = 0
    contrast: int = 0


def render_pages(path: Path, limit: int = MAX_PAGES) -> list[Image.Image]:
    """Return the first pages of a PDF as RGB pictures of `DPI`.

    Raises:
        DocumentError: a page is too large, or the file is no PDF.
    """
    try:
        with pypdfium2.PdfDocument(path) as pdf:
            if pdf.get_formtype():
                pdf.init_forms()
            return [render_page(pdf[number]) for number in range(min(len(pdf), limit))]
    except pypdfium2.PdfiumError as exc:
        raise DocumentError(f"pdfium: {exc}") from exc


def render_page(page: Any, *, is_grey: bool = False) -> Image.Image:  # noqa: ANN401 - pypdfium2 has no types
    """Return a page of an open PDF as a picture of `DPI`, in RGB or in shades of grey.

    Raises:
        DocumentError: the page is too large.
    """
    scale = DPI / _POINTS_PER_INCH
    width, height = page.get_size()
    if width * height * scale * scale > MAX_PIXELS:
        raise DocumentError(f"A page of {width:.0f} by {height:.0f} points is too large.")
    drawn = page.render(scale=scale, may_draw_forms=True, grayscale=is_grey)
    picture: Image.Image = drawn.to_pil()
    mode = "L" if is_grey else "RGB"
    return picture if picture.mode == mode else picture.convert(mode)


def encode_png(picture: Image.Image) -> bytes:
    """Return a picture as PNG."""
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def change_in(
    before: Sequence[Image.Image], after: Sequence[Image.Image], box: Box, least: int = CONTRAST
) -> Change:
    """Return how the pages differ in a box.

    Args:
        before: pages.
        after: the same pages later.
        box: the box.
        least: least change of a colour channel of the pixels that count.
    """
    if box.page >= len(before):
        return Change()
    old = before[box.page].crop(pixels_of(box))
    if box.page >= len(after):
        new = Image.new("RGB", old.size, "white")
    else:
        new = after[box.page].crop(pixels_of(box))
    if 0 in old.size:
        return Change()
    return change_of(levels_of(old, new), least)


def levels_of(before: Image.Image, after: Image.Image) -> Image.Image:
    """Return by how much each pixel differs, in its most changed channel."""
    return reduce(ImageChops.lighter, ImageChops.difference(before, after).split())


def mean_in(levels: Image.Image, box: Box) -> float:
    """Return the mean of a picture of levels in a box, 0 to 255."""
    scale = DPI / _MM_PER_INCH
    sides = (box.left, box.top, box.right, box.bottom)
    left, top, right, bottom = (side * scale for side in sides)
    left, top = max(left - _EDGE_PX, 0), max(top - _EDGE_PX, 0)
    right, bottom = min(right + _EDGE_PX, levels.width), min(bottom + _EDGE_PX, levels.height)
    if right <= left or bottom <= top:
        return 0
    mean = levels.resize((1, 1), Image.Resampling.BOX, box=(left, top, right, bottom))
    return mean.tobytes()[0]


def change_of(difference: Image.Image, least: int = CONTRAST) -> Change:
    """Return the change that levels of difference are.

    Args:
        difference: the levels.
        least: least level of the pixels that count.
    """
    levels = difference.histogram()
    bounds = difference.point([0] * least + [255] * (256 - least)).getbbox() or (0, 0, 0, 0)
    return Change(
        pixels=sum(levels[least:]),
        height_px=bounds[3] - bounds[1],
        width_px=bounds[2] - bounds[0],
        contrast=next(level for level in reversed(range(256)) if levels[level]),
    )


def around(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around boxes of one page."""
    left, top = min(box.left for box in boxes), min(box.top for box in boxes)
    right, bottom = max(box.right for box in boxes), max(box.bottom for box in boxes)
    return Box(boxes[0].page, left, top, right, bottom)


def page_box(page: int, picture: Image.Image) -> Box:
    """Return the box of a whole page."""
    width, height = (size / DPI * _MM_PER_INCH for size in picture.size)
    return Box(page, 0, 0, width, height)


def place_in(box: Box) -> dict[str, float]:
    """Return the place of a box on its page, as views have it."""
    return {
        "left_mm": round(box.left, 2),
        "top_mm": round(box.top, 2),
        "width_mm": round(box.right - box.left, 2),
        "height_mm": round(box.bottom - box.top, 2),
    }


def points_of(mm: float) -> float:
    """Return a length in points."""
    return mm / _MM_PER_INCH * _POINTS_PER_INCH


def mm_of(points: float) -> float:
    """Return a length in mm."""
    return points / _POINTS_PER_INCH * _MM_PER_INCH


def pixels_of(box: Box) -> tuple[int, int, int, int]:
    """Return the left, top, right and bottom pixel of a box on its page's picture."""
    left, top, right, bottom = (
        length / _MM_PER_INCH * DPI for length in (box.left, box.top, box.right, box.bottom)
    )
    return (
        max(0, int(left)),
        max(0, int(top)),
        max(0, round(right + 0.5)),
        max(0, round(bottom + 0.5)),
    )
