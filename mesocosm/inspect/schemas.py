"""Actions of an episode as short text for a model: signatures, as compact as JSON schemas allow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mesocosm.client.models import ActionInfo

SESSION = "session"
"""Heading of the actions that belong to no machine."""


def describe(actions: Iterable[ActionInfo]) -> str:
    """Return one line an action, under its machine: name, arguments and what it does.

    An argument with ``=`` may be left out.
    """
    groups: dict[str | None, list[str]] = {}
    for action in actions:
        lines = groups.setdefault(action.on, [])
        meaning = " ".join(action.description.split())
        lines.append(f"- {signature(action)}: {meaning}" if meaning else f"- {signature(action)}")
    return "\n".join(
        "\n".join([f'on "{role}":' if role else f"on the {SESSION} (`on` is empty):", *lines])
        for role, lines in groups.items()
    )


def signature(action: ActionInfo) -> str:
    """Return an action as ``name(argument: type, optional: type = default)``."""
    required = set(action.parameters.get("required", ()))
    properties: Mapping[str, Mapping[str, Any]] = action.parameters.get("properties", {})
    parts = []
    for name, schema in properties.items():
        text = f"{name}: {_type(schema)}"
        if name not in required:
            text += f" = {json.dumps(schema.get('default'))}"
        parts.append(text)
    return f"{action.do}({', '.join(parts)})"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if choices := schema.get("anyOf"):
        return "|".join(map(_type, choices))
    kind = str(schema.get("type", "any"))
    return f"list of {_type(schema['items'])}" if kind == "array" and "items" in schema else kind
