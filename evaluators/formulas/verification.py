"""Verify the stored results of formulas by recalculation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.formulas.calculation import Calculator, entered_value
from evaluators.formulas.functions import ErrorValue
from evaluators.formulas.parser import UnsupportedFormula, WrongFormula

if TYPE_CHECKING:
    from evaluators.formulas.parser import Scalar
    from evaluators.readers.model import Cell, Sheet, Workbook

Value = str | bool | float
"""Value of a cell; integers are floats."""
_CERTAIN = ("#DIV/0!", "#REF!")
"""Errors that every program calculates from the same formula."""


def find_sheet(book: Workbook | None, name: str) -> Sheet | None:
    """Return a sheet of a workbook; None if there is none.

    Args:
        book: the workbook.
        name: name of the sheet; empty for the first visible one.
    """
    sheets = book.sheets if book is not None else ()
    wanted = (sheet for sheet in sheets if sheet.name == name or not (name or sheet.is_hidden))
    return next(wanted, None)


def is_refuted(book: Workbook, sheet: Sheet, *places: str) -> bool:
    """Return whether recalculation of a cell's formula contradicts the stored result.

    Formulas that cannot be recalculated are trusted, except those that no program can calculate, or
    whose result is an error in every program.

    Args:
        book: the workbook.
        sheet: the sheet of the cells.
        places: cells, such as ``B7``.
    """
    calculator = Calculator(book)
    for place in places:
        cell = sheet.cells.get(place)
        try:
            if cell is not None and not is_result(cell, calculator.value(sheet.name, place)):
                return True
        except WrongFormula:
            return True
        except ErrorValue as exc:
            if str(exc) in _CERTAIN and cell is not None and cell.value != str(exc):
                return True
        except UnsupportedFormula:
            continue
    return False


def is_result(cell: Cell, result: Scalar) -> bool:
    """Return whether a cell's stored value equals the result of its formula."""
    stored = entered_value(cell)
    tolerance = max(abs(stored) * 1e-9, 1e-12) if isinstance(stored, float) else None
    return result is not None and is_same_value(stored, result, tolerance)


def is_same_value(seen: object, wanted: Value, tolerance: float | None = None) -> bool:
    """Return whether values are equal; numbers to one part in a billion unless a tolerance is given."""
    if isinstance(seen, bool):
        return seen is wanted
    if isinstance(seen, float) and isinstance(wanted, float | int) and not isinstance(wanted, bool):
        return abs(seen - wanted) <= (abs(wanted) * 1e-9 if tolerance is None else tolerance)
    return isinstance(seen, str) and isinstance(wanted, str) and seen.strip() == wanted.strip()
