"""Recalculate a cell of a workbook and the cells that it refers to, with bounded work."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING

from evaluators.formulas.functions import (
    AGGREGATES,
    FUNCTIONS,
    Argument,
    Block,
    ErrorValue,
    compare,
    limited,
    number,
    text,
    to_boolean,
)
from evaluators.formulas.parser import (
    Call,
    Constant,
    Node,
    Operation,
    Reference,
    Scalar,
    UnsupportedFormula,
    WrongFormula,
    calls,
    column_number,
    parse,
    parts,
    references,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.readers.model import Cell, Workbook

MAX_STEPS = 1_000_000
"""Limit of the work for one workbook, in steps: reading a cell is a step; parsing also counts."""
_STEPS_PER_CHARACTER = 4
"""Cost of parsing, in steps."""
_EPOCH = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - dates of spreadsheets have no zone
_Key = tuple[str, int, int]
"""Sheet in lower case, row, column."""
_Change = tuple[str, "Callable[[Scalar], Scalar]"]
"""A function's name, and the replacement for its results."""


class Calculator:
    """Calculator of cells of a workbook from entered values, ignoring stored results.

    Args:
        book: the workbook.
        max_steps: see `MAX_STEPS`.
    """

    def __init__(self, book: Workbook, *, max_steps: int = MAX_STEPS) -> None:
        self._grids: dict[str, dict[tuple[int, int], Cell]] = {
            sheet.name.casefold(): {_place(name): cell for name, cell in sheet.cells.items()}
            for sheet in book.sheets
        }
        self._results: dict[_Key, Scalar | ErrorValue] = {}
        self._parsed: dict[_Key, Node] = {}
        self._steps = max_steps
        self._is_blank = False

    def value(self, sheet: str, place: str) -> Scalar:
        """Calculate a cell; a date becomes its serial number.

        Raises:
            ErrorValue: the result is an error.
            UnsupportedFormula: the formula uses unsupported features, refers to itself, or needs
                too much work.
        """
        return self._result(self._settle((sheet.casefold(), *_place(place))))

    def depends_on(self, sheet: str, place: str, function: str) -> bool:
        """Return whether a cell's result depends on the result of a function that it calls.

        The result must differ if the function returned something else, and the formula must have a
        call without arguments, or one that reads a cell with content. If the result is a number
        that also occurs in the formula as a literal, it must differ for every other result of the
        function, and if the cells that the formula reads were empty.

        Raises:
            UnsupportedFormula: see `value`.
        """
        key = self._settle((sheet.casefold(), *_place(place)))
        node = self._parsed.get(key)
        if node is None or not any(
            not call.arguments or self._reads_content(call, key[0])
            for call in calls(node)
            if call.name == function
        ):
            return False
        known = self._attempt(node, key[0], None)

        def differs(change: Callable[[Scalar], Scalar]) -> bool:
            return not _is_near(self._attempt(node, key[0], (function, change)), known)

        if not any(map(differs, _CHANGES)):
            return False
        return not self._is_typed(known[1], node, key[0], function) or (
            self._attempt(node, key[0], (function, _nothing_refused))[0]
            and all(map(differs, _OTHERS))
            and not (references(node) and _is_near(self._attempt_blank(node, key[0]), known))
        )

    def _reads_content(self, call: Call, sheet: str) -> bool:
        return any(
            self._stored(self._grids.get(reference.sheet.casefold() or sheet, {}), reference)
            for reference in references(call)
        )

    def _is_typed(self, value: Scalar, node: Node, sheet: str, function: str) -> bool:
        """Return whether a number other than 0 is a literal in a formula, or is calculated only from literals."""
        if isinstance(value, bool) or not isinstance(value, float) or not value:
            return False
        typed = (
            self._attempt(part, sheet, None)
            for part in parts(node)
            if not references(part) and all(call.name != function for call in calls(part))
        )
        return any(
            is_value and isinstance(result, float) and math.isclose(abs(result), abs(value))
            for is_value, result in typed
        )

    def _attempt(self, node: Node, sheet: str, change: _Change | None) -> tuple[bool, Scalar]:
        try:
            return (True, self._evaluate(node, sheet, change))
        except ErrorValue as exc:
            return (False, str(exc))

    def _attempt_blank(self, node: Node, sheet: str) -> tuple[bool, Scalar]:
        """Calculate a formula as though all cells that it reads were empty."""
        self._is_blank = True
        try:
            return self._attempt(node, sheet, None)
        finally:
            self._is_blank = False

    def _settle(self, wanted: _Key) -> _Key:
        """Calculate a cell and all cells that it refers to, without recursion between cells."""
        waiting, entered = [wanted], set[_Key]()
        while waiting:
            key = waiting[-1]
            node = self._node(key)
            missing = [] if node is None else self._missing(node, key[0])
            if missing and key in entered:
                raise WrongFormula("a cell refers to itself")
            if missing:
                entered.add(key)
                waiting += missing
                continue
            if node is not None and key not in self._results:
                try:
                    self._results[key] = self._evaluate(node, key[0], None)
                except ErrorValue as exc:
                    self._results[key] = exc
            waiting.pop()
        return wanted

    def _node(self, key: _Key) -> Node | None:
        """Return a cell's parsed formula; None if it has none."""
        cell = self._grids.get(key[0], {}).get(key[1:])
        if cell is None or not cell.formula:
            return None
        if key not in self._parsed:
            self._spend(len(cell.formula) * _STEPS_PER_CHARACTER)
            self._parsed[key] = parse(cell.formula)
        return self._parsed[key]

    def _missing(self, node: Node, sheet: str) -> list[_Key]:
        missing: list[_Key] = []
        for reference in references(node):
            name = reference.sheet.casefold() or sheet
            grid = self._grids.get(name, {})
            missing += [
                (name, *place)
                for place in self._stored(grid, reference)
                if grid[place].formula and (name, *place) not in self._results
            ]
        return missing

    def _stored(
        self, grid: dict[tuple[int, int], Cell], reference: Reference
    ) -> list[tuple[int, int]]:
        """Return the non-empty cells of a range, by iterating over the range or the stored cells, whichever are fewer."""
        rows = range(reference.top, reference.bottom + 1)
        columns = range(reference.left, reference.right + 1)
        self._spend(min(len(rows) * len(columns), len(grid)) + 1)
        if len(rows) * len(columns) <= len(grid):
            return [(row, column) for row in rows for column in columns if (row, column) in grid]
        return sorted((row, column) for row, column in grid if row in rows and column in columns)

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise UnsupportedFormula("too much work")

    def _result(self, key: _Key) -> Scalar:
        if key in self._results:
            result = self._results[key]
            if isinstance(result, ErrorValue):
                raise result
            return result
        cell = self._grids.get(key[0], {}).get(key[1:])
        return None if cell is None else entered_value(cell)

    def _evaluate(self, node: Node, sheet: str, change: _Change | None) -> Scalar:
        value = self._argument(node, sheet, change)
        if isinstance(value, Block):
            raise UnsupportedFormula("a range where a value is expected")
        if isinstance(value, float) and not math.isfinite(value):
            raise ErrorValue("#NUM!")
        return 0.0 if value is None else value

    def _argument(self, node: Node, sheet: str, change: _Change | None) -> Argument:
        if isinstance(node, Constant):
            return node.value
        if isinstance(node, Reference):
            return self._cell_or_range(node, sheet)
        if isinstance(node, Operation):
            return _operate(
                node.operator, [self._argument(operand, sheet, change) for operand in node.operands]
            )
        value = self._call(node, sheet, change)
        if change is None or change[0] != node.name or isinstance(value, Block):
            return value
        return change[1](value)

    def _cell_or_range(self, reference: Reference, sheet: str) -> Argument:
        if (reference.left, reference.top) != (reference.right, reference.bottom):
            return self._range(reference, sheet)
        place = (self._sheet(reference, sheet), reference.top, reference.left)
        return None if self._is_blank else self._result(place)

    def _sheet(self, reference: Reference, sheet: str) -> str:
        name = reference.sheet.casefold() or sheet
        if name not in self._grids:
            raise ErrorValue("#REF!")
        return name

    def _range(self, reference: Reference, sheet: str) -> Block:
        name = self._sheet(reference, sheet)
        return Block(
            reference.bottom - reference.top + 1,
            reference.right - reference.left + 1,
            {
                (row - reference.top, column - reference.left): self._result((name, row, column))
                for row, column in self._stored(self._grids[name], reference)
                if not self._is_blank
            },
        )

    def _call(self, node: Call, sheet: str, change: _Change | None) -> Argument:
        if node.name == "IF" and len(node.arguments) in {2, 3}:
            is_met = to_boolean(self._argument(node.arguments[0], sheet, change))
            branches = (*node.arguments[1:], Constant(value=False))
            return self._argument(branches[0 if is_met else 1], sheet, change)
        if node.name == "IFERROR" and len(node.arguments) == 2:  # noqa: PLR2004
            try:
                return self._argument(node.arguments[0], sheet, change)
            except ErrorValue:
                return self._argument(node.arguments[1], sheet, change)
        if node.name not in FUNCTIONS:
            raise UnsupportedFormula(f"{node.name} is not supported")
        arguments = [
            self._range(argument, sheet)
            if isinstance(argument, Reference) and node.name in AGGREGATES
            else self._argument(argument, sheet, change)
            for argument in node.arguments
        ]
        try:
            return FUNCTIONS[node.name](arguments)
        except (ValueError, ArithmeticError) as exc:
            raise ErrorValue("#NUM!") from exc
        except IndexError as exc:
            raise UnsupportedFormula(f"{node.name} lacks an argument") from exc


def entered_value(cell: Cell) -> Scalar:
    """Return a cell's value for formulas; a date becomes its serial number.

    Raises:
        UnsupportedFormula: the value is a time or duration.
    """
    if not cell.is_date:
        return cell.value
    try:
        moment = dt.datetime.fromisoformat(str(cell.value))
    except ValueError as exc:
        raise UnsupportedFormula("times are not supported") from exc
    return (moment.replace(tzinfo=None) - _EPOCH) / dt.timedelta(days=1)


def _operate(sign: str, operands: list[Argument]) -> Scalar:
    if len(operands) == 1:
        value = number(operands[0])
        return {"-": -value, "+": value, "%": value / 100}[sign]
    left, right = operands
    if sign == "&":
        return limited(text(left) + text(right))
    if sign in {"=", "<>", "<", ">", "<=", ">="}:
        return compare(sign, left, right)
    return _arithmetic(sign, number(left), number(right))


def _arithmetic(sign: str, left: float, right: float) -> float:
    try:
        match sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case _:
                return math.pow(left, right)
    except ZeroDivisionError as exc:
        raise ErrorValue("#DIV/0!") from exc
    except (ValueError, OverflowError) as exc:
        raise ErrorValue("#NUM!") from exc


def _place(name: str) -> tuple[int, int]:
    letters = name.rstrip("0123456789")
    return int(name[len(letters) :]), column_number(letters)


def _is_near(result: tuple[bool, Scalar], other: tuple[bool, Scalar]) -> bool:
    """Return whether two results are equal, within less than the change that a function could cause."""
    left, right = result[1], other[1]
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=_NOTICED)
    return result == other


def _changed(number_as: Callable[[float], float]) -> Callable[[Scalar], Scalar]:
    """Return a function that changes any value: numbers by a rule, others by their type."""

    def change(value: Scalar) -> Scalar:
        if isinstance(value, bool):
            return not value
        return f"{value}?" if isinstance(value, str) else number_as(value or 0.0)

    return change


def _nothing_refused(value: Scalar) -> Scalar:
    """Return a value, or an error for 0, which is the result of a function without input."""
    if not value and not isinstance(value, bool | str):
        raise ErrorValue("#N/A")
    return value


_NOTICED = 1e-4
"""Minimum relative change for a number to count as different."""
_FAR = 1e4
_CHANGES = (
    _changed(lambda value: value + 1),
    _changed(lambda value: value - 1),
    _changed(lambda value: value + _FAR * (1 + abs(value))),
    _changed(lambda value: value - _FAR * (1 + abs(value))),
)
"""Replacements for a function's result; at least one changes a result that depends on it."""
_OTHERS = (
    _changed(lambda value: 0.0 * value),
    _changed(lambda value: 2 * value + math.copysign(1, value)),
    _changed(lambda value: value / 2 - math.copysign(1, value)),
)
"""Replacements for a function's result; each changes a result that is the function's own."""
