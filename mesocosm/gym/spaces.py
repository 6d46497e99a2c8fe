"""The space of a task's actions: lists of typed actions, whose arguments have JSON schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import Space

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mesocosm.client.models import ActionInfo

Schema = dict[str, Any]

_SPREAD = 100
"""Samples of numbers without a maximum lie this close to their minimum, so on every screen."""
_TEXT = 8
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": (int, np.integer),
    "number": (int, float, np.integer, np.floating),
    "array": (list, tuple),
    "object": dict,
    "null": type(None),
}


class ActionList(Space[list[dict[str, Any]]]):
    """Lists of actions as `Env.step` takes them; samples have one action.

    Args:
        actions: the actions of the task.
        seed: seed of samples.
    """

    def __init__(self, actions: Sequence[ActionInfo], seed: int | None = None) -> None:
        super().__init__(None, None, seed)
        self.actions = list(actions)
        self._schemas = {(action.on, action.do): action.parameters for action in actions}

    @property
    def is_np_flattenable(self) -> bool:
        """Actions have no fixed number of values."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> list[dict[str, Any]]:  # noqa: ANN401 - as in the base
        """Return one random action with random arguments."""
        del mask, probability
        action = self.actions[int(self.np_random.integers(len(self.actions)))]
        return [{"do": action.do, "on": action.on, "with": self._sample(action.parameters)}]

    def contains(self, x: object) -> bool:
        """Return whether a value is a list of known actions with arguments of the right types."""
        return isinstance(x, list | tuple) and all(self._has(action) for action in x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionList) and self._schemas == other._schemas

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ActionList({len(self.actions)} actions)"

    def to_jsonable(self, sample_n: Iterable[list[dict[str, Any]]]) -> list[Any]:
        """Return samples as JSON."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[list[dict[str, Any]]]:
        """Return samples from JSON."""
        return list(sample_n)

    def _has(self, action: object) -> bool:
        if not isinstance(action, dict) or not action.keys() <= {"do", "on", "with"}:
            return False
        schema = self._schemas.get((action.get("on"), action.get("do", "")))
        return schema is not None and fits(action.get("with", {}), schema)

    def _sample(self, schema: Schema) -> Any:  # noqa: ANN401 - JSON
        if "enum" in schema:
            return schema["enum"][int(self.np_random.integers(len(schema["enum"])))]
        if choices := _choices(schema):
            return self._sample(choices[0])
        match schema.get("type"):
            case "object":
                properties: Mapping[str, Schema] = schema.get("properties", {})
                return {name: self._sample(properties[name]) for name in schema.get("required", ())}
            case "array":
                return [self._sample(schema["items"]) for _ in range(schema.get("minItems", 0))]
            case "boolean":
                return bool(self.np_random.integers(2))
            case "integer" | "number" | "string":
                return self._sample_scalar(schema)
        return None

    def _sample_scalar(self, schema: Schema) -> float | str:
        if schema["type"] == "string":
            length = max(schema.get("minLength", 0), min(_TEXT, schema.get("maxLength", _TEXT)))
            letters = self.np_random.integers(ord("a"), ord("z") + 1, size=length)
            return "".join(map(chr, letters))
        least = schema.get("minimum", 0)
        most = min(schema.get("maximum", least + _SPREAD), least + _SPREAD)
        value = float(self.np_random.uniform(least, most))
        return int(value) if schema["type"] == "integer" else value


def fits(value: object, schema: Schema) -> bool:
    """Return whether a value has the types, names and limits of a JSON schema.

    Understands what actions' schemas contain: types, enumerations, limits, items and properties.
    """
    if "enum" in schema:
        return value in schema["enum"]
    if choices := _choices(schema):
        return any(fits(value, choice) for choice in choices)
    kind = schema.get("type")
    if kind is None:
        return True
    has_type = isinstance(value, bool) == (kind == "boolean") and isinstance(value, _TYPES[kind])
    return has_type and _is_within(value, schema)


def _choices(schema: Schema) -> list[Schema]:
    choices: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or []
    return choices


def _is_within(value: object, schema: Schema) -> bool:
    """Return whether a value of the right type is within the limits of its schema."""
    match value:
        case dict():
            return _has_properties(value, schema)
        case list() | tuple():
            size, items = len(value), schema.get("items", {})
            is_sized = schema.get("minItems", 0) <= size <= schema.get("maxItems", size)
            return is_sized and all(fits(item, items) for item in value)
        case str():
            size = len(value)
            return bool(schema.get("minLength", 0) <= size <= schema.get("maxLength", size))
        case int() | float() | np.number():
            return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    return True


def _has_properties(value: dict[str, object], schema: Schema) -> bool:
    properties = schema.get("properties", {})
    is_open = schema.get("additionalProperties", True) is not False
    return (
        set(schema.get("required", ())) <= value.keys()
        and (is_open or value.keys() <= properties.keys())
        and all(fits(value[name], properties[name]) for name in value.keys() & properties.keys())
    )


def to_plain(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return an action whose numbers are Python's, as JSON needs them."""
    return {key: _plain(value) for key, value in action.items()}


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value
