"""Spreadsheet functions for recalculating formulas."""

from __future__ import annotations

import math
import operator
import re
import statistics
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from typing import TYPE_CHECKING

from evaluators.formulas.parser import Scalar, UnsupportedFormula

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_TEXT = 32_767
_EXACT = 1e15
"""Integers below this are displayed with all digits."""
_SAME = 2.0**-48
"""Relative difference below which LibreOffice treats two numbers as equal. Source: rtl::math::approxEqual."""
_DIGIT, _LETTER = re.compile("[0-9]"), re.compile("[A-Za-z]")
_CRITERION = re.compile(r"(<=|>=|<>|<|>|=)?(.*)", re.DOTALL)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}


class ErrorValue(Exception):  # noqa: N818 - a value of cells, never shown to users
    """An error value such as ``#DIV/0!``."""


@dataclass(frozen=True, slots=True)
class Block:
    """The values of a range.

    Attributes:
        height: number of rows.
        width: number of columns.
        values: stored values, by row and column from 0.
    """

    height: int
    width: int
    values: Mapping[tuple[int, int], Scalar]


Argument = Scalar | Block


def number(value: Argument) -> float:
    """Convert a scalar to a number, as operators do.

    Raises:
        ErrorValue: it is text that is not a number.
    """
    if isinstance(value, Block):
        raise UnsupportedFormula("a range where a value is expected")
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError as exc:
            raise ErrorValue("#VALUE!") from exc
    return float(value or 0)


def text(value: Argument) -> str:
    """Convert a scalar to text, as ``&`` does."""
    if isinstance(value, Block):
        raise UnsupportedFormula("a range where a text is expected")
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else f"{value:.15g}"
    return value or ""


def to_boolean(value: Argument) -> bool:
    """Convert a scalar to a boolean, as ``IF`` does."""
    if isinstance(value, str) and value.upper() in {"TRUE", "FALSE"}:
        return value.upper() == "TRUE"
    return number(value) != 0


def numbers(arguments: Sequence[Argument]) -> list[float]:
    """Return the numbers in arguments; other values in ranges are skipped."""
    floats: list[float] = []
    for value in arguments:
        if isinstance(value, Block):
            floats += [cell for cell in value.values.values() if isinstance(cell, float)]
        elif value is not None:
            floats.append(number(value))
    return floats


def compare(sign: str, left: Argument, right: Argument) -> bool:
    """Compare two scalars; numbers come before texts, and numbers that agree in 15 digits are equal.

    Raises:
        UnsupportedFormula: texts differ only in letter case, which only some programs ignore.
    """
    first, second = _rank(left, right), _rank(right, left)
    if first[0] != second[0]:
        return _COMPARISONS[sign](first[0], second[0])
    if first == second and first[0] == 1 and left and right and left != right:
        raise UnsupportedFormula("texts that differ only in letter case")
    return _COMPARISONS[sign](_order(first, second), 0)


def _order(first: tuple[int, float, str], second: tuple[int, float, str]) -> int:
    if is_same_number(first[1], second[1]) and first[2] == second[2]:
        return 0
    return 1 if first > second else -1


def is_same_number(left: float, right: float) -> bool:
    """Return whether spreadsheet programs treat two numbers as equal."""
    return math.isclose(left, right, rel_tol=_SAME)


def _rank(value: Argument, other: Argument) -> tuple[int, float, str]:
    if isinstance(value, Block):
        raise UnsupportedFormula("a range is compared")
    if value is None:
        value = "" if isinstance(other, str) else 0.0
    if isinstance(value, bool):
        return (2, float(value), "")
    return (1, 0.0, value.casefold()) if isinstance(value, str) else (0, float(value), "")


def _flat(arguments: Sequence[Argument]) -> list[Scalar]:
    scalars: list[Scalar] = []
    for value in arguments:
        scalars += value.values.values() if isinstance(value, Block) else [value]
    return scalars


def _matches(criterion: Argument) -> Callable[[Scalar], bool]:
    """Return a predicate for the criterion of ``COUNTIF`` and similar functions."""
    if isinstance(criterion, Block):
        criterion = _single(criterion)
    if not isinstance(criterion, str):
        return lambda value: value is not None and compare("=", value, criterion)
    match = _CRITERION.fullmatch(criterion)
    sign, operand = (match[1] or "=", match[2]) if match else ("=", criterion)
    try:
        limit = float(operand)
    except ValueError:
        if sign not in {"=", "<>"} or "~" in operand:
            raise UnsupportedFormula("a criterion that compares the order of texts") from None
        if "*" in operand or "?" in operand:
            raise UnsupportedFormula("a criterion with wildcards") from None
        if _DIGIT.search(operand) and not _LETTER.search(operand):
            raise UnsupportedFormula("a criterion that may be a date or an amount") from None
        is_equal = sign == "="
        return lambda value: (text(value).casefold() == operand.casefold()) is is_equal
    return lambda value: isinstance(value, float) and compare(sign, value, limit)


def _single(block: Block) -> Scalar:
    """Return the value of a one-cell range.

    Raises:
        UnsupportedFormula: the range has several cells, or is empty.
    """
    value = block.values.get((0, 0))
    if (block.height, block.width) != (1, 1) or value is None:
        raise UnsupportedFormula("a range or an empty cell as a criterion")
    return value


def _selected(arguments: Sequence[Argument]) -> list[float]:
    """Return the numbers that ``SUMIF`` adds: those at the positions of values that meet its criterion."""
    keys = arguments[0]
    values = arguments[2] if len(arguments) > 2 else keys  # noqa: PLR2004
    if not isinstance(keys, Block) or not isinstance(values, Block):
        raise UnsupportedFormula("a criterion for an argument that is not a range")
    if (keys.height, keys.width) != (values.height, values.width):
        raise UnsupportedFormula("a range to add that has a different size")
    is_met = _matches(arguments[1])
    hits = [values.values.get(place) for place, key in keys.values.items() if is_met(key)]
    return [value for value in hits if isinstance(value, float)]


def _count_if(arguments: Sequence[Argument]) -> float:
    keys, criterion = arguments
    if not isinstance(keys, Block):
        raise UnsupportedFormula("a criterion for an argument that is not a range")
    if isinstance(criterion, Block):
        criterion = _single(criterion)
    if isinstance(criterion, str) and (criterion in {"", "="} or criterion.startswith("<>")):
        raise UnsupportedFormula("a criterion that empty cells meet")
    return float(sum(map(_matches(criterion), keys.values.values())))


def _rounded(mode: str) -> Callable[[Sequence[Argument]], float]:
    def apply(arguments: Sequence[Argument]) -> float:
        places = int(number(arguments[1])) if len(arguments) > 1 else 0
        if abs(places) > 15:  # noqa: PLR2004 - a double has no more digits
            raise UnsupportedFormula("rounded to more digits than a number has")
        exact = Decimal(f"{number(arguments[0]):.15g}")
        return float(exact.quantize(Decimal(1).scaleb(-places), rounding=mode))

    return apply


def _mean(values: Sequence[float]) -> float:
    if not values:
        raise ErrorValue("#DIV/0!")
    return math.fsum(values) / len(values)


def _divide_rest(arguments: Sequence[Argument]) -> float:
    value, divisor = map(number, arguments)
    if divisor == 0:
        raise ErrorValue("#DIV/0!")
    return value - divisor * _floor(value / divisor)


def _floor(value: float) -> float:
    """Return the next lower integer.

    Raises:
        UnsupportedFormula: it is an integer except for the last digits, which only some programs
            round.
    """
    if math.floor(value) != math.floor(float(f"{value:.15g}")):
        raise UnsupportedFormula("a number that is an integer except for its last digits")
    return float(math.floor(value))


def _joined(arguments: Sequence[Argument]) -> str:
    return limited("".join(text(value) for value in _flat(arguments)))


def limited(value: str) -> str:
    """Return a text, limited to the maximum length of a cell's content.

    Raises:
        ErrorValue: the text is too long.
    """
    if len(value) > MAX_TEXT:
        raise ErrorValue("#VALUE!")
    return value


def _position(arguments: Sequence[Argument]) -> int:
    return int(number(arguments[1])) if len(arguments) > 1 else 1


def _nth(arguments: Sequence[Argument], *, largest: bool) -> float:
    ordered = sorted(numbers(arguments[:1]), reverse=largest)
    place = int(number(arguments[1]))
    if not 1 <= place <= len(ordered):
        raise ErrorValue("#NUM!")
    return ordered[place - 1]


def _products(arguments: Sequence[Argument]) -> float:
    blocks = [argument for argument in arguments if isinstance(argument, Block)]
    if len(blocks) != len(arguments) or len({(block.height, block.width) for block in blocks}) != 1:
        raise UnsupportedFormula("SUMPRODUCT of anything but ranges of one size")
    rows = [[block.values.get(place) for block in blocks] for place in blocks[0].values]
    return math.fsum(
        math.prod(value if isinstance(value, float) else 0.0 for value in row) for row in rows
    )


def _squeezed(arguments: Sequence[Argument]) -> str:
    return " ".join(word for word in text(arguments[0]).split(" ") if word)


FUNCTIONS: dict[str, Callable[[Sequence[Argument]], Scalar]] = {
    "SUM": lambda given: math.fsum(numbers(given)),
    "AVERAGE": lambda given: _mean(numbers(given)),
    "MIN": lambda given: min(numbers(given), default=0.0),
    "MAX": lambda given: max(numbers(given), default=0.0),
    "MEDIAN": lambda given: statistics.median(numbers(given)),
    "PRODUCT": lambda given: math.prod(numbers(given)),
    "STDEV": lambda given: statistics.stdev(numbers(given)),
    "STDEV.S": lambda given: statistics.stdev(numbers(given)),
    "STDEV.P": lambda given: statistics.pstdev(numbers(given)),
    "COUNT": lambda given: float(len(numbers([item for item in given if isinstance(item, Block)]))),
    "COUNTA": lambda given: float(sum(value is not None for value in _flat(given))),
    "COUNTIF": _count_if,
    "SUMIF": lambda given: math.fsum(_selected(given)),
    "AVERAGEIF": lambda given: _mean(_selected(given)),
    "SUMPRODUCT": _products,
    "LARGE": lambda given: _nth(given, largest=True),
    "SMALL": lambda given: _nth(given, largest=False),
    "ROUND": _rounded(ROUND_HALF_UP),
    "ROUNDUP": _rounded(ROUND_UP),
    "ROUNDDOWN": _rounded(ROUND_DOWN),
    "INT": lambda given: _floor(number(given[0])),
    "ABS": lambda given: abs(number(given[0])),
    "SQRT": lambda given: math.sqrt(number(given[0])),
    "POWER": lambda given: math.pow(number(given[0]), number(given[1])),
    "MOD": _divide_rest,
    "AND": lambda given: all(to_boolean(value) for value in _flat(given) if value is not None),
    "OR": lambda given: any(to_boolean(value) for value in _flat(given) if value is not None),
    "NOT": lambda given: not to_boolean(given[0]),
    "UPPER": lambda given: text(given[0]).upper(),
    "LOWER": lambda given: text(given[0]).lower(),
    "TRIM": _squeezed,
    "LEN": lambda given: float(len(text(given[0]))),
    "LEFT": lambda given: text(given[0])[: max(_position(given), 0)],
    "RIGHT": lambda given: text(given[0])[-_position(given) :] if _position(given) > 0 else "",
    "CONCATENATE": _joined,
    "CONCAT": _joined,
}
"""Functions all of whose arguments are calculated first."""
AGGREGATES = frozenset(
    [
        "SUM",
        "AVERAGE",
        "MIN",
        "MAX",
        "MEDIAN",
        "PRODUCT",
        "STDEV",
        "STDEV.S",
        "STDEV.P",
        "COUNT",
        "COUNTA",
        "COUNTIF",
        "SUMIF",
        "AVERAGEIF",
        "SUMPRODUCT",
        "LARGE",
        "SMALL",
        "AND",
        "OR",
    ]
)
"""Functions that treat a reference to one cell as a range."""
LAZY_FUNCTIONS = frozenset({"IF", "IFERROR"})
"""Functions that calculate only some of their arguments."""
SUPPORTED = frozenset(FUNCTIONS) | LAZY_FUNCTIONS
