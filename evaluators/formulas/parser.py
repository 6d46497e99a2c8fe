"""Parse formulas in A1 notation; openpyxl splits them into tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

Scalar = float | str | bool | None
"""Value of a cell or an expression; None for an empty cell or argument."""
MAX_FORMULA = 8192
"""Maximum length of a formula, in characters; the limit of spreadsheet programs."""
MAX_DEPTH = 64
"""Maximum nesting of brackets and calls."""
MAX_NODE_DEPTH = 150
"""Maximum nesting of operators, brackets and calls."""
LAST_ROW = 1_048_576
LAST_COLUMN = 16_384
_REFERENCE = re.compile(
    r"(?:(?P<sheet>'(?:[^']|'')+'|[^'!:]+)!)?\$?(?P<left>[A-Z]{1,3})\$?(?P<top>[1-9]\d{0,6})"
    r"(?::(?:(?P<other>'(?:[^']|'')+'|[^'!:]+)!)?\$?(?P<right>[A-Z]{1,3})\$?(?P<bottom>[1-9]\d{0,6}))?",
    re.IGNORECASE,
)
_COLUMNS = re.compile(
    r"(?:(?P<sheet>'(?:[^']|'')+'|[^'!:]+)!)?\$?(?P<left>[A-Z]{1,3}):\$?(?P<right>[A-Z]{1,3})",
    re.IGNORECASE,
)
_PREFIXES = re.compile(r"^(_XLFN\.|_XLWS\.|COM\.MICROSOFT\.|COM\.SUN\.STAR\.)+")
_OPEN_FORMULA = """
    ACOT ACOTH ARABIC B BASE BITAND BITLSHIFT BITOR BITRSHIFT BITXOR CEILING CHISQDIST CHISQINV COMBINA
    COT COTH CSC CSCH CURRENT DAYS DDE DECIMAL EASTERSUNDAY FORMULA GAMMA GAUSS IFNA IMCOSH IMCOT IMCSC
    IMCSCH IMSEC IMSECH IMSINH IMTAN ISFORMULA ISOWEEKNUM MUNIT NUMBERVALUE PDURATION PERMUTATIONA PHI
    RRI SEC SECH SHEET SHEETS SKEWP STYLE UNICHAR UNICODE XOR
"""
"""Functions of OpenFormula (ODF 1.3, part 4) that openpyxl does not know."""
_BINDING = {
    **dict.fromkeys(("=", "<>", "<", ">", "<=", ">="), 1),
    "&": 2,
    **dict.fromkeys("+-", 3),
    **dict.fromkeys("*/", 4),
    "^": 5,
}


class UnsupportedFormula(Exception):  # noqa: N818 - never shown to users
    """A formula that cannot be parsed or recalculated."""


class WrongFormula(UnsupportedFormula):
    """A formula that no program can calculate: circular, malformed, or with an unknown function."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Reference:
    """A cell or range; rows and columns from 1, `sheet` empty for the formula's own."""

    sheet: str
    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; the name is in upper case without format prefixes."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with one or two operands; ``%`` is a postfix operator."""

    operator: str
    operands: tuple[Node, ...]


Node = Constant | Reference | Call | Operation


def parse(formula: str) -> Node:
    """Parse a formula.

    Args:
        formula: formula with its leading ``=``.

    Raises:
        UnsupportedFormula: the formula is malformed, too long, nested too deeply, or uses names,
            arrays, tables or intersections.
    """
    from openpyxl.formula import Tokenizer  # noqa: PLC0415 - an optional dependency

    if not formula.startswith("=") or len(formula) > MAX_FORMULA:
        raise UnsupportedFormula("not a formula of a supported length")
    try:
        tokens = [token for token in Tokenizer(formula).items if token.type != "WHITE-SPACE"]
    except Exception as exc:  # openpyxl raises IndexError and others for malformed text
        raise WrongFormula(f"not a formula: {exc}") from exc
    parser = _Parser(tokens)
    node = parser.expression(0, 0)
    parser.expect_end()
    _check_depth(node)
    return node


def _check_depth(node: Node) -> None:
    """Reject expressions too deep for recursion; long sums nest to the left."""
    waiting = [(node, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > MAX_NODE_DEPTH:
            raise UnsupportedFormula("nested too deeply")
        waiting += [(inner, depth + 1) for inner in _inner(part)]


def _inner(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Call):
        return node.arguments
    return node.operands if isinstance(node, Operation) else ()


def parts(node: Node) -> list[Node]:
    """Return an expression and all of its subexpressions, in order."""
    return [node, *(part for inner in _inner(node) for part in parts(inner))]


def calls(node: Node) -> list[Call]:
    """Return all calls of functions in an expression, in order."""
    return [part for part in parts(node) if isinstance(part, Call)]


def references(node: Node) -> list[Reference]:
    """Return all references of an expression, in order."""
    return [part for part in parts(node) if isinstance(part, Reference)]


class _Parser:
    """A precedence-climbing parser over openpyxl's tokens."""

    def __init__(self, tokens: list[Any]) -> None:
        self._tokens = tokens
        self._next = 0

    def expression(self, least: int, depth: int) -> Node:
        """Parse operators that bind more tightly than `least`."""
        if depth > MAX_DEPTH:
            raise UnsupportedFormula("nested too deeply")
        left = self._operand(depth)
        while True:
            token = self._peek()
            if token is not None and token.type == "OPERATOR-POSTFIX":
                self._next += 1
                left = Operation("%", (left,))
                continue
            binding = _BINDING.get(token.value, 0) if _is_infix(token) else 0
            if binding <= least:
                return left
            self._next += 1
            left = Operation(token.value, (left, self.expression(binding, depth + 1)))

    def expect_end(self) -> None:
        """Reject tokens after the expression."""
        if self._next != len(self._tokens):
            raise WrongFormula("unexpected text after the formula")

    def _peek(self) -> Any:  # noqa: ANN401 - openpyxl's Token, or None
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _operand(self, depth: int) -> Node:
        token = self._peek()
        if token is None:
            raise WrongFormula("the formula ends early")
        self._next += 1
        if token.type == "OPERATOR-PREFIX":
            return Operation(token.value, (self.expression(5, depth + 1),))
        if token.type == "OPERAND":
            return _operand(token)
        if token.type == "PAREN" and token.subtype == "OPEN":
            node = self.expression(0, depth + 1)
            self._close("PAREN")
            return node
        if token.type == "FUNC" and token.subtype == "OPEN":
            name = token.value[:-1].upper()
            if "." not in name and name not in _known_functions():
                raise WrongFormula(f"unknown function {name}")
            return Call(_PREFIXES.sub("", name), tuple(self._arguments(depth + 1)))
        raise UnsupportedFormula(f"{token.value!r} is not supported")

    def _arguments(self, depth: int) -> list[Node]:
        arguments: list[Node] = []
        while True:
            token = self._peek()
            if token is None:
                raise WrongFormula("a call is not closed")
            is_close = token.type == "FUNC" and token.subtype == "CLOSE"
            is_empty = is_close or token.type == "SEP"
            if not (is_close and not arguments):
                arguments.append(Constant(None) if is_empty else self.expression(0, depth))
            end = self._peek()
            if end is not None and end.type == "SEP" and end.subtype == "ARG":
                self._next += 1
                continue
            self._close("FUNC")
            return arguments

    def _close(self, kind: str) -> None:
        token = self._peek()
        if token is None or token.type != kind or token.subtype != "CLOSE":
            raise WrongFormula("brackets do not match")
        self._next += 1


def _is_infix(token: Any) -> bool:  # noqa: ANN401
    return token is not None and token.type == "OPERATOR-INFIX"


def _operand(token: Any) -> Node:  # noqa: ANN401
    if token.subtype == "NUMBER":
        return Constant(float(token.value))
    if token.subtype == "TEXT":
        return Constant(token.value[1:-1].replace('""', '"'))
    if token.subtype == "LOGICAL":
        return Constant(token.value.upper() == "TRUE")
    if token.subtype == "RANGE":
        return _reference(token.value)
    if token.subtype == "ERROR":
        raise WrongFormula(f"it contains the error {token.value}")
    raise UnsupportedFormula(f"{token.value!r} is not supported")


@cache
def _known_functions() -> frozenset[str]:
    """Return the known names of functions; newer and program-specific ones contain a dot in files."""
    from openpyxl.utils import FORMULAE  # noqa: PLC0415 - an optional dependency

    return FORMULAE | frozenset(_OPEN_FORMULA.split())


def _reference(text: str) -> Reference:
    cells = _REFERENCE.fullmatch(text)
    columns = _COLUMNS.fullmatch(text)
    if (
        cells is not None
        and cells["other"]
        and _sheet_name(cells["other"]) != _sheet_name(cells["sheet"])
    ):
        raise UnsupportedFormula(f"{text!r} is a range over several sheets")
    if cells is not None:
        left, top = column_number(cells["left"]), int(cells["top"])
        right = column_number(cells["right"]) if cells["right"] else left
        bottom = int(cells["bottom"]) if cells["bottom"] else top
        sheet = cells["sheet"]
    elif columns is not None:
        left, right = column_number(columns["left"]), column_number(columns["right"])
        top, bottom = 1, LAST_ROW
        sheet = columns["sheet"]
    else:
        raise UnsupportedFormula(f"{text!r} is not a range")
    name = _sheet_name(sheet)
    return Reference(name, min(left, right), min(top, bottom), max(left, right), max(top, bottom))


def _sheet_name(text: str | None) -> str:
    """Return the name of a sheet in a reference without ``$`` and quotes; empty if there is none."""
    name = (text or "").lstrip("$")
    return name[1:-1].replace("''", "'") if name.startswith("'") else name


def column_number(letters: str) -> int:
    """Return the number of a column, 1 for ``A``."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number
