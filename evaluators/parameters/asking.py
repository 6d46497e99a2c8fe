"""Answer questions about a persona, written as in Python: ``orders.in_month(last_month).cheapest()``.

A question names the persona's records and calls their public selections
(`provisioning.world.persona.queries`), with texts, numbers, dates and other questions as arguments.
Nothing else is evaluated.
"""

from __future__ import annotations

import ast
import datetime as dt
import inspect
from typing import TYPE_CHECKING

from foundation.errors import UnknownNameError, UsageError
from provisioning.world.persona.model.base import Part, Record
from provisioning.world.persona.persona import Persona
from provisioning.world.persona.queries import Records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

MAX_ANSWERS = 100
"""Most records that a question may select."""
_FUNCTIONS = frozenset({"where", "least"})
"""Selections that need a function, which a question cannot have."""
_HIDDEN = frozenset({"records", "digest"})
_NAMES = ("name", "number", "subject", "title", "path", "url", "street")
"""Fields that stand for the whole record: the first one that it has."""


def ask(someone: Persona, question: str) -> tuple[JsonValue, ...]:
    """Return what a question selects: records as mappings, whose value has an empty name.

    Args:
        someone: the persona.
        question: the question.

    Raises:
        UsageError: it is not a question, names something unknown, or has no answer.
    """
    try:
        tree = ast.parse(question, mode="eval").body
    except SyntaxError as exc:
        raise UsageError(f"{question!r} is not a question.", str(exc)) from exc
    found = _Question(someone).answer(tree)
    if not isinstance(found, Records):
        return (_describe(found, someone),)
    if not 0 < len(found) <= MAX_ANSWERS:
        raise UsageError(f"{question} selects {len(found)} records.", f"1 to {MAX_ANSWERS} may be.")
    return tuple(_describe(record, someone) for record in found)


class _Question:
    """Evaluates the expression of one question.

    Args:
        someone: the persona.
    """

    def __init__(self, someone: Persona) -> None:
        self._someone = someone

    def answer(self, node: ast.expr) -> object:
        """Return the value of an expression."""
        match node:
            case ast.Name(id=name):
                return _attribute(self._someone, name)
            case ast.Constant(value=str() | int() | float() as value):
                return _constant(value)
            case ast.Attribute(value=inner, attr=name):
                return _attribute(self.answer(inner), name)
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=args, keywords=[]):
                owner = self.answer(inner)
                function = _method(owner, name)
                return _call(name, function, [self.answer(argument) for argument in args])
            case ast.Subscript(value=inner, slice=ast.Slice() as part):
                return self._slice(inner, part)
        raise UsageError(
            f"{ast.unparse(node)} is not part of a question.",
            resolution="Name records and their selections, as in orders.in_month(last_month).",
        )

    def _slice(self, inner: ast.expr, part: ast.Slice) -> object:
        owner = self.answer(inner)
        bounds = [None if each is None else self._number(each) for each in (part.lower, part.upper)]
        if not isinstance(owner, Records) or part.step is not None:
            raise UsageError("Only records can be sliced.")
        return owner[slice(*bounds)]

    @staticmethod
    def _number(node: ast.expr) -> int:
        try:
            return int(ast.literal_eval(node))
        except (ValueError, TypeError) as exc:
            raise UsageError(f"{ast.unparse(node)} is not a number.") from exc


def _constant(value: str | float) -> object:
    """Return a constant; a text such as ``2026-03-31`` is a day."""
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            return value
    return value


def _attribute(owner: object, name: str) -> object:
    names = _public(owner) - _methods(owner).keys()
    if name not in names:
        raise UnknownNameError.of(f"value of {_title(owner)}", name, sorted(names))
    value: object = getattr(owner, name)
    return value


def _method(owner: object, name: str) -> object:
    known = _methods(owner)
    if name not in known:
        raise UnknownNameError.of(f"selection of {_title(owner)}", name, sorted(known))
    return known[name]


def _call(name: str, function: object, args: list[object]) -> object:
    if not callable(function):
        raise UsageError(f"{name} is not a selection.")
    try:
        inspect.signature(function).bind(*args)
        return function(*args)
    except (TypeError, AttributeError) as exc:
        raise UsageError(f"{name} does not accept these arguments.", str(exc)) from exc


def _public(owner: object) -> set[str]:
    if not isinstance(owner, Persona | Records | Part):
        return {"before"} if hasattr(owner, "before") else set()
    fields = type(owner).model_fields.keys() if isinstance(owner, Part) else ()
    own = (name for kind in _kinds(owner) for name in vars(kind))
    return {name for name in (*fields, *own) if not name.startswith("_")} - _HIDDEN


def _kinds(owner: object) -> list[type]:
    """Return the classes of this project that a value has, without those of its bases elsewhere."""
    return [kind for kind in type(owner).__mro__ if kind.__module__.startswith("provisioning.")]


def _methods(owner: object) -> Mapping[str, object]:
    """Return the selections of records by name."""
    if not isinstance(owner, Records):
        return {}
    names = _public(owner) - _FUNCTIONS - {"time_of"}
    return {name: value for name in names if callable(value := getattr(owner, name))}


def _title(owner: object) -> str:
    return type(owner).__name__


def _describe(value: object, someone: Persona) -> JsonValue:
    """Return an answer; of a record, its plain fields.

    Raises:
        UsageError: it is no record, text, number or time.
    """
    if isinstance(value, Record):
        return _fields(value, someone.person.currency)
    if isinstance(value, dt.date):
        return _time(value)
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Part):
        return str(value)
    raise UsageError(f"A {_title(value)} cannot be the value of a parameter.")


def _fields(record: Record, currency: str) -> JsonValue:
    fields: dict[str, JsonValue] = {}
    for name in sorted(_public(record)):
        value = getattr(record, name)
        if isinstance(value, dt.date):
            fields |= {name: _time(value), f"{name}_long": _long(value)}
        elif isinstance(value, bool | int | float | str):
            fields[name] = value if isinstance(value, int | float) else str(value)
        elif value is None or isinstance(value, Part):
            fields[name] = "" if value is None else str(value)
        if name.endswith("_cents"):
            price = f"{value // 100}.{value % 100:02d} {currency}"
            fields[name.removesuffix("_cents")] = price
    main = next((fields[name] for name in _NAMES if name in fields), fields["id"])
    return {"": main, **fields}


def _time(when: dt.date) -> str:
    """Return a day, or a time in UTC to the minute, in ISO 8601."""
    return f"{when:%Y-%m-%dT%H:%M}" if isinstance(when, dt.datetime) else when.isoformat()


def _long(when: dt.date) -> str:
    """Return a day, or a time, as people write it."""
    day = f"{when.day} {_MONTHS[when.month - 1]} {when.year}"
    return f"{day}, {when:%H:%M}" if isinstance(when, dt.datetime) else day


# Not from `calendar`, which follows the host's locale.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
