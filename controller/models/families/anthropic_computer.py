"""Anthropic's computer-use tools: ``computer_20250124``, ``computer_20251124`` and the toolset.

Source: Anthropic, "Computer use tool", and the SDK's ``types/beta/beta_computer_*`` (2.12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.models.families.arguments import (
    count,
    fail,
    number,
    place,
    read_call,
    required,
    seconds,
    show,
    text,
    wheel,
)
from controller.models.families.family import Declared, Family, History
from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.keys import held_keys, split_keys
from controller.models.families.openai_computer import SYSTEM, TOOL
from controller.models.families.reading import own_call, read_all
from controller.models.messages import Tool
from controller.models.pictures.coordinates import Coordinates, Kind
from controller.models.pictures.sizing import Bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.models.families.family import Brief
    from controller.models.families.gestures import Parsed
    from controller.models.messages import Reply, ToolCall
    from controller.models.pictures.coordinates import Place

TOOLSET = "computer_toolset_20260801"
_WAIT_S = 1.0
_MAX_REPEAT = 100


class AnthropicDeclaration:
    """Declares one version of the tool.

    Args:
        version: type of the tool.
    """

    texts: tuple[str, ...] = (SYSTEM,)

    def __init__(self, version: str) -> None:
        self._version = version

    def declare(self, brief: Brief) -> Declared:
        """Return prompt and tools; the toolset rejects a name and a size."""
        width, height = brief.screen.sent
        native: dict[str, Any] = {"type": self._version}
        if self._version == TOOLSET:
            native["configs"] = {"zoom": {"enabled": False}}
        else:
            native |= {"name": TOOL, "display_width_px": width, "display_height_px": height}
        system = SYSTEM.format(kind=brief.screen.kind, tool=TOOL, width=width, height=height)
        return Declared(system, (Tool(TOOL, "", {}, native), *brief.tools), brief.instruction)


class AnthropicParser:
    """Reads calls of all versions: one tool with the input ``action``, or one tool for each action."""

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
    args = read_call(call)
    name = args.get("action") if call.name == TOOL else call.name
    if not isinstance(name, str) or name not in _READERS:
        fail(FaultKind.UNKNOWN_ACTION, f"There is no action called {show(name)}.")
    yield from _READERS[name](args)


def _at(args: dict[str, Any]) -> tuple[Place, ...]:
    value = args.get("coordinate")
    return () if value is None else (place(value),)


def _click(button: str, clicks: int) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(args: dict[str, Any]) -> Iterator[Gesture]:
        held = held_keys(args.get("text") or args.get("key"))
        yield Gesture(Do.CLICK, _at(args), button, clicks, held)

    return read


def _drag(args: dict[str, Any]) -> Iterator[Gesture]:
    end = place(required(args, "coordinate"))
    start = args.get("start_coordinate")
    places = (end,) if start is None else (place(start, "start_coordinate"), end)
    yield Gesture(Do.DRAG, places, keys=held_keys(args.get("text")))


def _scroll(args: dict[str, Any]) -> Iterator[Gesture]:
    amount = number(required(args, "scroll_amount"), "scroll_amount")
    if amount < 0:
        fail(FaultKind.BAD_ARGUMENTS, "scroll_amount must not be negative.")
    turns = wheel(required(args, "scroll_direction"), amount)
    yield Gesture(Do.SCROLL, _at(args), notches=turns, keys=held_keys(args.get("text")))


def _keys(args: dict[str, Any]) -> Iterator[Gesture]:
    keys = split_keys(required(args, "text"))
    for _ in range(count(args.get("repeat"), 1, _MAX_REPEAT, "repeat")):
        yield Gesture(Do.KEYS, keys=keys)


def _hold(args: dict[str, Any]) -> Iterator[Gesture]:
    keys = split_keys(required(args, "text"))
    yield Gesture(Do.KEYS, keys=keys, seconds=seconds(args.get("duration"), _WAIT_S))


def _type(args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.TYPE, text=text(required(args, "text")))


def _wait(args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.WAIT, seconds=seconds(args.get("duration"), _WAIT_S))


def _zoom(args: dict[str, Any]) -> Iterator[Gesture]:
    region = required(args, "region")
    if not isinstance(region, list) or len(region) != 4:  # noqa: PLR2004 - two corners
        fail(FaultKind.BAD_ARGUMENTS, f"region must be [x0, y0, x1, y1], not {show(region)}.")
    yield Gesture(Do.ZOOM, (place(region[:2], "region"), place(region[2:], "region")))


def _simple(do: Do) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(args: dict[str, Any]) -> Iterator[Gesture]:
        yield Gesture(do, _at(args))

    return read


def _look(_args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.LOOK)


_READERS: dict[str, Callable[[dict[str, Any]], Iterator[Gesture]]] = {
    "left_click": _click("left", 1),
    "right_click": _click("right", 1),
    "middle_click": _click("middle", 1),
    "double_click": _click("left", 2),
    "triple_click": _click("left", 3),
    "mouse_move": _simple(Do.MOVE),
    "left_click_drag": _drag,
    "left_mouse_down": _simple(Do.PRESS),
    "left_mouse_up": _simple(Do.RELEASE),
    "cursor_position": _look,
    "scroll": _scroll,
    "key": _keys,
    "hold_key": _hold,
    "type": _type,
    "wait": _wait,
    "screenshot": _look,
    "zoom": _zoom,
}


def _family(name: str, version: str, sizer: Bounded) -> Family:
    return Family(
        name=name,
        adapters=frozenset({"anthropic"}),
        sizer=sizer,
        declaration=AnthropicDeclaration(version),
        parser=AnthropicParser(),
        coordinates=Coordinates(Kind.PIXELS),
        history=History(turns=200, pictures=20),
        source='Anthropic, "Computer use tool"',
        has_tools=True,
        answers_with_picture=True,
    )


# Larger pictures are shrunk silently: 1568 px a side and about 1.15 Mpx.
ANTHROPIC_20250124 = _family(
    "anthropic-computer-20250124", "computer_20250124", Bounded(1568, 1_150_000)
)
ANTHROPIC_20251124 = _family(
    "anthropic-computer-20251124", "computer_20251124", Bounded(1568, 1_150_000)
)
# Larger pictures are rejected: 2576 px a side and 4784 tiles; with more than 20 pictures 2000 px.
ANTHROPIC_TOOLSET = _family(
    "anthropic-toolset-20260801", TOOLSET, Bounded(2000, tile_px=28, max_tiles=4784)
)
