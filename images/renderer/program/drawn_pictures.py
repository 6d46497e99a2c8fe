"""The pictures that a printed page shows as a whole: taken out of the PDF in their own pixels.

A page has few pixels for a picture, and moves its edges to whole ones. So the pixels are those of the file, and
the page only tells whether all of them are drawn, opaque, upright and with nothing before them.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from typing import TYPE_CHECKING, Any

import pypdfium2
from PIL import Image, ImageChops, ImageFilter
from pypdfium2 import raw

from images.renderer.program.errors import DocumentError
from images.renderer.program.lines import CLEAN
from images.renderer.program.pages import (
    MAX_PIXELS,
    Box,
    encode_png,
    levels_of,
    mm_of,
    pixels_of,
    place_in,
    points_of,
    render_page,
)
from images.renderer.program.visibility import undecided

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAX_PICTURES = 50
MAX_SIDE_PX = 2048
"""Larger pictures are scaled down."""
MIN_SIDE_PX = 12
"""Least width and height on the page, at 96 dpi."""
_EDGE_PX = 2
"""Width of an edge that neighbours and frames may cover."""
_OPAQUE = 250
_SLANT_PT = 0.01
_INSET_PX = 0.01
_DETAILS_PX = 128
_CLEAR_STEP = 60
"""Least difference of a colour channel that is a detail of a picture."""
_MIN_STEP = 0.3
_MAX_LOST = 0.1
"""Share of a picture's details that may be lost, those with less than `_MIN_STEP` of their difference."""


def decide_pictures(
    path: Path | None,
    asked: Sequence[dict[str, Any]],
    printed: dict[int, int],
    parts: list[bytes],
) -> list[dict[str, Any]]:
    """Return for each asked slide its pictures that are seen as a whole.

    Args:
        path: the printed PDF; None if there is none.
        asked: items with the numbers of slides.
        printed: the pages by the numbers of their slides.
        parts: the PNGs of pictures are appended to it.

    Raises:
        DocumentError: a slide has too many pictures.
    """
    rows = []
    for item in asked:
        page = printed.get(item["page"])
        if path is None or page is None:
            rows.append(undecided("the slide is hidden, or there is none"))
            continue
        found = []
        for box, data in pictures_on(path, page):
            found.append({**place_in(box), "part": len(parts)})
            parts.append(data)
        reason = "" if found else "no picture is seen as a whole"
        rows.append({**undecided(reason), "page": page, "pictures": found})
    return rows


def pictures_on(path: Path, number: int) -> list[tuple[Box, bytes]]:
    """Return the pictures of a page that are seen as a whole, from the front to the back: places, and PNGs over white.

    Args:
        path: the PDF.
        number: number of the page.

    Raises:
        DocumentError: it has too many pictures, or they are too large.
    """
    with pypdfium2.PdfDocument(path) as pdf:
        page = pdf[number]
        objects = [
            raw.FPDFPage_GetObject(page, index) for index in range(raw.FPDFPage_CountObjects(page))
        ]
        pictures = [drawn for drawn in objects if _is_picture(drawn)]
        if len(pictures) > MAX_PICTURES:
            raise DocumentError(f"A page has more than {MAX_PICTURES} pictures.")
        shown = _Shown(pdf, page, number)
        found = [shown.look_at(drawn) for drawn in reversed(objects)] if pictures else []
        return [seen for seen in found if seen is not None]


class _Shown:
    """A page whose objects are removed from the front to the back."""

    def __init__(self, pdf: Any, page: Any, number: int) -> None:  # noqa: ANN401 - pypdfium2 has no types
        self._pdf = pdf
        self._page = page
        self._number = number
        self._whole = render_page(page)
        self._left: Image.Image | None = self._whole

    def look_at(self, drawn: Any) -> tuple[Box, bytes] | None:  # noqa: ANN401
        """Remove an object, the foremost; return place and pixels if it is a picture that is seen as a whole."""
        box = self._box(drawn) if _is_picture(drawn) else None
        place = _within(box, self._whole) if box is not None else None
        is_uncovered = place is not None and self._is_uncovered(place)
        size = self._size(drawn) if is_uncovered else None
        raw.FPDFPage_RemoveObject(self._page, drawn)
        self._left = None
        if box is None or place is None or size is None:
            return None
        alone = self._pdf.new_page(*self._page.get_size())
        raw.FPDFPage_InsertObject(alone, drawn)
        picture = self._pixels(alone, box, size)
        if not self._keeps_details(alone, box, picture):
            return None
        return (box, encode_png(picture)) if self._fills(alone, drawn, place) else None

    def _keeps_details(self, alone: Any, box: Box, picture: Image.Image) -> bool:  # noqa: ANN401
        """Return whether what is seen of a picture over white is seen over what is behind it, if it has a mask."""
        size = picture.size
        black = self._pixels(alone, box, size, Image.new("RGB", size))
        if not any(levels_of(picture, black).histogram()[CLEAN + 1 :]):
            return True
        self._left = render_page(self._page)
        behind = self._left.crop(pixels_of(box)).resize(size)
        there = self._pixels(alone, box, size, behind)
        wanted, left = _steps_in(picture), _steps_in(there)
        lost = ImageChops.subtract(wanted.point(lambda step: int(step * _MIN_STEP)), left)
        counts = Counter(
            lack > 0
            for step, lack in zip(wanted.getdata(), lost.getdata(), strict=True)
            if step >= _CLEAR_STEP
        )
        return counts[True] <= _MAX_LOST * counts.total()

    def _is_uncovered(self, place: tuple[int, int, int, int]) -> bool:
        """Return whether what was in front of a place has changed nothing there."""
        if self._left is None:
            self._left = render_page(self._page)
        levels = levels_of(self._whole.crop(place), self._left.crop(place))
        return not any(levels.histogram()[CLEAN + 1 :])

    def _size(self, drawn: Any) -> tuple[int, int] | None:  # noqa: ANN401
        """Return width and height of a picture in its file; None if it is too large."""
        width, height = ctypes.c_uint(), ctypes.c_uint()
        raw.FPDFImageObj_GetImagePixelSize(drawn, width, height)
        is_ordinary = 0 < width.value * height.value <= MAX_PIXELS
        return (width.value, height.value) if is_ordinary else None

    def _pixels(
        self,
        alone: Any,  # noqa: ANN401
        box: Box,
        size: tuple[int, int],
        behind: Image.Image | None = None,
    ) -> Image.Image:
        """Return the pixels of the only picture of a page, over white or over another picture."""
        bitmap = pypdfium2.PdfBitmap.from_pil(behind or Image.new("RGB", size, "white"))
        left, top = points_of(box.left), points_of(box.top)
        right, bottom = points_of(box.right), points_of(box.bottom)
        # pdfium widens pictures to whole pixels, which rounding must not make one more.
        across, down = (
            (side - 2 * _INSET_PX) / length
            for side, length in zip(size, (right - left, bottom - top), strict=True)
        )
        matrix = raw.FS_MATRIX(
            across, 0, 0, down, _INSET_PX - left * across, _INSET_PX - top * down
        )
        raw.FPDF_RenderPageBitmapWithMatrix(bitmap, alone, matrix, raw.FS_RECTF(0, 0, *size), 0)
        picture: Image.Image = bitmap.to_pil().convert("RGB")
        picture.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX), Image.Resampling.BOX)
        return picture

    def _fills(self, alone: Any, drawn: Any, place: tuple[int, int, int, int]) -> bool:  # noqa: ANN401
        """Return whether the only picture of a page, were it black, would make its place black: nothing cuts or dims it."""
        black = raw.FPDFBitmap_Create(1, 1, 0)
        raw.FPDFBitmap_FillRect(black, 0, 0, 1, 1, 0xFF000000)
        is_set = raw.FPDFImageObj_SetBitmap(None, 0, drawn, black)
        raw.FPDFBitmap_Destroy(black)
        ink = ImageChops.invert(render_page(alone)).convert("L").crop(place)
        return bool(is_set) and not any(ink.histogram()[:_OPAQUE])

    def _box(self, drawn: Any) -> Box | None:  # noqa: ANN401
        """Return the place of a picture; None if it is rotated or mirrored."""
        at = raw.FS_MATRIX()
        raw.FPDFPageObj_GetMatrix(drawn, at)
        if max(abs(at.b), abs(at.c)) > _SLANT_PT or min(at.a, at.d) <= 0:
            return None
        height = self._page.get_height()
        return Box(
            self._number,
            mm_of(at.e),
            mm_of(height - at.f - at.d),
            mm_of(at.e + at.a),
            mm_of(height - at.f),
        )


def _steps_in(picture: Image.Image) -> Image.Image:
    """Return how much the colours around each pixel of a small copy differ, in the channel with the largest step."""
    small = picture.resize((_DETAILS_PX, _DETAILS_PX))
    most, least = (small.filter(kind(3)) for kind in (ImageFilter.MaxFilter, ImageFilter.MinFilter))
    red, green, blue = ImageChops.subtract(most, least).split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def _is_picture(drawn: Any) -> bool:  # noqa: ANN401 - pypdfium2 has no types
    return bool(raw.FPDFPageObj_GetType(drawn) == raw.FPDF_PAGEOBJ_IMAGE)


def _within(box: Box, page: Image.Image) -> tuple[int, int, int, int] | None:
    """Return the pixels of a place without its edge; None if it is small, or goes beyond its page."""
    left, top, right, bottom = pixels_of(box)
    if min(box.left, box.top) < -1 or right > page.width + 4 or bottom > page.height + 4:
        return None
    if min(right - left, bottom - top) < MIN_SIDE_PX:
        return None
    return (
        left + _EDGE_PX,
        top + _EDGE_PX,
        min(right, page.width) - _EDGE_PX,
        min(bottom, page.height) - _EDGE_PX,
    )
