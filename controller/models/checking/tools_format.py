"""The format ``tools`` as a family, so that checks treat all formats alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.models.families.arguments import fail, number, read_call, required, show
from controller.models.families.family import Brief, Declared, Family, History
from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.keys import held_keys
from controller.models.families.reading import read_all
from controller.models.messages import Tool
from controller.models.pictures.coordinates import Coordinates, Kind
from controller.models.pictures.sizing import Scaled
from controller.specification.agent import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.models.families.gestures import Parsed
    from controller.models.messages import Reply, ToolCall

CLICK, SCROLL = "desktop__click", "desktop__scroll"
_PLACE: dict[str, Any] = {
    "x": {"type": "integer", "description": "from the left edge, px."},
    "y": {"type": "integer", "description": "from the top edge, px."},
}
_HELD = {"type": "array", "items": {"type": "string"}, "description": "keys held down meanwhile"}
_NOTCHES = {
    "type": "integer",
    "description": "positive shows what is further down, negative what is further up.",
}
_SYSTEM = """\
You operate a computer for a person by calling tools. Coordinates are pixels of the screenshot, which has \
{width} x {height} px, origin top left."""


class ToolsDeclaration:
    """Declares two actions as the agent ``model`` does."""

    texts: tuple[str, ...] = (_SYSTEM,)

    def declare(self, brief: Brief) -> Declared:
        """Return prompt and tools."""
        width, height = brief.screen.sent
        tools = (
            _tool(CLICK, "Click the left mouse button.", {**_PLACE, "held": _HELD}),
            _tool(SCROLL, "Turn the mouse wheel at a place.", {**_PLACE, "notches": _NOTCHES}),
        )
        return Declared(_SYSTEM.format(width=width, height=height), tools, brief.instruction)


class ToolsParser:
    """Reads calls of these tools."""

    def read(self, reply: Reply) -> Parsed:
        """Return the gestures of all calls."""
        message = reply.message
        return read_all(reply, message.calls, _gestures, thought=message.text, are_calls=True)


def _gestures(call: ToolCall) -> Iterator[Gesture]:
    args = read_call(call)
    if call.name not in {CLICK, SCROLL}:
        fail(FaultKind.UNKNOWN_ACTION, f"There is no tool called {show(call.name)}.")
    at = (number(required(args, "x"), "x"), number(required(args, "y"), "y"))
    if call.name == CLICK:
        yield Gesture(Do.CLICK, (at,), keys=held_keys(args.get("held")))
    else:
        turns = int(number(required(args, "notches"), "notches"))
        yield Gesture(Do.SCROLL, (at,), notches=(0, turns))


def _tool(name: str, description: str, properties: dict[str, Any]) -> Tool:
    required_names = [key for key in properties if key != "held"]
    schema = {"type": "object", "properties": properties, "required": required_names}
    return Tool(name, description, schema)


def tools_family(image_scale: float) -> Family:
    """Return the format as a family.

    Args:
        image_scale: factor that screenshots are scaled down by.
    """
    return Family(
        name=TOOLS,
        adapters=frozenset(),
        sizer=Scaled(image_scale),
        declaration=ToolsDeclaration(),
        parser=ToolsParser(),
        coordinates=Coordinates(Kind.PIXELS),
        history=History(turns=1, pictures=1),
        source="docs/agents.md",
        has_tools=True,
    )
