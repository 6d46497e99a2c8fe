"""OSWorld's tasks in JSON: fields, and the functions that judge them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, JsonValue

from foundation.strict import Strict
from foundation.yaml_models import parse

if TYPE_CHECKING:
    from controller.importing.json_source import JsonSource
    from foundation.errors import SpecError

INFEASIBLE = "infeasible"
"""The function of tasks that the agent must declare impossible."""


class OsworldStep(Strict):
    """A step of the setup (`config`), or of what happens before the task is judged (`postconfig`)."""

    type: str = Field(min_length=1)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class OsworldEvaluator(Strict):
    """How a task is judged: one function, or lists of the same length.

    Attributes:
        func: names of functions.
        result: what is judged, by a getter.
        expected: what it is compared with, by a getter or as a rule.
        options: further arguments of the functions.
        conj: whether all functions must be satisfied, or one.
        postconfig: steps before the task is judged.
        config_note: a remark; of no effect.
    """

    func: JsonValue
    result: JsonValue = None
    expected: JsonValue = None
    options: JsonValue = None
    conj: Literal["and", "or"] = "and"
    postconfig: tuple[OsworldStep, ...] = Field(default=(), strict=False)
    config_note: JsonValue = Field(default=None, alias="_config_note")


class OsworldTask(Strict):
    """One file; keys that change nothing here are accepted."""

    id: str = Field(min_length=1)
    instruction: str = Field(min_length=1)
    evaluator: OsworldEvaluator
    config: tuple[OsworldStep, ...] = Field(default=(), strict=False)
    related_apps: tuple[str, ...] = Field(default=(), strict=False)
    source: JsonValue = None
    snapshot: JsonValue = None
    trajectory: JsonValue = None
    proxy: JsonValue = None
    fixed_ip: JsonValue = None
    possibility_of_env_change: JsonValue = None
    env_may_change: JsonValue = None
    hint: JsonValue = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """One function with its arguments.

    Attributes:
        function: its name.
        result: configuration of the getter of the result; empty if there is none.
        expected: that of what is expected.
        options: further arguments.
    """

    function: str
    result: dict[str, Any] = field(default_factory=dict)
    expected: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def read_osworld(source: JsonSource) -> tuple[OsworldTask, tuple[Judgement, ...]]:
    """Return a task and its functions.

    Raises:
        SpecError: a key is unknown or missing, or the lists of the evaluator do not fit together;
            the error names file and line.
    """
    task = parse(source, OsworldTask)
    given = task.evaluator
    if isinstance(given.func, str):
        rows = [_one(source, key, getattr(given, key)) for key in ("result", "expected", "options")]
        return task, (Judgement(given.func, *rows),)
    names = given.func
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise source.error(
            ("evaluator", "func"),
            "func must be the name of a function, or a list of names.",
            resolution="Write a name such as exact_match.",
        )
    columns = [
        _column(source, key, getattr(given, key), len(names))
        for key in ("result", "expected", "options")
    ]
    return task, tuple(
        Judgement(str(name), *row) for name, *row in zip(names, *columns, strict=True)
    )


def _one(source: JsonSource, key: str, value: object) -> dict[str, Any]:
    if not value:
        return {}
    if not isinstance(value, dict):
        raise _wrong(source, (key,), f"{key} must be an object, because func is one name")
    return _with_type(source, (key,), key, value)


def _column(source: JsonSource, key: str, value: object, count: int) -> list[dict[str, Any]]:
    if not value:
        return [{} for _ in range(count)]
    if not isinstance(value, list) or len(value) != count:
        has = len(value) if isinstance(value, list) else "no list"
        raise _wrong(source, (key,), f"{key} must have {count} entries, as func has; it has {has}")
    rows = []
    for number, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            raise _wrong(source, (key, number), f"{key} must hold objects, or null")
        rows.append(_with_type(source, (key, number), key, item or {}))
    return rows


def _with_type(
    source: JsonSource, where: tuple[str | int, ...], key: str, value: dict[str, Any]
) -> dict[str, Any]:
    if value and key != "options" and not isinstance(value.get("type"), str):
        raise _wrong(source, where, f"the key 'type' of {key} is missing")
    return value


def _wrong(source: JsonSource, where: tuple[str | int, ...], what: str) -> SpecError:
    return source.error(
        ("evaluator", *where),
        f"{what}.",
        resolution="See docs/importing.md for the format.",
    )
