"""OpenAI's tool ``computer``, which performs a batch of actions in one call of the Responses API.

Source: OpenAI, guide "Computer use" and the SDK's ``types/responses/computer_action.py`` (3.54).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.models.families.arguments import (
    MAX_PLACES,
    fail,
    notches,
    number,
    place,
    read_call,
    required,
    show,
    text,
)
from controller.models.families.family import Declared, Family, History
from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.keys import held_keys, split_keys
from controller.models.families.reading import own_call, read_all
from controller.models.messages import Tool
from controller.models.pictures.coordinates import Coordinates, Kind
from controller.models.pictures.sizing import Bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from controller.models.families.family import Brief
    from controller.models.families.gestures import Parsed
    from controller.models.messages import Reply, ToolCall
    from controller.models.pictures.coordinates import Place

TOOL = "computer"
PX_PER_NOTCH = 120
_WAIT_S = 2.0
_BUTTONS = {name: name for name in ("left", "right", "middle", "back", "forward")} | {
    "wheel": "middle"
}
SYSTEM = """\
You operate the {kind} of a person with the tool {tool}, whose screen has {width} x {height} px. Other \
machines and the session have tools of their own. When the task is done, call session__complete; if an \
answer was asked for, call session__submit first; if the task cannot be done, call \
session__declare_infeasible."""


class ComputerDeclaration:
    """Declares the tool, which takes no options.

    Args:
        native: declares the tool for a screen, in the vendor's format.
    """

    texts: tuple[str, ...] = (SYSTEM,)

    def __init__(self, native: Callable[[Brief], Mapping[str, Any]]) -> None:
        self._native = native

    def declare(self, brief: Brief) -> Declared:
        """Return prompt and tools."""
        width, height = brief.screen.sent
        system = SYSTEM.format(kind=brief.screen.kind, tool=TOOL, width=width, height=height)
        tool = Tool(TOOL, "", {}, self._native(brief))
        return Declared(system, (tool, *brief.tools), brief.instruction)


class OpenAIComputerParser:
    """Reads calls of the tool."""

    def read(self, reply: Reply) -> Parsed:
        """Return the gestures of all calls; text without a call ends the task."""
        message = reply.message
        return read_all(
            reply, message.calls, _gestures, thought=message.text, are_calls=True, may_end=True
        )


def _gestures(call: ToolCall) -> Iterator[Gesture]:
    if (own := own_call(call)) is not None:
        yield own
        return
    if call.name != TOOL:
        fail(FaultKind.UNKNOWN_ACTION, f"There is no tool called {show(call.name)}.")
    args = read_call(call)
    actions = args.get("actions", [args["action"]] if "action" in args else None)
    if not isinstance(actions, list) or not actions:
        fail(FaultKind.BAD_ARGUMENTS, "actions must be a list of actions.")
    for action in actions:
        if not isinstance(action, dict):
            fail(FaultKind.BAD_ARGUMENTS, f"An action must be an object, not {show(action)}.")
        yield _gesture(action)


def _gesture(action: dict[str, Any]) -> Gesture:
    kind = action.get("type")
    if not isinstance(kind, str) or kind not in _READERS:
        fail(FaultKind.UNKNOWN_ACTION, f"There is no action of the type {show(kind)}.")
    return _READERS[kind](action)


def _at(action: dict[str, Any]) -> tuple[Place, ...]:
    x, y = required(action, "x"), required(action, "y")
    return ((number(x, "x"), number(y, "y")),)


def _click(action: dict[str, Any]) -> Gesture:
    button = action.get("button", "left")
    if not isinstance(button, str) or button not in _BUTTONS:
        fail(FaultKind.BAD_ARGUMENTS, f"There is no button called {show(button)}.")
    held = held_keys(action.get("keys"))
    return Gesture(Do.CLICK, _at(action), _BUTTONS[button], keys=held)


def _drag(action: dict[str, Any]) -> Gesture:
    path = required(action, "path")
    if not isinstance(path, list) or not 1 < len(path) <= MAX_PLACES:
        fail(FaultKind.BAD_ARGUMENTS, f"path must be a list of 2 to {MAX_PLACES} places.")
    places = tuple(place(point, "path") for point in path)
    return Gesture(Do.DRAG, places, keys=held_keys(action.get("keys")))


def _scroll(action: dict[str, Any]) -> Gesture:
    right, down = (
        notches(number(action.get(name) or 0, name) / PX_PER_NOTCH)
        for name in ("scroll_x", "scroll_y")
    )
    held = held_keys(action.get("keys"))
    return Gesture(Do.SCROLL, _at(action), notches=(right, down), keys=held)


_READERS: dict[str, Callable[[dict[str, Any]], Gesture]] = {
    "click": _click,
    "double_click": lambda action: Gesture(
        Do.CLICK, _at(action), clicks=2, keys=held_keys(action.get("keys"))
    ),
    "move": lambda action: Gesture(Do.MOVE, _at(action)),
    "drag": _drag,
    "scroll": _scroll,
    "keypress": lambda action: Gesture(Do.KEYS, keys=split_keys(required(action, "keys"))),
    "type": lambda action: Gesture(Do.TYPE, text=text(required(action, "text"))),
    "wait": lambda _action: Gesture(Do.WAIT, seconds=_WAIT_S),
    "screenshot": lambda _action: Gesture(Do.LOOK),
}


def _preview(brief: Brief) -> dict[str, Any]:
    width, height = brief.screen.sent
    environment = "linux" if brief.screen.kind == "desktop" else "browser"
    return {
        "type": "computer_use_preview",
        "display_width": width,
        "display_height": height,
        "environment": environment,
    }


_SOURCE = 'OpenAI, guide "Computer use"'
OPENAI_COMPUTER = Family(
    name="openai-computer",
    adapters=frozenset({"openai-responses"}),
    # Detail "original": at most 10.24 Mpx and 6000 px a side.
    sizer=Bounded(6000, 10_240_000),
    declaration=ComputerDeclaration(lambda _brief: {"type": TOOL}),
    parser=OpenAIComputerParser(),
    coordinates=Coordinates(Kind.PIXELS),
    history=History(turns=200, pictures=20),
    source=_SOURCE,
    has_tools=True,
    answers_with_picture=True,
)
OPENAI_COMPUTER_PREVIEW = Family(
    name="openai-computer-preview",
    adapters=frozenset({"openai-responses"}),
    sizer=Bounded(2048, 1600 * 900),
    declaration=ComputerDeclaration(_preview),
    parser=OpenAIComputerParser(),
    coordinates=Coordinates(Kind.PIXELS),
    history=History(turns=200, pictures=20),
    source=_SOURCE,
    has_tools=True,
    answers_with_picture=True,
)
