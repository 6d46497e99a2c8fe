"""Annotations that pdfium does not draw, though other viewers may: what they touch is not seen."""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING, Any

from pypdfium2 import raw

from images.renderer.program.pages import Box, mm_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_ANNOTATIONS = 2_000
_MARGIN_MM = 1.0
_HIDDEN = 2 | 32
"""Flags of annotations that no viewer draws. Source: ISO 32000-1, 12.5.3."""
_NOTHING_BYTES = 2
"""Size of an empty text with its end."""
_MAX_DEPTH = 8
_MAX_INLINE_BYTES = 1 << 20
_END = re.compile(rb"[\0\t\n\f\r ]EI[\0\t\n\f\r ][\t\n\f\r -~]{5}")
"""The end of an inline image, with what viewers take for operators behind it."""
_DRAWN = frozenset(
    {
        raw.FPDF_ANNOT_CIRCLE,
        raw.FPDF_ANNOT_HIGHLIGHT,
        raw.FPDF_ANNOT_INK,
        raw.FPDF_ANNOT_LINK,
        raw.FPDF_ANNOT_POPUP,
        raw.FPDF_ANNOT_SQUARE,
        raw.FPDF_ANNOT_SQUIGGLY,
        raw.FPDF_ANNOT_STRIKEOUT,
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_WIDGET,
    }
)
"""Types that pdfium draws without an appearance, or that cover nothing."""


def undrawn_annotations(pdf: Any) -> list[Box]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the places of annotations without an appearance that pdfium does not draw."""
    return [
        box
        for number in range(len(pdf))
        for page in [pdf[number]]
        for index in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS))
        if (box := _place_of(page, number, index)) is not None
    ]


def places_of_fields(pdf: Any) -> list[Box]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the places of form fields, which viewers draw by their values and not by their appearance."""
    return [
        box
        for number in range(len(pdf))
        for page in [pdf[number]]
        for index in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS))
        if (box := _place_of(page, number, index, is_field=True)) is not None
    ]


def pages_of_unsure_images(pdf: Any) -> list[Box]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the pages with an image whose data may end earlier, and go on as text, for other viewers."""
    return [
        Box(number, 0, 0, mm_of(page.get_width()), mm_of(page.get_height()))
        for number in range(len(pdf))
        for page in [pdf[number]]
        if any(map(_has_end, page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=_MAX_DEPTH)))
    ]


def _has_end(image: Any) -> bool:  # noqa: ANN401 - pypdfium2 has no types
    """Return whether the data of an image has the operator that ends an inline image."""
    size = raw.FPDFImageObj_GetImageDataRaw(image, None, 0)
    if not 0 < size <= _MAX_INLINE_BYTES:
        return False
    data = ctypes.create_string_buffer(size)
    raw.FPDFImageObj_GetImageDataRaw(image, data, size)
    return _END.search(data.raw) is not None


def refuse_touched(rows: Iterable[dict[str, Any]], boxes: Sequence[Box], reason: str) -> None:
    """Let places that touch those of annotations not be seen.

    Args:
        rows: rows of items.
        boxes: places of annotations.
        reason: why.
    """
    for row in rows if boxes else ():
        for place in row["places"]:
            left, top = place["left_mm"], place["top_mm"]
            sides = left + place["width_mm"], top + place["height_mm"]
            own = Box(place["page"], left, top, *sides)
            place["is_seen"] = place["is_seen"] and not any(map(own.overlaps, boxes))
        if row["is_shown"] and not any(place["is_seen"] for place in row["places"]):
            row.update(is_shown=False, reason=reason)


def _place_of(page: Any, number: int, index: int, *, is_field: bool = False) -> Box | None:  # noqa: ANN401
    """Return the place of an annotation, or only of a field; None if pdfium draws it, or no viewer does."""
    annotation = raw.FPDFPage_GetAnnot(page, index)
    try:
        is_hidden = raw.FPDFAnnot_GetFlags(annotation) & _HIDDEN
        size = raw.FPDFAnnot_GetAP(annotation, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if is_field:
            is_drawn, margin = kind != raw.FPDF_ANNOT_WIDGET, 0.0
        else:
            is_drawn, margin = kind in _DRAWN or size > _NOTHING_BYTES, _MARGIN_MM
        if is_hidden or is_drawn:
            return None
        rect, height = raw.FS_RECTF(), page.get_height()
        raw.FPDFAnnot_GetRect(annotation, rect)
        left, right = sorted((mm_of(rect.left), mm_of(rect.right)))
        top, bottom = sorted((mm_of(height - rect.top), mm_of(height - rect.bottom)))
        return Box(
            number,
            left - margin,
            top - margin,
            right + margin,
            bottom + margin,
        )
    finally:
        raw.FPDFPage_CloseAnnot(annotation)
