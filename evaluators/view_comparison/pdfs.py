"""Compare the views of two PDFs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.view_comparison.difference import (
    compare,
    compare_each,
    compare_fields,
    compare_keyed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.rendering.views.pdf import Field, PdfPage, PdfView
    from evaluators.view_comparison.difference import Aspect, Comparison, Difference, Tolerances


def compare_text(wanted: PdfView, found: PdfView, _tolerances: Tolerances) -> Iterator[Difference]:
    """Compare the texts of the pages, apart from white space."""

    def compare_pair(where: str, one: PdfPage, other: PdfPage) -> Iterator[Difference]:
        yield from compare(where, one.text.split(), other.text.split())

    yield from compare_each("page", wanted.pages, found.pages, compare_pair)


def compare_values(
    wanted: PdfView, found: PdfView, _tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the values of the form's fields, by name."""

    def compare_pair(where: str, one: Field, other: Field) -> Iterator[Difference]:
        yield from compare_fields(where, one, other, ("value", "is_checked"))

    yield from compare_keyed("field", _fields(wanted), _fields(found), compare_pair)


def compare_structure(
    wanted: PdfView, found: PdfView, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare size and rotation of the pages, the outline, and types and places of fields."""

    def compare_page(where: str, one: PdfPage, other: PdfPage) -> Iterator[Difference]:
        names = ("width_mm", "height_mm")
        yield from compare_fields(where, one, other, names, tolerances.position_mm)
        yield from compare_fields(where, one, other, ("rotation_deg",))

    def compare_field(where: str, one: Field, other: Field) -> Iterator[Difference]:
        yield from compare_fields(where, one, other, ("type", "page"))
        names = ("left_mm", "top_mm", "width_mm", "height_mm")
        yield from compare_fields(where, one, other, names, tolerances.position_mm)

    yield from compare_each("page", wanted.pages, found.pages, compare_page)
    yield from compare("outline", wanted.outline, found.outline)
    yield from compare_keyed("field", _fields(wanted), _fields(found), compare_field)


def _fields(view: PdfView) -> dict[str, Field]:
    return {f"{field.name} ({field.number})": field for field in view.fields}


ASPECTS: dict[Aspect, Comparison] = {
    "text": compare_text,
    "values": compare_values,
    "structure": compare_structure,
}
"""How each aspect is compared."""
