"""Compare the views of two workbooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.view_comparison.difference import (
    back_color,
    compare,
    compare_characters,
    compare_colors,
    compare_each,
    compare_fields,
    compare_keyed,
    compare_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evaluators.rendering.views.sheets import Cell, Chart, Sheet, SheetsView
    from evaluators.view_comparison.difference import Aspect, Comparison, Difference, Tolerances

    ComparePair = Callable[[str, Cell, Cell], Iterator[Difference]]

_FORMAT = ("number_format", "horizontal", "vertical", "is_wrapped", "borders")
_STRUCTURE = (
    *("merged", "hidden_rows", "hidden_columns", "frozen_rows", "frozen_columns"),
    *("validations", "pivot_tables", "comments"),
)
_PLACE = ("left_mm", "top_mm", "width_mm", "height_mm")
_LETTERS = 26


def compare_text(
    wanted: SheetsView, found: SheetsView, _tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the displayed texts of the cells that are not in hidden sheets, rows or columns."""

    def compare_pair(where: str, one: Sheet, other: Sheet) -> Iterator[Difference]:
        yield from compare_keyed(where, open_texts(one), open_texts(other), compare)
        yield from compare_each(f"{where}, shape", one.texts, other.texts, compare)

    yield from compare_each("sheet", shown_sheets(wanted), shown_sheets(found), compare_pair)


def shown_sheets(view: SheetsView) -> list[Sheet]:
    """Return the sheets whose tabs are shown."""
    return [sheet for sheet in view.sheets if sheet.is_shown]


def open_texts(sheet: Sheet) -> dict[str, str]:
    """Return the displayed texts by cell, except in hidden rows and columns."""
    return {
        name: cell.text
        for name, cell in _cells(sheet).items()
        if sheet.is_open(cell.row, cell.column)
    }


def compare_values(
    wanted: SheetsView, found: SheetsView, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the values and results of all cells."""

    def compare_pair(where: str, one: Cell, other: Cell) -> Iterator[Difference]:
        yield from compare_fields(where, one, other, ("type",))
        if isinstance(one.value, float) and isinstance(other.value, float):
            yield from compare_numbers(where, one.value, other.value, tolerances.number)
        else:
            yield from compare(where, one.value, other.value)

    yield from _compare_cells(wanted, found, compare_pair)


def compare_formulas(
    wanted: SheetsView, found: SheetsView, _tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the formulas of all cells."""

    def compare_pair(where: str, one: Cell, other: Cell) -> Iterator[Difference]:
        yield from compare_fields(where, one, other, ("formula", "is_array"))

    yield from _compare_cells(wanted, found, compare_pair)


def _compare_cells(
    wanted: SheetsView, found: SheetsView, compare_pair: ComparePair
) -> Iterator[Difference]:
    def compare_sheet(where: str, one: Sheet, other: Sheet) -> Iterator[Difference]:
        yield from compare_keyed(where, _cells(one), _cells(other), compare_pair)

    yield from compare_each("sheet", wanted.sheets, found.sheets, compare_sheet)


def compare_formats(
    wanted: SheetsView, found: SheetsView, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the formats of the filled cells."""

    def compare_sheet(where: str, one: Sheet, other: Sheet) -> Iterator[Difference]:
        def compare_pair(place: str, left: Cell, right: Cell) -> Iterator[Difference]:
            form, other_form = one.formats[left.format], other.formats[right.format]
            yield from compare_characters(place, form, other_form, tolerances)
            yield from compare_fields(place, form, other_form, _FORMAT)
            colors = back_color(form.background), back_color(other_form.background)
            yield from compare_colors(f"{place}, background", *colors, tolerances.color)

        yield from compare_keyed(where, _cells(one), _cells(other), compare_pair)

    yield from compare_each("sheet", wanted.sheets, found.sheets, compare_sheet)


def compare_structure(
    wanted: SheetsView, found: SheetsView, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare sheets, hidden and merged cells, panes, validity, pivot tables, comments and charts."""

    def compare_chart(where: str, one: Chart, other: Chart) -> Iterator[Difference]:
        yield from _compare_chart(where, one, other, tolerances)

    def compare_sheet(where: str, one: Sheet, other: Sheet) -> Iterator[Difference]:
        yield from compare_fields(where, one, other, ("name", "is_shown", *_STRUCTURE))
        yield from compare_each(f"{where}, chart", one.charts, other.charts, compare_chart)

    yield from compare_each("sheet", wanted.sheets, found.sheets, compare_sheet)


def _compare_chart(
    where: str, wanted: Chart, found: Chart, tolerances: Tolerances
) -> Iterator[Difference]:
    yield from compare_fields(where, wanted, found, ("type", "is_sideways", "title"))
    yield from compare_fields(where, wanted, found, _PLACE, tolerances.position_mm)
    labels = ([series.label for series in chart.series] for chart in (wanted, found))
    yield from compare(f"{where}, series", *labels)
    for one, other in zip(wanted.series, found.series, strict=False):
        yield from compare_each(
            f"{where}, {one.label}, value",
            one.values,
            other.values,
            lambda place, left, right: compare_numbers(place, left, right, tolerances.number),
        )


def _cells(sheet: Sheet) -> dict[str, Cell]:
    return {f"{_column(cell.column)}{cell.row + 1}": cell for cell in sheet.cells}


def _column(number: int) -> str:
    """Return the letters of a column, by its number from 0."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, _LETTERS)
        name = chr(ord("A") + rest) + name
    return name


ASPECTS: dict[Aspect, Comparison] = {
    "text": compare_text,
    "values": compare_values,
    "formulas": compare_formulas,
    "formatting": compare_formats,
    "structure": compare_structure,
}
"""How each aspect is compared."""
