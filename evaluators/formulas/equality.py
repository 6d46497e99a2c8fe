"""Compare formulas, ignoring differences in notation."""

from __future__ import annotations

import re
from dataclasses import replace

from evaluators.formulas.parser import (
    Call,
    Constant,
    Node,
    Operation,
    Reference,
    UnsupportedFormula,
    parse,
)

_QUOTED = re.compile(r'("[^"]*")')
_FORMATS_OWN = re.compile(r"\b(?:_XLFN\.|_XLWS\.|COM\.MICROSOFT\.|COM\.SUN\.STAR\.)+(?=[A-Z])")
"""Prefixes of newer functions in files, which programs do not display."""
_TRUTHS = re.compile(r"\b(TRUE|FALSE)\(\)")
"""LibreOffice's representation of an entered TRUE."""


def is_same_formula(formula: str, other: str, sheet: str) -> bool:
    """Return whether two formulas of a sheet differ only in their notation.

    Formulas that cannot be parsed are compared as texts, without spaces, ``$``, single quotes and
    letter case outside texts.

    Args:
        formula: a formula in A1 notation, with its leading ``=``.
        other: another.
        sheet: name of the sheet of both.
    """
    left, right = _plain(formula), _plain(other)
    if left == right:
        return True
    try:
        first, second = (_normal(_parsed(text), sheet.casefold()) for text in (formula, other))
    except UnsupportedFormula:
        return False
    return repr(first) == repr(second)


def _parsed(formula: str) -> Node:
    pieces = _QUOTED.split(formula.strip())
    pieces[::2] = [piece.replace(";", ",") for piece in pieces[::2]]
    return parse("".join(pieces))


def _normal(node: Node, sheet: str) -> Node:
    """Return an expression without unary plus signs and without the name of its own sheet."""
    if isinstance(node, Reference):
        name = node.sheet.casefold()
        return replace(node, sheet="" if name == sheet else name)
    if isinstance(node, Operation):
        operands = tuple(_normal(operand, sheet) for operand in node.operands)
        is_plus = node.operator == "+" and len(operands) == 1
        return operands[0] if is_plus else Operation(node.operator, operands)
    if isinstance(node, Call):
        if node.name in {"TRUE", "FALSE"} and not node.arguments:
            return Constant(node.name == "TRUE")
        return Call(node.name, tuple(_normal(argument, sheet) for argument in node.arguments))
    return node


def _plain(formula: str) -> str:
    """Normalise a formula: remove spaces, ``$``, single quotes and prefixes, and convert to upper case, except in texts."""
    pieces = _QUOTED.split(formula)
    for index in range(0, len(pieces), 2):
        plain = re.sub(r"[\s$']", "", pieces[index]).upper().replace(";", ",")
        pieces[index] = _TRUTHS.sub(r"\1", _FORMATS_OWN.sub("", plain))
    return "".join(pieces)
