"""Compare the views of two text documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.view_comparison.difference import (
    back_color,
    compare,
    compare_colors,
    compare_each,
    compare_fields,
)
from evaluators.view_comparison.paragraphs import compare_formatting, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.rendering.views.text import (
        PageStyle,
        Paragraph,
        TextPicture,
        TextTable,
        TextView,
    )
    from evaluators.view_comparison.difference import Aspect, Comparison, Difference, Tolerances

_PAGE_LENGTHS = (
    *("width_mm", "height_mm"),
    *("left_margin_mm", "right_margin_mm", "top_margin_mm", "bottom_margin_mm"),
)


def compare_text(
    wanted: TextView, found: TextView, _tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the written paragraphs, cells of tables, headers and footers."""
    texts = written(wanted.paragraphs), written(found.paragraphs)
    yield from compare_each("paragraph", *texts, compare)
    yield from compare_each("table", wanted.tables, found.tables, _compare_cells)
    yield from compare_each("page style", wanted.page_styles, found.page_styles, _compare_margins)
    yield from compare_each("frame", wanted.frames, found.frames, compare)


def _compare_cells(where: str, wanted: TextTable, found: TextTable) -> Iterator[Difference]:
    texts = ({cell.name: cell.text.strip() for cell in table.cells} for table in (wanted, found))
    yield from compare(where, *texts)


def _compare_margins(where: str, wanted: PageStyle, found: PageStyle) -> Iterator[Difference]:
    for name in ("header", "footer"):
        texts = getattr(wanted, name).strip(), getattr(found, name).strip()
        yield from compare(f"{where}, {name}", *texts)


def compare_formats(
    wanted: TextView, found: TextView, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the formatting of the written paragraphs."""

    def compare_pair(where: str, one: Paragraph, other: Paragraph) -> Iterator[Difference]:
        yield from compare_formatting(where, one, other, tolerances)
        colors = back_color(one.background), back_color(other.background)
        yield from compare_colors(f"{where}, background", *colors, tolerances.color)

    yield from compare_each("paragraph", _filled(wanted), _filled(found), compare_pair)


def compare_structure(
    wanted: TextView, found: TextView, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare lists, page breaks, tables, pages and pictures."""

    def compare_page(where: str, one: PageStyle, other: PageStyle) -> Iterator[Difference]:
        yield from compare_fields(where, one, other, _PAGE_LENGTHS, tolerances.position_mm)
        yield from compare_fields(where, one, other, ("columns",))
        colors = back_color(one.background), back_color(other.background)
        yield from compare_colors(f"{where}, background", *colors, tolerances.color)

    def compare_picture(where: str, one: TextPicture, other: TextPicture) -> Iterator[Difference]:
        names = ("width_mm", "height_mm")
        yield from compare_fields(where, one, other, names, tolerances.position_mm)

    yield from compare_each("paragraph", _filled(wanted), _filled(found), _compare_place)
    yield from compare_each("table", wanted.tables, found.tables, _compare_size)
    yield from compare("page breaks", *map(_breaks, (wanted, found)))
    yield from compare_each("page style", wanted.page_styles, found.page_styles, compare_page)
    yield from compare_each("picture", wanted.pictures, found.pictures, compare_picture)


def _filled(view: TextView) -> list[Paragraph]:
    return [paragraph for paragraph in view.paragraphs if paragraph.text.strip()]


def _compare_place(where: str, wanted: Paragraph, found: Paragraph) -> Iterator[Difference]:
    yield from compare_fields(where, wanted, found, ("part", "level", "list_label"))
    if wanted.part == found.part == "table":
        cells = (part.place.rpartition(".")[2] for part in (wanted, found))
        yield from compare(f"{where}, cell", *cells)
    fields = ([run.field for run in part.runs if run.field] for part in (wanted, found))
    yield from compare(f"{where}, fields", *fields)


def _compare_size(where: str, wanted: TextTable, found: TextTable) -> Iterator[Difference]:
    yield from compare_fields(where, wanted, found, ("rows", "columns"))


def _breaks(view: TextView) -> list[int]:
    """Return how many written paragraphs are before each page break."""
    count, breaks = 0, []
    for paragraph in view.paragraphs:
        if paragraph.is_page_break_before and count:
            breaks.append(count)
        count += bool(paragraph.text.strip())
        if paragraph.is_page_break_after:
            breaks.append(count)
    return breaks


ASPECTS: dict[Aspect, Comparison] = {
    "text": compare_text,
    "formatting": compare_formats,
    "structure": compare_structure,
}
"""How each aspect is compared."""
