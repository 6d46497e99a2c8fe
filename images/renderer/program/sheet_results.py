"""Stored results of formulas, which the desktop shows until it recalculates them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from images.renderer.program.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CELLS = 500_000
"""Cells of the used rectangle of a sheet, empty ones included."""
RESULTS = 1 | 2 | 4
"""Source: com.sun.star.sheet.FormulaResult: VALUE, STRING, ERROR."""
_STYLE = re.compile(r"\bSTYLE\s*\(", re.IGNORECASE)
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
Spot = tuple[int, int, int]
"""Numbers of sheet, row and column of a cell."""


def find_stale(document: Any) -> set[Spot]:  # noqa: ANN401 - UNO has no types
    """Return the formulas whose result is not what they calculate, except by chance or by the time.

    Args:
        document: a workbook as it was opened; it may be recalculated afterwards.
    """
    opened = _results(document)
    if not opened:
        return set()
    document.calculateAll()
    first = _results(document)
    differing = {spot for spot in opened if not _is_same(opened[spot], first[spot])}
    if not differing:
        return set()
    document.calculateAll()
    second = _results(document)
    return {spot for spot in differing if _is_same(first[spot], second[spot])}


def find_restyling(document: Any) -> set[Spot]:  # noqa: ANN401 - UNO has no types
    """Return the formulas that change how their cell looks, now or after some seconds."""
    found: set[Spot] = set()
    for number in range(document.Sheets.Count):
        sheet = document.Sheets.getByIndex(number)
        ranges = sheet.queryFormulaCells(RESULTS)
        if not ranges.Count:
            continue
        formulas = used_range(sheet).FormulaArray
        found |= {
            (number, row, column)
            for row, column in spots_of(ranges)
            if is_restyling(formulas[row][column])
        }
    return found


def is_restyling(formula: str) -> bool:
    """Return whether a formula changes how its cell looks."""
    return bool(_STYLE.search(formula))


def spots_of(ranges: Any) -> Iterator[tuple[int, int]]:  # noqa: ANN401 - UNO has no types
    """Yield row and column of each cell of ranges."""
    for address in ranges.RangeAddresses:
        for row in range(address.StartRow, address.EndRow + 1):
            for column in range(address.StartColumn, address.EndColumn + 1):
                yield row, column


def used_range(sheet: Any) -> Any:  # noqa: ANN401 - UNO has no types
    """Return the range from A1 to the last used cell of a sheet.

    Raises:
        DocumentError: it has more than `MAX_CELLS`.
    """
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    end = cursor.RangeAddress
    rows, columns = end.EndRow + 1, end.EndColumn + 1
    if rows * columns > MAX_CELLS:
        raise DocumentError(f"The sheet {sheet.Name!r} uses {rows} rows and {columns} columns.")
    return sheet.getCellRangeByPosition(0, 0, end.EndColumn, end.EndRow)


def _results(document: Any) -> dict[Spot, object]:  # noqa: ANN401 - UNO has no types
    results: dict[Spot, object] = {}
    for number in range(document.Sheets.Count):
        sheet = document.Sheets.getByIndex(number)
        ranges = sheet.queryFormulaCells(RESULTS)
        if ranges.Count:
            values = used_range(sheet).DataArray
            results |= {
                (number, row, column): values[row][column] for row, column in spots_of(ranges)
            }
    return results


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    return one == other
