"""Spellings of arguments that models use and that can only mean one thing.

Arguments of task files stay strict: their author can correct them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from foundation.errors import ArgumentsError
from provisioning.probe.display.keys import keysym_of_name
from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.schema import Tool
    from provisioning.protocols import Json

KEYS = "key names"
"""Mark of an argument that lists names of keys."""

ENCODED_TWICE = "encoded twice as JSON"

_CONTAINERS: dict[str, type] = {"array": list, "object": dict}
_SHOWN_CHARS = 60
_FOREIGN = frozenset(
    {"scroll_x", "scroll_y", "dx", "dy", "delta_x", "delta_y", "deltaX", "deltaY", "direction"}
    | {"scroll_direction", "amount", "scroll_amount", "clicks", "horizontal"}
)
_SCROLL = (
    "scroll turns the wheel by notches: notches = 3 shows what is further down, -3 what is further up; "
    "sideways = 3 shows what is further right, -3 what is further left."
)


class Understood(NamedTuple):
    """Arguments as the schema writes them.

    Attributes:
        args: the arguments.
        notes: what was written differently, for the log.
    """

    args: dict[str, Json]
    notes: tuple[str, ...]


def understand(tool: Tool, args: Mapping[str, Json]) -> Understood:
    """Return arguments in the form of the tool's schema, where it is clear which that is.

    A whole number may be written as 640.0, a list may be encoded twice as JSON, and a combination of
    keys may be one text, as "ctrl+s". Everything else stays as it is, and `check` judges it.
    """
    schemas: dict[str, Any] = tool.parameters().get("properties", {})
    keys = tool.marked(KEYS)
    understood: dict[str, Json] = {}
    notes: list[str] = []
    for name, value in args.items():
        kind = schemas.get(name, {}).get("type", "")
        meant = _typed(kind, value)
        if name in keys:
            meant = _keys(meant)
        understood[name] = meant
        if type(meant) is not type(value) or meant != value:
            notes.append(f"{name}: {_shown(value)} as {_shown(meant)}")
    return Understood(understood, tuple(notes))


def check(tool: Tool, args: Mapping[str, Json]) -> dict[str, Any]:
    """Validate an agent's arguments, as `Tool.check` does, and answer the names of other toolkits.

    Raises:
        ArgumentsError: there are wrong arguments.
    """
    try:
        return tool.check(args, error=ArgumentsError)
    except ArgumentsError as exc:
        if tool.name == "scroll" and _FOREIGN.intersection(args):
            raise ArgumentsError(exc.brief, exc.details, _SCROLL) from exc
        raise


def _typed(kind: str, value: Json) -> Json:
    """Return a value as the schema's type, if it means one and is written as another."""
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and kind in _CONTAINERS:
        meant = _decoded(value)
        return meant if isinstance(meant, _CONTAINERS[kind]) else value
    return value


def _decoded(text: str) -> Json:
    """Return the value of a JSON text; the text itself if it is none."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _keys(value: Json) -> Json:
    """Return names of keys one by one: "ctrl+s" is two."""
    if isinstance(value, str):
        return _split(value)
    if not isinstance(value, list):
        return value
    names: list[Json] = []
    for name in value:
        names += _split(name) if isinstance(name, str) else [name]
    return names


def _split(name: str) -> list[Json]:
    if _is_key(name) or "+" not in name[1:-1]:
        return [name]
    *parts, last = name.split("+")
    if not last:  # "ctrl++"
        parts, last = parts[:-1], "+"
    return [*(part.strip() for part in parts), last.strip() or last]


def _is_key(name: str) -> bool:
    try:
        keysym_of_name(name)
    except ProbeError:
        return False
    return True


def _shown(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
