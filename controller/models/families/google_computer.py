"""Google's tool ``ComputerUse``, with the function names before and since Gemini 3.5.

Coordinates go from 0 to 999 and are divided by 1000. Of arguments with two published spellings
(``destination_x`` and ``end_x``, ``magnitude`` and ``magnitude_in_pixels``) both are read.

Source: Google, "Computer use" of the Gemini API; google-gemini/computer-use-preview ``agent.py``; the
SDK's ``types.ComputerUse`` (3.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.models.families.arguments import (
    fail,
    number,
    read_call,
    required,
    seconds,
    show,
    text,
    wheel,
)
from controller.models.families.family import Declared, Family, History
from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.keys import split_keys
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

TOOL = "computer_use"
SYSTEM = """\
You operate the {kind} of a person with the functions for computer use. Other machines and the session \
have functions of their own. When the task is done, call session__complete; if an answer was asked for, \
call session__submit first; if the task cannot be done, call session__declare_infeasible."""
_OLD_MAGNITUDE, _NEW_MAGNITUDE_PX = 800.0, 300.0
_PER_NOTCH_PX = 100.0
_PER_NOTCH_GRID = 160.0
_MIDDLE = 500.0
_ENVIRONMENTS = {"desktop": "ENVIRONMENT_DESKTOP", "phone": "ENVIRONMENT_MOBILE"}
_BROWSER_ONLY = (
    "open_web_browser",
    "search",
    "navigate",
    "go_forward",
)
_MOBILE_BUTTONS = {"go_back": "BACK", "go_home": "HOME"}


class GoogleDeclaration:
    """Declares the tool for a desktop or a phone, without what needs a browser."""

    texts: tuple[str, ...] = (SYSTEM,)

    def declare(self, brief: Brief) -> Declared:
        """Return prompt and tools."""
        native: dict[str, Any] = {"environment": _ENVIRONMENTS[brief.screen.kind]}
        if brief.screen.kind == "desktop":
            native["excluded_predefined_functions"] = list(_BROWSER_ONLY)
        system = SYSTEM.format(kind=brief.screen.kind)
        tool = Tool(TOOL, "", {}, {"computer_use": native})
        return Declared(system, (tool, *brief.tools), brief.instruction)


class GoogleParser:
    """Reads calls of the predefined functions, by their old and new names."""

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
    if call.name not in _READERS:
        fail(FaultKind.UNKNOWN_ACTION, f"There is no function called {show(call.name)}.")
    yield from _READERS[call.name](read_call(call))


def _at(args: dict[str, Any], x: tuple[str, ...] = ("x",), y: tuple[str, ...] = ("y",)) -> Place:
    return number(required(args, *x), x[0]), number(required(args, *y), y[0])


def _click(button: str = "left", clicks: int = 1) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(args: dict[str, Any]) -> Iterator[Gesture]:
        yield Gesture(Do.CLICK, (_at(args),), button, clicks)

    return read


def _simple(do: Do) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(args: dict[str, Any]) -> Iterator[Gesture]:
        yield Gesture(do, (_at(args),) if "x" in args else ())

    return read


def _drag(args: dict[str, Any]) -> Iterator[Gesture]:
    start = _at(args, ("start_x", "x"), ("start_y", "y"))
    end = _at(args, ("end_x", "destination_x"), ("end_y", "destination_y"))
    yield Gesture(Do.DRAG, (start, end))


def _scroll(args: dict[str, Any]) -> Iterator[Gesture]:
    amount = args.get("magnitude_in_pixels", args.get("magnitude", _NEW_MAGNITUDE_PX))
    turns = number(amount, "magnitude_in_pixels") / _PER_NOTCH_PX
    yield Gesture(Do.SCROLL, (_at(args),), notches=wheel(args.get("direction"), turns))


def _old_scroll(args: dict[str, Any]) -> Iterator[Gesture]:
    turns = number(args.get("magnitude", _OLD_MAGNITUDE), "magnitude") / _PER_NOTCH_GRID
    at = _at(args) if "x" in args else (_MIDDLE, _MIDDLE)
    yield Gesture(Do.SCROLL, (at,), notches=wheel(args.get("direction"), turns))


def _is_true(args: dict[str, Any], name: str, *, default: bool) -> bool:
    value = args.get(name, default)
    if not isinstance(value, bool):
        fail(FaultKind.BAD_ARGUMENTS, f"{name} must be true or false, not {show(value)}.")
    return value


def _old_type(args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.CLICK, (_at(args),))
    yield Gesture(
        Do.TYPE,
        text=text(required(args, "text")),
        clears=_is_true(args, "clear_before_typing", default=True),
        submits=_is_true(args, "press_enter", default=True),
    )


def _type(args: dict[str, Any]) -> Iterator[Gesture]:
    if "x" in args:
        yield Gesture(Do.CLICK, (_at(args),))
    yield Gesture(
        Do.TYPE,
        text=text(required(args, "text")),
        clears=_is_true(args, "clear_before_typing", default=False),
        submits=_is_true(args, "press_enter", default=False),
    )


def _keys(do: Do, *names: str) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(args: dict[str, Any]) -> Iterator[Gesture]:
        yield Gesture(do, keys=split_keys(required(args, *names)))

    return read


def _wait(default_s: float) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(args: dict[str, Any]) -> Iterator[Gesture]:
        yield Gesture(Do.WAIT, seconds=seconds(args.get("seconds"), default_s, "seconds"))

    return read


def _long_press(args: dict[str, Any]) -> Iterator[Gesture]:
    duration_s = seconds(args.get("seconds"), 2.0, "seconds")
    yield Gesture(Do.LONG_PRESS, (_at(args),), seconds=duration_s)


def _open(args: dict[str, Any]) -> Iterator[Gesture]:
    name = required(args, "app_name", "name", "app", "intent_name")
    yield Gesture(Do.OPEN, text=text(name, "app_name"))


def _button(name: str) -> Callable[[dict[str, Any]], Iterator[Gesture]]:
    def read(_args: dict[str, Any]) -> Iterator[Gesture]:
        yield Gesture(Do.BUTTON, text=name)

    return read


def _look(_args: dict[str, Any]) -> Iterator[Gesture]:
    yield Gesture(Do.LOOK)


_OLD: dict[str, Callable[[dict[str, Any]], Iterator[Gesture]]] = {
    "click_at": _click(),
    "hover_at": _simple(Do.MOVE),
    "type_text_at": _old_type,
    "key_combination": _keys(Do.KEYS, "keys"),
    "scroll_document": _old_scroll,
    "scroll_at": _old_scroll,
    "wait_5_seconds": _wait(5.0),
    "long_press_at": _long_press,
}
_NEW: dict[str, Callable[[dict[str, Any]], Iterator[Gesture]]] = {
    "click": _click(),
    "double_click": _click(clicks=2),
    "triple_click": _click(clicks=3),
    "middle_click": _click("middle"),
    "right_click": _click("right"),
    "move": _simple(Do.MOVE),
    "mouse_down": _simple(Do.PRESS),
    "mouse_up": _simple(Do.RELEASE),
    "drag_and_drop": _drag,
    "scroll": _scroll,
    "type": _type,
    "press_key": _keys(Do.KEYS, "key", "keys"),
    "hotkey": _keys(Do.KEYS, "keys", "key"),
    "key_down": _keys(Do.KEYS_DOWN, "key", "keys"),
    "key_up": _keys(Do.KEYS_UP, "key", "keys"),
    "wait": _wait(1.0),
    "take_screenshot": _look,
    "long_press": _long_press,
    "open_app": _open,
    **{name: _button(button) for name, button in _MOBILE_BUTTONS.items()},
}
_READERS = {**_OLD, **_NEW}

GOOGLE_COMPUTER = Family(
    name="google-computer",
    adapters=frozenset({"google"}),
    sizer=Bounded(3072),
    declaration=GoogleDeclaration(),
    parser=GoogleParser(),
    coordinates=Coordinates(Kind.GRID),
    history=History(turns=200, pictures=3),
    source='Google, "Computer use" of the Gemini API',
    has_tools=True,
    answers_with_picture=True,
)
