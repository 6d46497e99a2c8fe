"""Create mutants of the source of a module, one small change each.

The changes: a different operator or constant, a negated condition, an omitted statement, ``any``
for ``all``. Docstrings, annotations, defaults, decorators and error messages are not mutated.

Source: the operators are selected from Offutt et al., "An Experimental Determination of Sufficient
Mutant Operators" (1996), and those that mutmut applies.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_NAMES = {"any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list"}
_METHODS = {"startswith": "endswith", "endswith": "startswith", "find": "rfind"}
_CLEANING = {"strip", "rstrip", "lstrip", "lower", "upper", "casefold"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutant.

    Attributes:
        module: dotted name.
        function: qualified name of the mutated function, or name of a constant at module level.
        first_line: first line of the statement, from 1.
        last_line: last line of the statement, inclusive.
        what: the change, as text.
        code: code of the mutated function, or of the expression of a constant.
        is_constant: whether a constant of the module is mutated, not a function.
        uses: lines in functions of the module that use the constant, or one derived from it; empty
            for a constant that only annotations use.
        derived: the constants derived from it, in the order of the source.
    """

    module: str
    function: str
    first_line: int
    last_line: int
    what: str
    code: CodeType
    is_constant: bool = False
    uses: frozenset[int] = frozenset()
    derived: tuple[tuple[str, CodeType], ...] = ()

    @property
    def name(self) -> str:
        """Location and change; the same in every run."""
        return f"{self.module}.{self.function}: {self.what}"


@dataclass(frozen=True, slots=True)
class _Spot:
    """A replaceable node of the tree: ``parent.field`` or ``parent.field[index]``."""

    parent: ast.AST
    field: str
    index: int | None
    span: tuple[int, int]

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node

    def get(self) -> ast.AST:
        held = getattr(self.parent, self.field)
        node: ast.AST = held if self.index is None else held[self.index]
        return node


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its source."""
    tree = ast.parse(source)
    mutants: list[Mutant] = []
    for statement in tree.body:
        mutants += _of_constant(module, tree, statement)
    for name, function in _functions(tree.body, ""):
        mutants += _of_function(module, tree, name, function)
    return mutants


def _of_constant(module: str, tree: ast.Module, statement: ast.stmt) -> Iterator[Mutant]:
    """Mutate ``NAME = ...`` at module level."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return
    span = (statement.lineno, statement.end_lineno or statement.lineno)
    name = statement.targets[0].id
    derived = _derived(tree, statement, name)
    names = {name, *(derived_name for derived_name, _ in derived)}
    uses = frozenset(
        node.lineno
        for _, function in _functions(tree.body, "")
        for part in function.body
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and node.id in names
    )
    for spot in _spots(statement, "value", statement.value, span):
        for what in _apply_each(spot):
            code = compile(ast.Expression(statement.value), "<mutant>", "eval")
            yield Mutant(module, name, *span, what, code, True, uses, derived)


def _derived(tree: ast.Module, source: ast.stmt, name: str) -> tuple[tuple[str, CodeType], ...]:
    """Return the constants derived from a given one, and the code that derives each."""
    changed = {name}
    constants = []
    for statement in tree.body[tree.body.index(source) + 1 :]:
        match statement:
            case ast.Assign([ast.Name(target)], value) | ast.AnnAssign(ast.Name(target), _, value):
                named = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                if value is not None and named & changed:
                    changed.add(target)
                    constants.append((target, compile(ast.Expression(value), "<derived>", "eval")))
    return tuple(constants)


def _of_function(
    module: str, tree: ast.Module, name: str, function: ast.FunctionDef
) -> Iterator[Mutant]:
    for spot in _in_body(function):
        for what in _apply_each(spot):
            code = code_of(compile(tree, f"<mutant of {module}>", "exec"), name)
            if code is not None:
                yield Mutant(module, name, *spot.span, what, code)


def code_of(code: CodeType, name: str) -> CodeType | None:
    """Find the code of a function by its qualified name in the code of its module."""
    for const in code.co_consts:
        if hasattr(const, "co_qualname"):
            if const.co_qualname == name:
                function_code: CodeType = const
                return function_code
            if name.startswith(f"{const.co_qualname}."):
                return code_of(const, name)
    return None


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield f"{prefix}{statement.name}", statement
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, f"{prefix}{statement.name}.")


def _in_body(holder: ast.AST) -> Iterator[_Spot]:
    """Walk the statements in ``body`` and similar fields."""
    for field in ("body", "orelse", "finalbody"):
        statements = getattr(holder, field, None)
        for index, statement in enumerate(statements if isinstance(statements, list) else ()):
            is_docstring = isinstance(statement, ast.Expr) and isinstance(
                statement.value, ast.Constant
            )
            if not is_docstring:
                yield from _in_statement(holder, field, index, statement)
    for handler in getattr(holder, "handlers", ()):
        yield from _in_body(handler)


def _in_statement(holder: ast.AST, field: str, index: int, statement: ast.stmt) -> Iterator[_Spot]:
    first = statement.lineno
    is_compound = hasattr(statement, "body")
    span = (first, first if is_compound else statement.end_lineno or first)
    yield _Spot(holder, field, index, span)
    if isinstance(statement, ast.Raise):
        return
    for name, value in ast.iter_fields(statement):
        for number, item in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(item, (ast.expr, ast.withitem)) and name not in _UNSEEN:
                inner = item.context_expr if isinstance(item, ast.withitem) else item
                reach = (first, max(span[1], inner.end_lineno or first))
                if isinstance(item, ast.withitem):
                    yield from _spots(item, "context_expr", inner, reach)
                else:
                    yield from _spots(statement, name, item, reach, number)
    if is_compound:
        yield from _in_body(statement)


_UNSEEN = {"annotation", "returns", "decorator_list", "targets", "target"}


def _spots(
    parent: ast.AST, field: str, node: ast.AST, span: tuple[int, int], index: int | None = None
) -> Iterator[_Spot]:
    """Return the location of an expression and of all its parts."""
    yield _Spot(parent, field, index, span)
    for name, value in ast.iter_fields(node):
        for number, item in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(item, (ast.expr, ast.comprehension, ast.keyword)) and name != "target":
                yield from _spots(node, name, item, span, number)


def _apply_each(spot: _Spot) -> Iterator[str]:
    """Apply each change of a node to the tree in turn, yield its description, and revert it."""
    node = spot.get()
    before = ast.unparse(node).split("\n")[0]
    for other in _changes(spot, node):
        spot.put(ast.fix_missing_locations(ast.copy_location(other, node)))
        after = ast.unparse(other).split("\n")[0]
        try:
            yield f"line {spot.span[0]}: {before} -> {after}"
        finally:
            spot.put(node)


def _changes(spot: _Spot, node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.stmt):
        yield from _of_statement(node)
    elif isinstance(node, ast.expr):
        if spot.field in {"test", "ifs"} and not isinstance(node, (ast.Compare, ast.UnaryOp)):
            yield ast.UnaryOp(ast.Not(), node)
        yield from _of_expression(node)


def _of_statement(node: ast.stmt) -> Iterator[ast.AST]:
    if isinstance(node, (ast.Expr, ast.AugAssign, ast.Raise)) and not isinstance(
        getattr(node, "value", None), (ast.Yield, ast.YieldFrom)
    ):
        yield ast.Pass()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.Break):
        yield ast.Continue()


def _of_expression(node: ast.expr) -> Iterator[ast.AST]:  # noqa: C901  (one case a kind of node)
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in _COMPARISONS:
            yield ast.Compare(left, [_COMPARISONS[type(operator)]()], [right])
        case ast.Compare(left, operators, rights):
            for number, operator in enumerate(operators):
                if type(operator) in _COMPARISONS:
                    others = list(operators)
                    others[number] = _COMPARISONS[type(operator)]()
                    yield ast.Compare(left, others, rights)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            yield ast.BinOp(left, _OPERATORS[type(operator)](), right)
        case ast.Constant(value):
            yield from (ast.Constant(other) for other in _other_values(value))
        case ast.Call(ast.Name(name), arguments, keywords) if name in _NAMES:
            kept = [] if _NAMES[name] == "list" else keywords
            yield ast.Call(ast.Name(_NAMES[name], ast.Load()), arguments, kept)
        case ast.Call(ast.Attribute(value, name), [], []) if name in _CLEANING:
            yield value
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in _METHODS:
            method = ast.Attribute(value, _METHODS[name], ast.Load())
            yield ast.Call(method, arguments, keywords)


def _other_values(value: object) -> Iterator[bool | float | str | bytes]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str():
            yield f"{value}XX"
        case bytes():
            yield value + b"XX"
