"""Actions on a phone. Coordinates are px of its screenshot, origin top left."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from controller.actions.phone_shell import launch
from controller.actions.sight import magnify
from evaluators.coordinates import ScreenPath, ScreenX, ScreenY  # noqa: TC001 - read by pydantic
from evaluators.decorators import action
from foundation.errors import InvalidActionError, nearest
from images.phone.device.commands.keycodes import KEYS_BY_NUMBER
from provisioning.protocols import MultiTouch

if TYPE_CHECKING:
    from controller.observation.results import ActionResult
    from provisioning.protocols import Machine

MAX_TOUCH_S = 10.0
"""Longest time that one action touches the screen, seconds."""
_SWIPE_S = 0.3
_LONG_TAP_S = 0.8
_GESTURE_S = 0.4
_DRAWER_FROM, _DRAWER_TO = 0.9, 0.3
_LENGTHS = {"short": 0.1, "medium": 0.2, "long": 0.3}
_WAYS = {"up": (0, -2), "down": (0, 2), "left": (-1, 0), "right": (1, 0)}
"""Directions on the screen; a screen is about twice as high as wide."""
_APART_PX = 40
_REACH = 0.9

AppName = Annotated[str, Field(min_length=1, max_length=200)]
KeySeconds = Annotated[float, Field(ge=0, le=MAX_TOUCH_S)]
TouchSeconds = Annotated[float, Field(ge=0.05, le=MAX_TOUCH_S)]


def _require_key(name: str) -> str:
    short = name.upper().removeprefix("KEYCODE_")
    if short not in _KEYS:
        near = nearest(short, sorted(_KEYS))
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        message = "There is no key called {name}.{hint} Names are Android's: HOME, BACK, VOLUME_UP."
        raise PydanticCustomError("key", message, {"name": repr(name), "hint": hint})
    return short


_KEYS = frozenset(KEYS_BY_NUMBER.values())
_EXAMPLES = [
    "HOME",
    "BACK",
    "ENTER",
    "DEL",
    "TAB",
    "APP_SWITCH",
    "VOLUME_UP",
    "DPAD_DOWN",
    "SEARCH",
]
KeyName = Annotated[
    str, Field(min_length=1, max_length=60, examples=_EXAMPLES), AfterValidator(_require_key)
]
"""A key by Android's name, with or without ``KEYCODE_``."""


@action(on="phone")
def tap(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Tap the screen.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y)


@action(on="phone")
def double_tap(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Tap the screen twice, which usually zooms in.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y, count=2)


@action(on="phone")
def long_tap(machine: Machine, x: ScreenX, y: ScreenY, seconds: TouchSeconds = _LONG_TAP_S) -> None:
    """Tap the screen and hold.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
        seconds: how long the finger stays.
    """
    machine.input.drag([(x, y), (x, y)], duration_s=seconds)


@action(on="phone")
def touch_down(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Put a finger down and leave it there until touch_up.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.button_down(x, y)


@action(on="phone")
def touch_up(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Move the finger to a place and lift it there.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.button_up(x, y)


@action(on="phone")
def swipe(
    machine: Machine,
    x: ScreenX,
    y: ScreenY,
    to_x: ScreenX,
    to_y: ScreenY,
    *,
    seconds: TouchSeconds = _SWIPE_S,
) -> None:
    """Put a finger down at one place and lift it at another; swiping up shows what is below.

    Args:
        machine: the phone.
        x: where it goes down, from the left edge, px.
        y: where it goes down, from the top edge, px.
        to_x: where it is lifted, from the left edge, px.
        to_y: where it is lifted, from the top edge, px.
        seconds: how long it takes; slow swipes drag, fast ones fling.
    """
    machine.input.drag([(x, y), (to_x, to_y)], duration_s=seconds)


@action(on="phone")
def swipe_direction(
    machine: Machine,
    x: ScreenX,
    y: ScreenY,
    direction: Literal["up", "down", "left", "right"],
    distance: Literal["short", "medium", "long"] = "medium",
) -> None:
    """Put a finger down and swipe in a direction; swiping up shows what is below.

    Args:
        machine: the phone.
        x: where it goes down, from the left edge, px.
        y: where it goes down, from the top edge, px.
        direction: where the finger moves.
        distance: 10, 20 or 30 % of the screen's width, twice that up and down.
    """
    width, height = machine.screen.size()
    length = _LENGTHS[distance] * width
    dx, dy = _WAYS[direction]
    end = _on_screen(x + dx * length, y + dy * length, (width, height))
    machine.input.drag([(x, y), end], duration_s=_SWIPE_S)


@action(on="phone")
def drag_path(machine: Machine, points: ScreenPath, seconds: TouchSeconds = 0.5) -> None:
    """Put a finger down at the first point, move it along the others and lift it at the last.

    Args:
        machine: the phone.
        points: list of [x, y], px, at least two.
        seconds: time from down to up.
    """
    machine.input.drag([(x, y) for x, y in points], duration_s=seconds)


@action(on="phone")
def pinch(
    machine: Machine, x: ScreenX, y: ScreenY, scale: Annotated[float, Field(ge=0.1, le=10)]
) -> None:
    """Move two fingers apart or together around a place, which zooms what is there.

    Args:
        machine: the phone.
        x: between the fingers, from the left edge, px.
        y: between the fingers, from the top edge, px.
        scale: how much farther apart they are at the end: 2 enlarges, 0.5 shrinks.
    """
    if scale == 1:
        raise InvalidActionError("A pinch with scale 1 moves nothing.")
    width, height = machine.screen.size()
    room = _REACH * min(x, width - 1 - x)
    if room < _APART_PX:
        raise InvalidActionError(
            f"There is no room for two fingers around ({x}, {y}).",
            details=f"x must be from {math.ceil(_APART_PX / _REACH)} to "
            f"{math.floor(width - 1 - _APART_PX / _REACH)}.",
        )
    near = max(room / max(scale, 1 / scale), min(_APART_PX / 2, room / 2))
    start, end = (near, min(room, near * scale)) if scale > 1 else (room, max(room * scale, near))
    paths = [
        [_on_screen(x + side * reach, y, (width, height)) for reach in (start, end)]
        for side in (-1, 1)
    ]
    _fingers(machine).gesture(paths, duration_s=_GESTURE_S)


@action(on="phone")
def two_finger_scroll(
    machine: Machine, x: ScreenX, y: ScreenY, to_x: ScreenX, to_y: ScreenY
) -> None:
    """Move two fingers side by side from one place to another.

    Args:
        machine: the phone.
        x: between the fingers at first, from the left edge, px.
        y: between the fingers at first, from the top edge, px.
        to_x: between the fingers at last, from the left edge, px.
        to_y: between the fingers at last, from the top edge, px.
    """
    size = machine.screen.size()
    paths = [
        [_on_screen(place[0] + side, place[1], size) for place in ((x, y), (to_x, to_y))]
        for side in (-_APART_PX, _APART_PX)
    ]
    _fingers(machine).gesture(paths, duration_s=_GESTURE_S)


@action(on="phone")
def key(machine: Machine, name: KeyName, seconds: KeySeconds = 0) -> None:
    """Press a key of the phone.

    Args:
        machine: the phone.
        name: Android's name: HOME shows the launcher, BACK goes back, APP_SWITCH shows recent
            applications; also ENTER, DEL, TAB, DPAD_DOWN, VOLUME_UP, POWER, CAMERA, COPY, PASTE, ...
        seconds: above 0, a long press.
    """
    machine.input.key(name, hold_s=seconds)


@action(on="phone")
def type_text(machine: Machine, text: Annotated[str, Field(max_length=10_000)]) -> None:
    """Type text into the field that has the focus.

    Args:
        machine: the phone.
        text: any Unicode text.
    """
    machine.input.text(text)


@action(on="phone")
def open_app(machine: Machine, name: AppName) -> None:
    """Bring an application to the front.

    Args:
        machine: the phone.
        name: its label, such as "Tasks", "Contacts", "Settings", or its package.
    """
    launch(machine, name)


@action(on="phone")
def open_app_drawer(machine: Machine) -> None:
    """Go to the launcher and swipe up the list of all applications.

    Args:
        machine: the phone.
    """
    machine.input.key("HOME")
    width, height = machine.screen.size()
    path = [(width // 2, int(height * share)) for share in (_DRAWER_FROM, _DRAWER_TO)]
    machine.input.drag(path, duration_s=_SWIPE_S)


@action(on="phone")
def zoom(machine: Machine, x: ScreenX, y: ScreenY, to_x: ScreenX, to_y: ScreenY) -> ActionResult:
    """Look at a region of the screen in full resolution, enlarged if it is small.

    Args:
        machine: the phone.
        x: one corner, from the left edge, px.
        y: one corner, from the top edge, px.
        to_x: the opposite corner, from the left edge, px.
        to_y: the opposite corner, from the top edge, px.
    """
    return magnify(machine, (x, y), (to_x, to_y))


def _fingers(machine: Machine) -> MultiTouch:
    fingers = machine.input
    if not isinstance(fingers, MultiTouch):
        raise InvalidActionError("This phone does not let several fingers be simulated.")
    return fingers


def _on_screen(x: float, y: float, size_px: tuple[int, int]) -> tuple[int, int]:
    """Return the nearest point on the screen."""
    width, height = size_px
    return max(0, min(width - 1, round(x))), max(0, min(height - 1, round(y)))
