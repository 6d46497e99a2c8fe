"""Data models of a task's parameters: their kinds and their possible values."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from foundation.strict import Strict, is_empty

PARAMETER_PATTERN = r"^[a-z][a-z0-9_]*$"
ParameterName = Annotated[str, Field(pattern=PARAMETER_PATTERN, max_length=32)]
"""Pattern of the names of parameters of tasks and inputs of subtasks."""

MAX_OPTIONS = 10_000
"""Limit of the options of one choice."""


def _read_date(text: str) -> str:
    try:
        dt.date.fromisoformat(text)
    except ValueError as exc:
        raise PydanticCustomError(
            "date", "Write a date as YYYY-MM-DD, for example 2026-03-31."
        ) from exc
    return text


Date = Annotated[str, AfterValidator(_read_date)]
"""A date in ISO 8601 format."""


class _Declared(Strict):
    """Base of all kinds of parameters.

    Attributes:
        differs_from: names of parameters declared earlier, whose values this one must not take.
    """

    differs_from: tuple[ParameterName, ...] = Field(default=(), strict=False, exclude_if=is_empty)


class Choice(_Declared):
    """One of several values: texts, numbers, or mappings of texts and numbers.

    Attributes:
        options: the values, written ``from`` in task files; mappings have the same keys.
        file: a file of the suite whose lines are the options, except empty lines and those that
            begin with #. The suite's reader copies its lines into `options`.
    """

    type: Literal["choice"]
    options: tuple[JsonValue, ...] = Field(
        default=(), alias="from", strict=False, max_length=MAX_OPTIONS
    )
    file: str = Field(default="", exclude_if=is_empty)

    @model_validator(mode="after")
    def _require_options(self) -> Self:
        if not self.options and not self.file:
            raise PydanticCustomError("choice", "A choice needs `from` or `file`.")
        shapes = {_shape_of(option) for option in self.options}
        if len(shapes) > 1:
            raise PydanticCustomError(
                "choice", "Options must be of one type, mappings with the same keys."
            )
        return self


class Integer(_Declared):
    """A whole number.

    Attributes:
        min: the smallest.
        max: the largest.
        step: distance between possible values, counted from `min`.
    """

    type: Literal["integer"]
    min: int
    max: int
    step: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _require_order(self) -> Self:
        _require_order(self.min <= self.max)
        return self


class DateRange(_Declared):
    """A day.

    Attributes:
        min: the first day, such as ``2026-03-31``.
        max: the last day.
        weekdays: only Mondays to Fridays.
    """

    type: Literal["date"]
    min: Date
    max: Date
    weekdays: bool = False

    @model_validator(mode="after")
    def _require_order(self) -> Self:
        _require_order(self.min <= self.max)
        return self


class Person(_Declared):
    """A fictional person with name, e-mail address and telephone number."""

    type: Literal["person"]


class Text(_Declared):
    """English words.

    Attributes:
        words: number of words.
    """

    type: Literal["text"]
    words: int = Field(default=3, ge=1, le=200)


class PersonaQuestion(_Declared):
    """An answer to a question about the persona of a world, such as its cheapest order of last month.

    Of several records that the question selects, the trial's seed chooses one.

    Attributes:
        ask: the question, such as ``orders.in_month(last_month).cheapest()``.
        on: the role of the world.
        answers: what it selects, which the suite's reader finds; mappings have the same keys.
    """

    type: Literal["persona"]
    ask: str = Field(min_length=1, max_length=500)
    on: str = "world"
    answers: tuple[JsonValue, ...] = Field(
        default=(), strict=False, max_length=MAX_OPTIONS, exclude_if=is_empty
    )


Parameter = Annotated[
    Choice | Integer | DateRange | Person | Text | PersonaQuestion, Field(discriminator="type")
]
"""A declared parameter, discriminated by ``type``."""


def fields_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the names of a parameter's fields, as in the placeholder ``${who.email}``."""
    match parameter:
        case Person():
            return ("name", "first", "last", "email", "phone")
        case DateRange():
            return ("long", "day", "month", "year", "weekday")
        case Choice(options=(dict() as first, *_)) | PersonaQuestion(answers=(dict() as first, *_)):
            return tuple(name for name in first if name)
        case _:
            return ()


def _require_order(is_ordered: bool) -> None:  # noqa: FBT001
    if not is_ordered:
        raise PydanticCustomError("range", "`min` must not be larger than `max`.")


def _shape_of(option: JsonValue) -> object:
    if not isinstance(option, dict):
        return type(option).__name__
    return tuple(sorted((key, type(value).__name__) for key, value in option.items()))
