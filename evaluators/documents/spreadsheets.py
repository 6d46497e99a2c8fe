"""Evaluators of spreadsheets: OpenDocument (.ods) and Excel (.xlsx), detected by content.

Values are those that the last program stored; a formula that was not calculated has no value.
Stored results of formulas are verified by recalculation from the entered values, with the common
functions (`evaluators.formulas.functions.SUPPORTED`). Results of other functions, and of formulas
with names, tables or arrays, are trusted; results of formulas that are malformed, refer to their
own cell, call an unknown function or divide by zero are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.formulas.calculation import Calculator
from evaluators.formulas.equality import is_same_formula
from evaluators.formulas.functions import SUPPORTED, ErrorValue
from evaluators.formulas.parser import UnsupportedFormula
from evaluators.formulas.verification import (
    Value,
    find_sheet,
    is_refuted,
    is_result,
    is_same_value,
)
from evaluators.readers.model import Workbook
from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.readers.model import Cell, Sheet

Place = Annotated[str, Field(pattern=r"^[A-Z]{1,3}[1-9][0-9]{0,6}$")]
_MOMENT = re.compile(
    r"(?:(?P<day>\d{4}-\d\d-\d\d)[T ])?(?:PT(?P<h>\d+)H(?P<m>\d+)M(?P<s>\d+)(?:\.0+)?S"
    r"|(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.0+)?)?)",
    re.ASCII,
)
"""A time of day, in the usual notation or as an XML Schema duration, or a date with a time."""
_PARTS = (("hour", "h"), ("minute", "m"), ("second", "s"))


@evaluator(on="documents")
def cell_equals(
    view: MachineView,
    path: MachinePath,
    cell: Place,
    value: Value,
    *,
    sheet: str = "",
    tolerance: Annotated[float, Field(ge=0)] = 0.0,
) -> bool:
    """Return whether a cell of a spreadsheet has the given value, entered or calculated.

    Numbers may differ by one part in a billion, or by `tolerance`. A number does not equal a text
    that looks like it. White space at the ends of texts is ignored. A stored result that differs
    from the recalculated formula is unmet.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        cell: the cell, such as ``B7``.
        value: a text, a number, true or false; dates are texts such as ``2026-11-21``, times such
            as ``14:30`` or ``2026-11-21 14:30``, with or without seconds.
        sheet: name of the sheet; by default the first visible one.
        tolerance: maximum difference of a number from `value`.

    Example:
        ``{on: desktop, check: cell_equals, with: {path: ~/a.ods, cell: B7, value: 41.5}}``
    """
    cell_content = _cell(view, path, sheet, cell)
    if cell_content is None or not _holds(cell_content, value, tolerance or None):
        return False
    return not cell_content.formula or not _is_refuted(view, path, sheet, cell)


@evaluator(on="documents")
def cell_has_formula(
    view: MachineView, path: MachinePath, cell: Place, formula: str, sheet: str = ""
) -> bool:
    """Return whether a cell of a spreadsheet has the given formula.

    Letter case and spaces outside quotes, and ``$`` signs, are ignored; arguments may be separated
    by commas or semicolons. So are a plus sign before a value, brackets that change nothing, the
    name of the cell's own sheet, and the order of a range's corners: ``=+(SUM(Sheet1!B6:B2))`` on
    ``Sheet1`` is ``=SUM(B2:B6)``.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        cell: the cell, such as ``B7``.
        formula: formula in A1 notation, such as ``=SUM(B2:B6)``; other sheets as ``Name!A1``.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cell_has_formula,
        with: {path: ~/a.ods, cell: B7, formula: "=SUM(B2:B6)"}}``
    """
    worksheet, cell_content = _sheet(view, path, sheet), _cell(view, path, sheet, cell)
    return (
        worksheet is not None
        and cell_content is not None
        and bool(cell_content.formula)
        and is_same_formula(cell_content.formula, formula, worksheet.name)
    )


@evaluator(on="documents")
def cell_calculated(
    view: MachineView,
    path: MachinePath,
    cell: Place,
    value: Value,
    function: str,
    *,
    sheet: str = "",
) -> bool:
    """Return whether a cell has the given value, calculated by a formula with the given function.

    The formula is recalculated from the entered values; its result, and the stored one, must be
    `value`, and must depend on the function's result, and the function must read a cell with
    content. If the value is also a literal in the formula, every other result of the function, and
    empty cells, must change the result: ``=12+SUM(B9)``, ``=MIN(12,SUM(B2:B6))`` and
    ``=SUM(A1,12)`` with a text in A1 do not calculate 12. Formulas that use names, tables, arrays
    or uncommon functions are unmet.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        cell: the cell, such as ``B7``.
        value: the result; numbers may differ by one part in a billion.
        function: common function that the formula calls, such as ``AVERAGE``; case-insensitive.
        sheet: name of the sheet; by default the first visible one.

    Raises:
        EvaluationError: formulas with this function cannot be recalculated.

    Example:
        ``{on: desktop, check: cell_calculated,
        with: {path: ~/a.ods, cell: B7, value: 12, function: SUM}}``
    """
    name = function.upper()
    if name not in SUPPORTED:
        raise EvaluationError(
            f"Formulas with {name} cannot be recalculated.",
            resolution=f"Use one of {', '.join(sorted(SUPPORTED))}, or cell_has_formula.",
        )
    cell_content = _cell(view, path, sheet, cell)
    if cell_content is None or not cell_content.formula or not _holds(cell_content, value):
        return False
    calculator, tab = _calculator(view, path, sheet)
    try:
        is_same = is_result(cell_content, calculator.value(tab, cell))
        return is_same and calculator.depends_on(tab, cell, name)
    except (ErrorValue, UnsupportedFormula):
        return False


@evaluator(on="documents")
def cells_equal(
    view: MachineView,
    path: MachinePath,
    first: Place,
    rows: list[list[Value | None]],
    sheet: str = "",
) -> bool:
    """Return whether a block of cells of a spreadsheet has exactly the given values.

    Numbers may differ by one part in a billion. A stored result that differs from the recalculated
    formula is unmet.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        first: the block's upper left cell.
        rows: values by row, from the top; null for an empty cell.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cells_equal,
        with: {path: ~/a.ods, first: A1, rows: [[Name, Age], [Ann, 31]]}}``
    """
    worksheet = _sheet(view, path, sheet)
    if worksheet is None or not rows:
        return False
    left, top = _numbers(first)
    wanted = {
        f"{_letters(left + column)}{top + row}": value
        for row, values in enumerate(rows)
        for column, value in enumerate(values)
    }
    if not all(_is_cell(worksheet.cells.get(place), value) for place, value in wanted.items()):
        return False
    formulas = [
        place for place in wanted if place in worksheet.cells and worksheet.cells[place].formula
    ]
    return not formulas or not _is_refuted(view, path, sheet, *formulas)


@evaluator(on="documents")
def sheet_size_equals(
    view: MachineView, path: MachinePath, rows: int, columns: int, sheet: str = ""
) -> bool:
    """Return whether a sheet's used area has exactly the given numbers of rows and columns.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        rows: number of the last row that is not empty, from 1.
        columns: number of the last column that is not empty, from 1.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: sheet_size_equals, with: {path: ~/a.ods, rows: 5, columns: 2}}``
    """
    worksheet = _sheet(view, path, sheet)
    if worksheet is None or not worksheet.cells:
        return False
    places = [_numbers(place) for place in worksheet.cells]
    return (max(row for _, row in places), max(column for column, _ in places)) == (rows, columns)


@evaluator(on="documents")
def panes_frozen(
    view: MachineView, path: MachinePath, rows: int, columns: int, sheet: str = ""
) -> bool:
    """Return whether exactly the given numbers of rows and columns of a sheet are frozen.

    A movable split is not frozen, and hidden rows and columns do not count. Proves the state, not
    who caused it.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        rows: number of rows at the top; 0 for none.
        columns: number of columns at the left; 0 for none.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: panes_frozen, with: {path: ~/a.ods, rows: 1, columns: 0}}``
    """
    worksheet = _sheet(view, path, sheet)
    return worksheet is not None and (worksheet.frozen_rows, worksheet.frozen_columns) == (
        rows,
        columns,
    )


@evaluator(on="documents")
def sheet_names_equal(view: MachineView, path: MachinePath, names: list[str]) -> bool:
    """Return whether a spreadsheet has exactly the given visible sheets, in the given order.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        names: names on the tabs, from the left.

    Example:
        ``{on: desktop, check: sheet_names_equal, with: {path: ~/a.ods, names: [Data, Sums]}}``
    """
    book = view.workbook(path)
    if book is None:
        return False
    return [sheet.name for sheet in book.sheets if not sheet.is_hidden] == names


@evaluator(on="documents")
def sheet_has_chart(
    view: MachineView,
    path: MachinePath,
    kind: Literal["bar", "column", "line", "pie", "scatter", "area"],
    series: list[str],
    *,
    title: str = "",
    sheet: str = "",
) -> bool:
    """Return whether a sheet has a chart of the given kind with exactly the given ranges.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        kind: kind of chart; ``bar`` is horizontal, ``column`` is vertical.
        series: ranges of the values, such as ``B2:B6`` or ``Data!B2:B6``, in any order; ``$``
            signs and the name of the chart's own sheet are ignored.
        title: the chart's complete title; empty matches any.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: sheet_has_chart,
        with: {path: ~/a.ods, kind: column, series: ["B2:B6"]}}``
    """
    worksheet = _sheet(view, path, sheet)
    if worksheet is None or not series:
        return False
    wanted = sorted(_range(cells, worksheet.name) for cells in series)
    return any(
        chart.kind == kind
        and title in {"", chart.title}
        and sorted(_range(cells, worksheet.name) for cells in chart.series) == wanted
        for chart in worksheet.charts
    )


@evaluator(on="documents")
def cells_bold(view: MachineView, path: MachinePath, cells: list[Place], sheet: str = "") -> bool:
    """Return whether the given cells of a spreadsheet are bold, but not all other cells.

    A cell is bold if all its words are bold, by the format of the cell, its row, its column or the
    words. Conditional formats do not count.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        cells: cells, such as ``A1``; each must have content.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cells_bold, with: {path: ~/a.ods, cells: [A1, B1]}}``
    """
    worksheet = _sheet(view, path, sheet)
    if worksheet is None or not cells:
        return False
    others = [cell for place, cell in worksheet.cells.items() if place not in cells]
    is_everything = bool(others) and all(cell.bold for cell in others)
    return not is_everything and all(
        place in worksheet.cells and worksheet.cells[place].bold for place in cells
    )


@evaluator(on="documents")
def cell_filled(
    view: MachineView, path: MachinePath, cell: Place, colour: str, sheet: str = ""
) -> bool:
    """Return whether a non-empty cell of a spreadsheet has the given background colour.

    Conditional formats are ignored, even if they cover the colour.

    Args:
        view: the machine.
        path: path of the .ods or .xlsx file.
        cell: the cell, such as ``B7``.
        colour: colour as hexadecimal ``rrggbb``; case-insensitive.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cell_filled, with: {path: ~/a.ods, cell: B7, colour: ffff00}}``
    """
    cell_content = _cell(view, path, sheet, cell)
    return cell_content is not None and cell_content.fill == colour.lower().lstrip("#") != ""


def _sheet(view: MachineView, path: str, name: str) -> Sheet | None:
    return find_sheet(view.workbook(path), name)


def _cell(view: MachineView, path: str, sheet: str, place: str) -> Cell | None:
    worksheet = _sheet(view, path, sheet)
    return worksheet.cells.get(place) if worksheet is not None else None


def _calculator(view: MachineView, path: str, sheet: str) -> tuple[Calculator, str]:
    """Return a calculator of a workbook that has a sheet, and the sheet's name."""
    worksheet = _sheet(view, path, sheet)
    return (
        Calculator(view.workbook(path) or Workbook()),
        worksheet.name if worksheet is not None else "",
    )


def _is_refuted(view: MachineView, path: str, sheet: str, *places: str) -> bool:
    book, worksheet = view.workbook(path), _sheet(view, path, sheet)
    return book is not None and worksheet is not None and is_refuted(book, worksheet, *places)


def _is_cell(cell: Cell | None, wanted: Value | None) -> bool:
    if wanted is None:
        return cell is None or cell.value in {None, ""}
    return cell is not None and _holds(cell, wanted)


def _holds(cell: Cell, wanted: Value, tolerance: float | None = None) -> bool:
    """Return whether a cell has a value; all notations of a time are equal."""
    if cell.is_date and isinstance(cell.value, str) and isinstance(wanted, str):
        return _moment(cell.value) == _moment(wanted)
    return is_same_value(cell.value, wanted, tolerance)


def _moment(text: str) -> str:
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        return text.strip()
    clock = [match[long] or match[short] for long, short in _PARTS]
    hours, minutes, seconds = (int(part or 0) for part in clock)
    return f"{match['day'] or ''} {hours}:{minutes:02}:{seconds:02}".strip()


def _range(reference: str, own: str) -> str:
    """Normalise a range to ``Sheet!A1:A2`` without quotes and ``$``; `own` is the default sheet."""
    sheet, mark, cells = reference.replace("$", "").rpartition("!")
    return f"{sheet.strip(chr(39)) if mark else own}!{cells.upper()}"


def _numbers(place: str) -> tuple[int, int]:
    """Return column and row of ``B7``, both from 1."""
    letters = place.rstrip("0123456789")
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return column, int(place[len(letters) :])


def _letters(number: int) -> str:
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name
