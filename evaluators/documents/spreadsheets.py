"""Evaluators of the cells of spreadsheets (.ods, .xlsx, .xls, .csv ...).

LibreOffice opens and draws the workbook ([views of documents](views-of-documents.md)): a value
counts if the cell has it and shows it. A cell that cannot be seen (white on white, a row of no height,
hidden, covered), that shows something else by its number format, or only ``###``, has no value.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.rendering.request import CELL_PATTERN, CellPlace, Input, Perturbation
from evaluators.sheets.formulas import (
    calls_of,
    criteria_in,
    is_same_formula,
    numbers_in,
    replace_calls,
    texts_in,
)
from evaluators.sheets.places import cells_of, shown_cell, shown_sheet
from evaluators.sheets.seen import see_cell, see_cells
from evaluators.sheets.values import Value, is_same_value

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.sheets import Cell, Result

Place = Annotated[str, Field(pattern=CELL_PATTERN)]
_OTHER_RESULTS = ("{0}+1", "{0}*1.5+1", "{0}*2+3")
"""What may stand for the result of a function."""
_CHOOSERS = frozenset(
    {"IF", "IFS", "IFERROR", "IFNA", "SWITCH", "CHOOSE", "AND", "OR", "NOT", "XOR", "EXACT"}
)
"""Functions with which a formula chooses between typed results."""
_EXTREMES = (1e9, -1e9)
_MAX_CRITERIA = 6


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

    The cell must show the value: a number format that shows another number, or a cell that cannot be
    seen, is unmet. Rounding, percent, currencies and formats of dates show the value; units, which may
    change it, do not (``cell_displays`` compares texts). Dates must be shown by ISO, with the name of the
    month, or as month/day or day.month, unless the day is above 12; with day, month and year, and their time. Numbers may differ by one part in a billion, or by `tolerance`. A number does not equal a text that looks like
    it. White space at the ends of texts is ignored. The result of a formula must be both what is shown when
    the file is opened, and what LibreOffice calculates.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the file.
        cell: the cell, such as ``B7``.
        value: a text, a number, true or false; dates are texts such as ``2026-11-21``, times such
            as ``14:30`` or ``2026-11-21 14:30``, with or without seconds.
        sheet: name of the sheet; by default the first visible one.
        tolerance: maximum difference of a number from `value`.

    Example:
        ``{on: desktop, check: cell_equals, with: {path: ~/a.ods, cell: B7, value: 41.5}}``
    """
    seen = see_cell(view, path, sheet, cell)
    return seen is not None and seen.has(value, tolerance or None)


@evaluator(on="documents")
def cell_has_formula(
    view: MachineView, path: MachinePath, cell: Place, formula: str, sheet: str = ""
) -> bool:
    """Return whether a cell of a spreadsheet has the given formula.

    Letter case and spaces outside quotes, and ``$`` signs, are ignored; arguments may be separated
    by commas or semicolons. So are a plus sign before a value, brackets that change nothing, the
    name of the cell's own sheet, and the order of a range's corners: ``=+(SUM(Sheet1!B6:B2))`` on
    ``Sheet1`` is ``=SUM(B2:B6)``. The cell must not be in a hidden row, column or sheet.

    Args:
        view: the machine.
        path: path of the file.
        cell: the cell, such as ``B7``.
        formula: formula in A1 notation, such as ``=SUM(B2:B6)``; other sheets as ``Name!A1``.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cell_has_formula,
        with: {path: ~/a.ods, cell: B7, formula: "=SUM(B2:B6)"}}``
    """
    found = shown_cell(view, path, sheet, cell)
    return found is not None and is_same_formula(found[1].formula, formula, found[0].name)


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

    The cell must show the value, as in ``cell_equals``. LibreOffice then calculates the formula with
    other cells and with other results of the function, which must change the result: ``=12+SUM(B9)``
    with an empty B9, ``=12+0*SUM(B2:B6)``, ``=MIN(12,SUM(B2:B6))`` and ``=SUM(12)`` do not calculate
    12. Formulas may use names, tables, arrays and other sheets.

    Args:
        view: the machine.
        path: path of the file.
        cell: the cell, such as ``B7``.
        value: the result; numbers may differ by one part in a billion.
        function: any function of LibreOffice that the formula calls, such as ``AVERAGE``;
            case-insensitive.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cell_calculated,
        with: {path: ~/a.ods, cell: B7, value: 12, function: SUM}}``
    """
    seen = see_cell(view, path, sheet, cell)
    if seen is None or not seen.has(value) or not calls_of(seen.cell.formula, function):
        return False
    others = _other_formulas(seen.cell, function)
    here = CellPlace(sheet=sheet, cell=cell)
    changes = (
        *(
            Perturbation(inputs=(Input(sheet=sheet, cell=cell, formula=other),), results=(here,))
            for other in others
        ),
        *_other_cells(seen.cell.formula, here),
    )
    book = view.workbook(path, perturbations=changes)
    results = [row[0] for row in book.perturbed] if book is not None else []
    return _is_calculated(seen.cell, function, results[: len(others)], results[len(others) :])


@evaluator(on="documents")
def cells_equal(
    view: MachineView,
    path: MachinePath,
    first: Place,
    rows: list[list[Value | None]],
    sheet: str = "",
) -> bool:
    """Return whether a block of cells of a spreadsheet has exactly the given values.

    Each cell must show its value, as in ``cell_equals``. Numbers may differ by one part in a billion.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the file.
        first: the block's upper left cell.
        rows: values by row, from the top; null for an empty cell.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cells_equal,
        with: {path: ~/a.ods, first: A1, rows: [[Name, Age], [Ann, 31]]}}``
    """
    wanted = dict(cells_of(first, rows))
    names = [name for name, value in wanted.items() if value is not None]
    seen = see_cells(view, path, sheet, names)
    tab = shown_sheet(view, path, sheet)
    if tab is None or not wanted:
        return False
    return all(
        _is_blank(tab.cell(name)) if value is None else name in seen and seen[name].has(value)
        for name, value in wanted.items()
    )


def _is_blank(cell: Cell | None) -> bool:
    return cell is None or cell.value == ""


def _other_formulas(cell: Cell, function: str) -> list[str]:
    """Return the formula of a cell with other results of a function."""

    def instead(of: str, template: str) -> str:
        number = template.format(of)
        return f'IF(ISLOGICAL({of});NOT({of});IF(ISTEXT({of});{of}&"?";{number}))'

    formulas = [
        replace_calls(cell.formula, function, partial(instead, template=template))
        for template in _OTHER_RESULTS
    ]
    return [f"{{{formula}}}" for formula in formulas] if cell.is_array else formulas


def _other_cells(formula: str, here: CellPlace) -> list[Perturbation]:
    """Return changes of all typed cells: none are left, others, and those that criteria ask for."""
    criteria = criteria_in(formula)[:_MAX_CRITERIA]
    nearby = [value + 1 for value in criteria if isinstance(value, float)]
    fillings = dict.fromkeys((*_EXTREMES, *criteria, *nearby))
    return [
        Perturbation(typed="emptied", results=(here,)),
        Perturbation(typed="changed", results=(here,)),
        *(Perturbation(typed="filled", filling=value, results=(here,)) for value in fillings),
    ]


def _is_calculated(
    cell: Cell, function: str, with_others: list[Result], with_cells: list[Result]
) -> bool:
    """Return whether a result depends on a function, and on cells.

    Args:
        cell: the cell with the formula.
        function: the function.
        with_others: results with other results of the function.
        with_cells: results with other cells; the first one with none.
    """
    depends = [_differs(result, cell) for result in with_others]
    varies = [_differs(result, cell) for result in with_cells]
    numbers, value = numbers_in(cell.formula), cell.value
    is_typed = value in texts_in(cell.formula) or any(is_same_value(value, n) for n in numbers)
    has_typed = bool(numbers) if isinstance(value, float) else is_typed
    is_chooser = function.upper() in _CHOOSERS
    if is_typed and not is_chooser and not _follows(depends, with_others):
        return False
    if not any(depends):
        return False
    return varies[0] or (any(varies) and (is_chooser or not has_typed))


def _follows(depends: list[bool], results: list[Result]) -> bool:
    """Return whether each other result of a function gave another result, and numbers not the same."""
    numbers = {result.value for result in results if isinstance(result.value, float)}
    return all(depends) and len(numbers) != 1


def _differs(result: Result, cell: Cell) -> bool:
    return result.error != 0 or not is_same_value(result.value, cell.value)
