"""Actions that name a mark, a numbered element of the screen, in place of coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller.actions.arguments import Understood
from evaluators.coordinates import points_of
from foundation.errors import ArgumentsError, UnknownMarkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from controller.observation.marks import Mark
    from evaluators.schema import Tool
    from provisioning.protocols import Json

ELEMENT = "number of the element."
_PLACES = ("where the action takes place", "where it ends")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class MarkNaming:
    """How actions name marks.

    Attributes:
        names: the arguments, of the first and of a second point.
        replaces: whether they replace the coordinates, which are then no arguments.
    """

    names: tuple[str, ...] = ("mark", "to_mark")
    replaces: bool = False


MARKS = MarkNaming()
ELEMENTS = MarkNaming(("elem",), replaces=True)
"""As in CRAB: elements by their number only."""


def mark_arguments(tool: Tool, naming: MarkNaming = MARKS) -> dict[str, tuple[str, str]]:
    """Return the names of arguments for marks, with those of the coordinates that each stands for."""
    taken = tool.arguments.model_fields.keys()
    named = dict(zip(naming.names, points_of(tool), strict=False))
    return {name: point for name, point in named.items() if name not in taken}


def with_marks(tool: Tool, schema: dict[str, Any], naming: MarkNaming = MARKS) -> dict[str, Any]:
    """Return the JSON schema of an action's arguments with marks beside coordinates, or in their place."""
    names = mark_arguments(tool, naming)
    if not names:
        return schema
    replaced = {name for point in names.values() for name in point}
    properties = dict(_properties(names))
    required = [name for name in schema.get("required", []) if name not in replaced]
    if naming.replaces:
        about = {"type": "integer", "minimum": 0, "description": ELEMENT}
        kept = {name: row for name, row in schema["properties"].items() if name not in replaced}
        properties = {**dict.fromkeys(names, about), **kept}
        return {**schema, "properties": properties, "required": [*names, *required]}
    schema = {**schema, "properties": {**properties, **schema["properties"]}, "required": required}
    return schema if required else {key: schema[key] for key in schema if key != "required"}


def _properties(names: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, place in zip(names, _PLACES, strict=False):
        x, y = names[name]
        text = f"number of the marked element {place}; give either {name} or {x} and {y}."
        yield name, {"type": "integer", "minimum": 0, "description": text}


def resolve_marks(
    tool: Tool,
    args: Mapping[str, Json],
    marks: Sequence[Mark],
    role: str,
    naming: MarkNaming = MARKS,
) -> Understood:
    """Return arguments with coordinates in place of marks.

    Args:
        tool: the action.
        args: its arguments.
        marks: the marks that the agent was shown.
        role: the machine, for errors.
        naming: how the action names marks.

    Raises:
        UnknownMarkError: there is no such mark.
        ArgumentsError: the coordinates are given, too, or the mark is missing where they are no arguments.
    """
    resolved, notes = dict(args), []
    for name, point in mark_arguments(tool, naming).items():
        if naming.replaces and (name not in resolved or not resolved.keys().isdisjoint(point)):
            raise ArgumentsError(
                f"{tool.name} takes the number of an element, {name}, and no coordinates."
            )
        if name not in resolved:
            continue
        number = resolved.pop(name)
        if not resolved.keys().isdisjoint(point):
            raise ArgumentsError(f"Give either {name} or {point[0]} and {point[1]}, not both.")
        mark = next((mark for mark in marks if mark.id == number), None)
        if mark is None or isinstance(number, bool):
            raise _unknown(number, marks, role)
        resolved |= dict(zip(point, mark.center_px, strict=True))
        notes.append(f"{name} {number} as {mark.center_px}")
    return Understood(resolved, tuple(notes))


def _unknown(number: Json, marks: Sequence[Mark], role: str) -> UnknownMarkError:
    shown = str(number)[:_SHOWN]
    if not marks:
        return UnknownMarkError(
            f"There is no mark {shown} on {role}: you were shown no marks of it.",
            resolution="Give coordinates of the screenshot.",
        )
    ids = sorted(mark.id for mark in marks)
    return UnknownMarkError(
        f"There is no mark {shown} on {role}.", f"Its marks are {_ranges(ids)}."
    )


def _ranges(ids: Sequence[int]) -> str:
    """Return sorted numbers as text, with runs as ranges."""
    parts: list[list[int]] = []
    for number in ids:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)
