"""Results of formulas for other inputs, which tell a formula from a typed number."""

from __future__ import annotations

from typing import Any

from images.renderer.program.errors import DocumentError


def perturb(document: Any, request: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: ANN401
    """Change inputs, recalculate, read results, and restore the inputs.

    Args:
        document: the open workbook.
        request: ``inputs`` (sheet, cell, value) and ``results`` (sheet, cell).
    """
    inputs = [(find_cell(document, place), place["value"]) for place in request["inputs"]]
    before = [cell.Formula for cell, _ in inputs]
    for cell, value in inputs:
        if isinstance(value, str):
            cell.String = value
        else:
            cell.Value = float(value)
    document.calculateAll()
    results = [_result(find_cell(document, place)) for place in request["results"]]
    for (cell, _), formula in zip(inputs, before, strict=True):
        cell.Formula = formula
    document.calculateAll()
    return results


def _result(cell: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    is_text = cell.FormulaResultType2 == _TEXT if cell.Formula.startswith("=") else not cell.Value
    error = cell.getError()
    value = None if error else (cell.String if is_text else cell.Value)
    return {"text": cell.String, "value": value, "error": error}


_TEXT = 2
"""Source: com.sun.star.sheet.FormulaResult.STRING."""


def find_cell(document: Any, place: dict[str, Any]) -> Any:  # noqa: ANN401 - UNO has no types
    """Return a cell by sheet and name.

    Raises:
        DocumentError: there is no such sheet.
    """
    if not document.Sheets.hasByName(place["sheet"]):
        raise DocumentError(f"There is no sheet {place['sheet']!r}.")
    return document.Sheets.getByName(place["sheet"]).getCellRangeByName(place["cell"])
