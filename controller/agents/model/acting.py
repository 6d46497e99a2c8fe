"""Turn gestures of a model into actions of a trial."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controller.actions.space import Action
from controller.models.families.gestures import Do, FaultKind, Gesture, ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from controller.models.families.family import Screen
    from evaluators.schema import Tool
    from provisioning.protocols import Json

_MAX_WAIT_S = 10.0
_LOOK_S = 0.1
_SWIPE_PER_NOTCH = 0.06
_MARGIN_RATIO = 0.05
_NO_REASON = "The agent gave up without a reason."
UNSUPPORTED = "{what} is not possible on this machine."
NO_POINTER = "Give a coordinate: the pointer was not moved yet."
TEXTS = (UNSUPPORTED, NO_POINTER, _NO_REASON)
"""Texts about gestures that models receive, for the digest of prompts."""

_CLICKS = {
    ("left", 1): "click",
    ("left", 2): "double_click",
    ("left", 3): "triple_click",
    ("right", 1): "right_click",
    ("middle", 1): "middle_click",
}
_TAPS = {("left", 1): "tap", ("left", 2): "double_tap", ("right", 1): "long_tap"}
_PHONE_KEYS = {
    "return": "ENTER",
    "enter": "ENTER",
    "backspace": "DEL",
    "tab": "TAB",
    "escape": "BACK",
    "esc": "BACK",
    "home": "HOME",
}


@dataclass(slots=True)
class Hands:
    """Acts on one screen; knows where the pointer is.

    Attributes:
        role: role of the machine.
        kind: kind of the machine.
        tools: actions of the machine.
        session: actions of the session.
        pointer: where the last gesture ended, px of the screen; None before the first.
    """

    role: str
    kind: str
    tools: Mapping[str, Tool]
    session: Mapping[str, Tool]
    pointer: tuple[int, int] | None = field(default=None)

    def act(self, gesture: Gesture, screen: Screen) -> list[Action]:
        """Return the actions of a gesture with places in px of the screen.

        Raises:
            ParseError: the machine does not offer this, or a place is missing.
        """
        reader = _SESSION.get(gesture.do)
        if reader is not None:
            return [*reader(self, gesture)]
        table = _DESKTOP if self.kind == "desktop" else _PHONE
        if gesture.do not in table:
            raise _unsupported(gesture.do.value)
        actions = [*table[gesture.do](self, gesture, screen)]
        if gesture.places:
            x, y = gesture.places[-1]
            self.pointer = int(x), int(y)
        return actions

    def make(self, do: str, args: Mapping[str, Json], **optional: Json) -> Action:
        """Return an action; arguments that are optional and empty are left out.

        Raises:
            ParseError: the machine has no such action, or it has no such argument.
        """
        tool = self.tools.get(do)
        given = {**args, **{name: value for name, value in optional.items() if value}}
        known = {} if tool is None else tool.parameters().get("properties", {})
        if tool is None or not given.keys() <= known.keys():
            extra = "" if tool is None else f" with {', '.join(given.keys() - known.keys())}"
            raise _unsupported(f"{do}{extra}")
        return Action(do, self.role, given)

    def at(self, gesture: Gesture) -> dict[str, int]:
        """Return the first place of a gesture, or that of the pointer, as arguments.

        Raises:
            ParseError: there is neither.
        """
        if gesture.places:
            x, y = gesture.places[0]
            return {"x": int(x), "y": int(y)}
        if self.pointer is None:
            raise ParseError(FaultKind.BAD_ARGUMENTS, NO_POINTER)
        return {"x": self.pointer[0], "y": self.pointer[1]}

    def path(self, gesture: Gesture) -> list[tuple[int, int]]:
        """Return the points of a drag, which begins at the pointer if it has only one.

        Raises:
            ParseError: that is unknown.
        """
        points = [(int(x), int(y)) for x, y in gesture.places]
        if len(points) > 1:
            return points
        if self.pointer is None:
            raise ParseError(FaultKind.BAD_ARGUMENTS, NO_POINTER)
        return [self.pointer, *points]


def _unsupported(what: str) -> ParseError:
    return ParseError(FaultKind.UNSUPPORTED, UNSUPPORTED.format(what=what))


def _held(gesture: Gesture) -> list[Json]:
    return list(gesture.keys)


def _click(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    name = _CLICKS.get((gesture.button, gesture.clicks))
    if name is None:
        raise _unsupported(f"{gesture.clicks} clicks of the {gesture.button} button")
    yield hands.make(name, hands.at(gesture), held=_held(gesture))


def _move(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("move", hands.at(gesture))


def _drag(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    points = hands.path(gesture)
    if len(points) > 2:  # noqa: PLR2004 - more than start and end
        path: list[Json] = [list(point) for point in points]
        yield hands.make("drag_path", {"points": path}, held=_held(gesture))
    else:
        yield hands.make("drag", _ends(points), held=_held(gesture))


def _ends(points: list[tuple[int, int]]) -> dict[str, int]:
    (x, y), (to_x, to_y) = points
    return {"x": x, "y": y, "to_x": to_x, "to_y": to_y}


def _press(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("mouse_down", hands.at(gesture))


def _release(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("mouse_up", hands.at(gesture))


def _scroll(hands: Hands, gesture: Gesture, screen: Screen) -> Iterator[Action]:
    at = _place_or_middle(hands, gesture, screen)
    right, down = gesture.notches
    yield hands.make("scroll", {**at, "notches": down}, sideways=right, held=_held(gesture))


def _place_or_middle(hands: Hands, gesture: Gesture, screen: Screen) -> dict[str, int]:
    if gesture.places or hands.pointer is not None:
        return hands.at(gesture)
    return {"x": screen.size.width // 2, "y": screen.size.height // 2}


def _keys(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("key", {"keys": _held(gesture)}, seconds=gesture.seconds)


def _keys_down(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("key_down", {"keys": _held(gesture)})


def _keys_up(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("key_up", {"keys": _held(gesture)})


def _type(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    if gesture.clears:
        yield hands.make("key", {"keys": ["ctrl", "a"]})
        yield hands.make("key", {"keys": ["BackSpace"]})
    yield hands.make("type_text", {"text": gesture.text + "\n" * gesture.submits})


def _zoom(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("zoom", _ends(hands.path(gesture)))


def _open(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("open_app", {"name": gesture.text})


def _tap(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    name = _TAPS.get((gesture.button, gesture.clicks))
    if name is None or gesture.keys:
        raise _unsupported("this click")
    yield hands.make(name, hands.at(gesture))


def _long_press(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    has_duration = "seconds" in hands.tools["long_tap"].parameters().get("properties", {})
    seconds = gesture.seconds if has_duration else 0.0
    yield hands.make("long_tap", hands.at(gesture), seconds=seconds)


def _swipe(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    points = hands.path(gesture)
    if len(points) > 2:  # noqa: PLR2004 - more than start and end
        path: list[Json] = [list(point) for point in points]
        yield hands.make("drag_path", {"points": path})
    else:
        yield hands.make("swipe", _ends(points))


def _scroll_phone(hands: Hands, gesture: Gesture, screen: Screen) -> Iterator[Action]:
    """Swipe against the direction of the scrolling, from the place where it happens."""
    at = _place_or_middle(hands, gesture, screen)
    ends: list[int] = []
    for name, side, turns in zip(("x", "y"), screen.size, gesture.notches, strict=True):
        start, margin = at[name], round(side * _MARGIN_RATIO)
        moved = start - round(turns * side * _SWIPE_PER_NOTCH)
        ends.append(max(margin, min(side - 1 - margin, moved)) if turns else start)
    yield hands.make("swipe", {**at, "to_x": ends[0], "to_y": ends[1]})


def _phone_keys(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    for key in gesture.keys if len(gesture.keys) == 1 else ():
        if len(key) == 1:
            yield hands.make("type_text", {"text": key})
            return
        if name := _PHONE_KEYS.get(key.lower()):
            yield hands.make("key", {"name": name})
            return
    raise _unsupported(f"the key {'+'.join(gesture.keys)}")


def _button(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    yield hands.make("key", {"name": gesture.text})


def _type_phone(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
    # What a field held stays: phones have no key that selects all of it everywhere.
    yield hands.make("type_text", {"text": gesture.text})
    if gesture.submits:
        yield hands.make("key", {"name": "ENTER"})


def _touch(name: str) -> Callable[[Hands, Gesture, Screen], Iterator[Action]]:
    def read(hands: Hands, gesture: Gesture, _screen: Screen) -> Iterator[Action]:
        yield hands.make(name, hands.at(gesture))

    return read


def _wait(_hands: Hands, gesture: Gesture) -> Iterator[Action]:
    left_s = gesture.seconds
    for _ in range(max(1, math.ceil(gesture.seconds / _MAX_WAIT_S))):
        yield Action("wait", None, {"seconds": max(_LOOK_S, min(_MAX_WAIT_S, left_s))})
        left_s -= _MAX_WAIT_S


def _look(_hands: Hands, _gesture: Gesture) -> Iterator[Action]:
    yield Action("wait", None, {"seconds": _LOOK_S})


def _answer(_hands: Hands, gesture: Gesture) -> Iterator[Action]:
    yield Action("submit", None, {"answer": gesture.text})
    yield Action("complete")


def _done(_hands: Hands, _gesture: Gesture) -> Iterator[Action]:
    yield Action("complete")


def _give_up(_hands: Hands, gesture: Gesture) -> Iterator[Action]:
    yield Action("declare_infeasible", None, {"reason": gesture.text or _NO_REASON})


def _ask(hands: Hands, gesture: Gesture) -> Iterator[Action]:
    if "ask_user" not in hands.session:
        raise _unsupported("asking the user")
    yield Action("ask_user", None, {"question": gesture.text or "What should I do?"})


_SESSION: dict[Do, Callable[[Hands, Gesture], Iterator[Action]]] = {
    Do.WAIT: _wait,
    Do.LOOK: _look,
    Do.ANSWER: _answer,
    Do.DONE: _done,
    Do.GIVE_UP: _give_up,
    Do.ASK: _ask,
}
_DESKTOP: dict[Do, Callable[[Hands, Gesture, Screen], Iterator[Action]]] = {
    Do.CLICK: _click,
    Do.MOVE: _move,
    Do.DRAG: _drag,
    Do.PRESS: _press,
    Do.RELEASE: _release,
    Do.SCROLL: _scroll,
    Do.KEYS: _keys,
    Do.KEYS_DOWN: _keys_down,
    Do.KEYS_UP: _keys_up,
    Do.TYPE: _type,
    Do.ZOOM: _zoom,
    Do.OPEN: _open,
}
_PHONE: dict[Do, Callable[[Hands, Gesture, Screen], Iterator[Action]]] = {
    Do.CLICK: _tap,
    Do.LONG_PRESS: _long_press,
    Do.DRAG: _swipe,
    Do.PRESS: _touch("touch_down"),
    Do.RELEASE: _touch("touch_up"),
    Do.SCROLL: _scroll_phone,
    Do.KEYS: _phone_keys,
    Do.TYPE: _type_phone,
    Do.ZOOM: _zoom,
    Do.OPEN: _open,
    Do.BUTTON: _button,
}
