"""Evaluators of the structure of workbooks: sheets, rows and columns, panes, merged cells, validity.

What a workbook shows is told by LibreOffice ([views of documents](views-of-documents.md)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.sheets.places import (
    RANGE_PATTERN,
    cells_in,
    column_letters,
    column_number,
    is_hidden,
    ordered,
    shown_sheet,
)

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.sheets import Validation

Area = Annotated[str, Field(pattern=RANGE_PATTERN)]


@evaluator(on="documents")
def sheet_size_equals(
    view: MachineView, path: MachinePath, rows: int, columns: int, sheet: str = ""
) -> bool:
    """Return whether a sheet's used area has exactly the given numbers of rows and columns.

    Cells with content count, also in hidden rows and columns, except that the last row and the last
    column must not be hidden.

    Args:
        view: the machine.
        path: path of the file.
        rows: number of the last row that is not empty, from 1.
        columns: number of the last column that is not empty, from 1.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: sheet_size_equals, with: {path: ~/a.ods, rows: 5, columns: 2}}``
    """
    tab = shown_sheet(view, path, sheet)
    if tab is None or not tab.cells:
        return False
    last_row = max(cell.row for cell in tab.cells)
    last_column = max(cell.column for cell in tab.cells)
    is_open = tab.is_open(last_row, last_column)
    return is_open and (last_row + 1, last_column + 1) == (rows, columns)


@evaluator(on="documents")
def panes_frozen(
    view: MachineView, path: MachinePath, rows: int, columns: int, sheet: str = ""
) -> bool:
    """Return whether exactly the given numbers of rows and columns of a sheet are frozen.

    A movable split is not frozen, hidden rows and columns do not count, and none may have been scrolled
    away before. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the file.
        rows: number of rows at the top; 0 for none.
        columns: number of columns at the left; 0 for none.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: panes_frozen, with: {path: ~/a.ods, rows: 1, columns: 0}}``
    """
    tab = shown_sheet(view, path, sheet)
    if tab is None or tab.scrolled_rows or tab.scrolled_columns:
        return False
    hidden_rows = sum(row < tab.frozen_rows for row in tab.hidden_rows)
    hidden_columns = sum(column < tab.frozen_columns for column in tab.hidden_columns)
    seen = tab.frozen_rows - hidden_rows, tab.frozen_columns - hidden_columns
    return seen == (rows, columns)


@evaluator(on="documents")
def sheet_names_equal(view: MachineView, path: MachinePath, names: list[str]) -> bool:
    """Return whether a spreadsheet has exactly the given visible sheets, in the given order.

    Args:
        view: the machine.
        path: path of the file.
        names: names on the tabs, from the left.

    Example:
        ``{on: desktop, check: sheet_names_equal, with: {path: ~/a.ods, names: [Data, Sums]}}``
    """
    book = view.workbook(path)
    return book is not None and [tab.name for tab in book.sheets if tab.is_shown] == names


@evaluator(on="documents")
def cells_merged(view: MachineView, path: MachinePath, cells: Area, sheet: str = "") -> bool:
    """Return whether exactly the given range of cells is merged into one.

    Args:
        view: the machine.
        path: path of the file.
        cells: the range, such as ``A1:C1``.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cells_merged, with: {path: ~/a.ods, cells: "A1:C1"}}``
    """
    tab = shown_sheet(view, path, sheet)
    return tab is not None and ordered(cells) in tab.merged and not is_hidden(tab, cells)


@evaluator(on="documents")
def cells_validated(
    view: MachineView,
    path: MachinePath,
    cells: Area,
    *,
    choices: list[str] | None = None,
    rule: str = "",
    sheet: str = "",
) -> bool:
    """Return whether input into cells is restricted: to a list of texts, or by a rule.

    Input that breaks the rule must be refused, and a list must be offered.

    Args:
        view: the machine.
        path: path of the file.
        cells: cells that must all have the rule, such as ``C2:C9``.
        choices: the texts of the list, in order.
        rule: kind, comparison and operands, such as ``whole between 1 100``, ``decimal greater 0``,
            ``list $E$1:$E$4``; used if there are no choices.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cells_validated,
        with: {path: ~/a.ods, cells: "C2:C9", choices: [open, done]}}``
    """
    tab = shown_sheet(view, path, sheet)
    if tab is None or not (choices or rule):
        return False
    ruled = {
        cell
        for validation in tab.validations
        if validation.is_refusing and _is_rule(validation, choices or [], rule)
        for area in validation.ranges
        for cell in cells_in(area)
    }
    return set(cells_in(cells)) <= ruled


@evaluator(on="documents")
def sheet_zoom_equals(
    view: MachineView, path: MachinePath, percent: Annotated[int, Field(ge=20)], sheet: str = ""
) -> bool:
    """Return whether a sheet is shown at the given zoom when the file is opened.

    Args:
        view: the machine.
        path: path of the file.
        percent: the zoom in percent.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: sheet_zoom_equals, with: {path: ~/a.ods, percent: 150}}``
    """
    tab = shown_sheet(view, path, sheet)
    return tab is not None and tab.zoom_percent == percent


@evaluator(on="documents")
def lines_hidden(
    view: MachineView,
    path: MachinePath,
    *,
    rows: list[int] | None = None,
    columns: list[str] | None = None,
    sheet: str = "",
) -> bool:
    """Return whether exactly the given rows and columns of a sheet's used area are hidden.

    Rows that a filter leaves out are hidden.

    Args:
        view: the machine.
        path: path of the file.
        rows: numbers of rows, from 1.
        columns: letters of columns.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: lines_hidden, with: {path: ~/a.ods, columns: [C, D]}}``
    """
    tab = shown_sheet(view, path, sheet)
    if tab is None:
        return False
    hidden = {column_letters(column) for column in tab.hidden_columns}
    return hidden == set(columns or []) and {row + 1 for row in tab.hidden_rows} == set(rows or [])


@evaluator(on="documents")
def column_width_equals(
    view: MachineView,
    path: MachinePath,
    column: Annotated[str, Field(pattern=r"^[A-Z]{1,3}$")],
    width_mm: Annotated[float, Field(gt=0)],
    *,
    tolerance_mm: Annotated[float, Field(ge=0)] = 0.3,
    sheet: str = "",
) -> bool:
    """Return whether a column of a sheet's used area is shown with the given width.

    Args:
        view: the machine.
        path: path of the file.
        column: letters of the column.
        width_mm: the width in millimetres.
        tolerance_mm: maximum difference.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: column_width_equals, with: {path: ~/a.ods, column: B, width_mm: 50}}``
    """
    tab, number = shown_sheet(view, path, sheet), column_number(column)
    if tab is None or number in tab.hidden_columns or number >= len(tab.column_widths_mm):
        return False
    return abs(tab.column_widths_mm[number] - width_mm) <= tolerance_mm


def _is_rule(validation: Validation, choices: list[str], rule: str) -> bool:
    if choices:
        quoted = ";".join(f'"{choice}"' for choice in choices)
        return validation.type == "list" and validation.shows_list and validation.formula1 == quoted
    parts = (validation.operator, validation.formula1, validation.formula2)
    named = [validation.type, *(part for part in parts if part and part != "none")]
    if validation.type == "list":
        named = [validation.type, validation.formula1]
    return " ".join(named) == " ".join(rule.split())
