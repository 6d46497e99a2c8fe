"""Draw the values of a task's parameters; the same seed always gives the same values."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import TYPE_CHECKING

from evaluators.model.parameter import (
    Choice,
    DateRange,
    Integer,
    Person,
    PersonaQuestion,
    Text,
)
from evaluators.parameters.words import FIRST_NAMES, LAST_NAMES, WORDS
from foundation.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeVar

    from pydantic import JsonValue

    from evaluators.model.parameter import Parameter

    T = TypeVar("T")

Values = dict[str, "JsonValue"]
"""Value of each placeholder, such as ``who`` or ``who.email``."""

_TRIES = 1000
_SATURDAY = 5
_PREFIX = "+41 44 555"
"""Numbers reserved for fiction."""


def draw(parameters: Mapping[str, Parameter], seed: int) -> Values:
    """Draw a value for each parameter, in the order of declaration.

    Adding a parameter to a task does not change the values of the others. No two persons of a task
    share a name.

    Args:
        parameters: parameters of a task, by name.
        seed: seed of the trial.

    Returns:
        The value of each parameter by its name, and its fields by ``name.field``.

    Raises:
        SpecError: no value of a parameter differs from those it must not take.
    """
    values: Values = {}
    people: list[JsonValue] = []
    for name, parameter in parameters.items():
        taken = [values[other] for other in parameter.differs_from if other in values]
        fields = _draw_new(name, parameter, seed, taken, people)
        if isinstance(parameter, Person):
            people += [fields[".first"], fields[".last"]]
        values |= {f"{name}{field}": value for field, value in fields.items()}
    return values


def _draw_new(
    name: str,
    parameter: Parameter,
    seed: int,
    taken: Sequence[JsonValue],
    people: Sequence[JsonValue],
) -> Values:
    for attempt in range(_TRIES):
        fields = _draw(parameter, _SeededRandom(f"{seed}/{name}/{attempt}"))
        is_new = fields[""] not in taken
        if isinstance(parameter, Person):
            is_new = is_new and not {fields[".first"], fields[".last"]} & set(people)
        if is_new:
            return fields
    others = ", ".join(parameter.differs_from) or "the other persons"
    raise SpecError(f"The parameter {name!r} has no value left that differs from {others}.")


class _SeededRandom:
    """Random source based on SHA-256, independent of the versions of Python and libraries."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._count = 0

    def below(self, limit: int) -> int:
        self._count += 1
        digest = hashlib.sha256(f"{self._key}/{self._count}".encode()).digest()
        return int.from_bytes(digest[:16], "big") % limit

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]


def _draw(parameter: Parameter, rng: _SeededRandom) -> Values:
    """Return the value under the empty name, and its fields under their names with a leading dot."""
    match parameter:
        case Choice():
            return _option(rng.pick(parameter.options))
        case Integer(min=low, max=high, step=step):
            return {"": low + step * rng.below((high - low) // step + 1)}
        case DateRange():
            return _day(parameter, rng)
        case Person():
            return _person(rng)
        case PersonaQuestion(answers=answers):
            return _answer(rng.pick(answers))
        case Text(words=count):
            return {"": " ".join(rng.pick(WORDS) for _ in range(count))}


def _option(option: JsonValue) -> Values:
    if not isinstance(option, dict):
        return {"": option}
    return {"": option, **{f".{key}": value for key, value in option.items()}}


def _answer(answer: JsonValue) -> Values:
    """Return an answer; the value of a record has an empty name."""
    fields = _option(answer)
    return fields if "." not in fields else {**fields, "": fields.pop(".")}


def _day(parameter: DateRange, rng: _SeededRandom) -> Values:
    first = dt.date.fromisoformat(parameter.min)
    last = dt.date.fromisoformat(parameter.max)
    days = [first + dt.timedelta(number) for number in range((last - first).days + 1)]
    if parameter.weekdays:
        days = [day for day in days if day.weekday() < _SATURDAY] or days
    day = rng.pick(days)
    long = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    return {
        "": day.isoformat(),
        ".long": long,
        ".day": day.day,
        ".month": _MONTHS[day.month - 1],
        ".year": day.year,
        ".weekday": _WEEKDAYS[day.weekday()],
    }


def _person(rng: _SeededRandom) -> Values:
    first, last = rng.pick(FIRST_NAMES), rng.pick(LAST_NAMES)
    return {
        "": f"{first} {last}",
        ".name": f"{first} {last}",
        ".first": first,
        ".last": last,
        ".email": f"{first}.{last}@example.org".lower(),
        ".phone": f"{_PREFIX} {rng.below(100):02d} {rng.below(100):02d}",
    }


# Not from `calendar`, which follows the host's locale.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
