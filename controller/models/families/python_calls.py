"""Read calls in the syntax of Python, such as ``click(x=1, y=2)``, without running anything."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller.models.families.arguments import fail, show
from controller.models.families.gestures import FaultKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_CHARS = 20_000
_MAX_DEPTH = 50
_UNKNOWN_ESCAPE = re.compile(r"\\(?![\\'\"nrtuxU])")


@dataclass(frozen=True, slots=True)
class PythonCall:
    """A call with literal arguments.

    Attributes:
        name: dotted name of the function.
        args: positional arguments.
        kwargs: named arguments.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def argument(self, name: str, position: int = -1, default: object = None) -> Any:  # noqa: ANN401
        """Return an argument by its name or, if it is positional, its position."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if 0 <= position < len(self.args) else default


def read_literal(source: str) -> Any:  # noqa: ANN401 - checked by the caller
    """Return the value of a Python literal.

    Raises:
        ParseError: it is none.
    """
    tree = _parse(source.strip())
    match tree.body:
        case [ast.Expr(value=value)]:
            return _literal(value, source)
        case _:
            return fail(FaultKind.UNPARSABLE, f"This is not a literal: {show(source)}.")


def read_calls(source: str) -> Iterator[PythonCall]:
    """Yield the calls of a program that consists of nothing else.

    Raises:
        ParseError: it is not valid, or something in it is not a call with literal arguments.
    """
    for statement in _parse(source.strip()).body:
        if isinstance(statement, ast.Import):
            continue
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            fail(FaultKind.UNPARSABLE, f"Only calls are allowed: {show(source)}.")
        yield _call(statement.value, source)


def _parse(source: str) -> ast.Module:
    if len(source) > _MAX_CHARS or _depth(source) > _MAX_DEPTH:
        fail(FaultKind.UNPARSABLE, f"The action is too long or too deep: {show(source)}.")
    try:
        return ast.parse(_UNKNOWN_ESCAPE.sub(r"\\\\", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return fail(FaultKind.UNPARSABLE, f"The action cannot be parsed: {show(source)}.")


def _depth(source: str) -> int:
    """Return an upper bound of the nesting, which the parser's stack must bear."""
    depth = most = 0
    for char in source:
        if char in "([{":
            depth += 1
            most = max(most, depth)
        elif char in ")]}":
            depth -= 1
    return most


def _call(node: ast.Call, source: str) -> PythonCall:
    name = _name(node.func)
    if name is None or any(keyword.arg is None for keyword in node.keywords):
        fail(FaultKind.UNPARSABLE, f"The action cannot be parsed: {show(source)}.")
    return PythonCall(
        name,
        tuple(_literal(value, source) for value in node.args),
        {str(keyword.arg): _literal(keyword.value, source) for keyword in node.keywords},
    )


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _literal(node: ast.expr, source: str) -> Any:  # noqa: ANN401 - checked by the caller
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return fail(FaultKind.BAD_ARGUMENTS, f"Arguments must be plain values: {show(source)}.")
