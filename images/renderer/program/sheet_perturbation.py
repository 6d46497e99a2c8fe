"""Results of formulas for other inputs, which tell a formula from a typed number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPED = 1 | 2 | 4
"""Source: com.sun.star.sheet.CellFlags: VALUE, DATETIME, STRING."""
_TEXT = 2
"""Source: com.sun.star.sheet.FormulaResult.STRING."""
_IllegalArgument = uno.getClass("com.sun.star.lang.IllegalArgumentException")
_Values = list[tuple[Any, Any]]


def perturb_all(document: Any, requests: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:  # noqa: ANN401
    """Return the results of each perturbation.

    Args:
        document: an open copy of the workbook, whose formatting within cells is lost.
        requests: each with ``typed`` (what happens to all typed cells), ``inputs`` (sheet, cell,
            value, formula) and ``results`` (sheet, cell).
    """
    unlock(document)
    return [_perturb(document, request) for request in requests]


def unlock(document: Any) -> None:  # noqa: ANN401 - UNO has no types
    """Let cells of protected sheets be changed.

    Raises:
        DocumentError: a sheet is protected by a password.
    """
    for number in range(document.Sheets.Count):
        sheet = document.Sheets.getByIndex(number)
        if sheet.isProtected():
            try:
                sheet.unprotect("")
            except _IllegalArgument as exc:
                raise DocumentError(f"A password protects the sheet {sheet.Name!r}.") from exc


def _perturb(document: Any, request: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: ANN401
    document.addActionLock()
    change = _change_of(request)
    typed = _typed_cells(document) if change else []
    for area, values in typed:
        area.setDataArray(_changed(values, change))
    inputs = [(find_cell(document, place), place) for place in request["inputs"]]
    before = [cell.Formula for cell, _ in inputs]
    for cell, place in inputs:
        _write(cell, place["value"], place["formula"])
    document.removeActionLock()
    document.calculateAll()
    results = [_result(find_cell(document, place)) for place in request["results"]]
    for (cell, _), formula in zip(inputs, before, strict=True):
        _write(cell, None, formula)
    for area, values in typed:
        area.setDataArray(values)
    return results


def _typed_cells(document: Any) -> _Values:  # noqa: ANN401 - UNO has no types
    """Return the ranges of cells without formulas, each with its values."""
    found = []
    for number in range(document.Sheets.Count):
        ranges = document.Sheets.getByIndex(number).queryContentCells(_TYPED)
        areas = [ranges.getByIndex(place) for place in range(ranges.Count)]
        found += [(area, area.getDataArray()) for area in areas]
    return found


def _change_of(request: dict[str, Any]) -> Callable[[float | str, int], float | str] | None:
    """Return what becomes of a typed value in a row of its range; None if nothing does."""
    filling = request["filling"]
    changes: dict[str, Callable[[float | str, int], float | str]] = {
        "emptied": lambda *_: "",
        "changed": _altered,
        "filled": lambda *_: filling,
    }
    return changes.get(request["typed"])


def _altered(value: float | str, row: int) -> float | str:
    return f"{value}?" if isinstance(value, str) else value * 1.75 + 3 + row % 7


def _changed(values: Any, change: Callable[[float | str, int], float | str] | None) -> Any:  # noqa: ANN401
    if change is None:
        return values
    return tuple(tuple(change(value, row) for value in line) for row, line in enumerate(values))


def _write(cell: Any, value: float | str | None, formula: str) -> None:  # noqa: ANN401
    if formula.startswith("{=") and formula.endswith("}"):
        cell.setArrayFormula(formula[1:-1])
    elif formula:
        cell.Formula = formula
    elif isinstance(value, float | int):
        cell.Value = float(value)
    else:
        cell.String = value or ""


def _result(cell: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    is_formula = cell.Formula.startswith(("=", "{="))
    is_text = cell.FormulaResultType2 == _TEXT if is_formula else not cell.Value
    error = cell.getError()
    value = None if error else (cell.String if is_text else cell.Value)
    return {"text": cell.String, "value": value, "error": error}


def find_sheet(document: Any, name: str) -> Any | None:  # noqa: ANN401 - UNO has no types
    """Return a sheet by name, the first shown one if the name is empty; None if there is none."""
    sheets = document.Sheets
    if name:
        return sheets.getByName(name) if sheets.hasByName(name) else None
    every = (sheets.getByIndex(number) for number in range(sheets.Count))
    return next((sheet for sheet in every if sheet.IsVisible), None)


def find_cell(document: Any, place: dict[str, Any]) -> Any:  # noqa: ANN401 - UNO has no types
    """Return a cell by sheet and name.

    Raises:
        DocumentError: there is no such sheet.
    """
    sheet = find_sheet(document, place["sheet"])
    if sheet is None:
        raise DocumentError(f"There is no sheet {place['sheet']!r}.")
    return sheet.getCellRangeByName(place["cell"])
