"""Actions on a desktop. Coordinates are px of its screenshot, origin top left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from controller.actions.applications import start_and_wait
from controller.actions.arguments import KEYS
from controller.actions.sight import magnify
from controller.observation.results import ActionResult
from evaluators.coordinates import ScreenPath, ScreenX, ScreenY  # noqa: TC001 - read by pydantic
from evaluators.decorators import action
from foundation.errors import GuestCallError, InvalidActionError, nearest
from provisioning.probe.display.keys import keysym_of_name
from provisioning.probe.errors import ProbeError
from provisioning.protocols import Button

if TYPE_CHECKING:
    from provisioning.protocols import Machine

MAX_HOLD_S = 10.0
"""Longest time that one action holds keys or a button, seconds."""
_KEYS = (
    "ctrl", "alt", "shift", "super", "Return", "Escape", "BackSpace", "Delete", "Insert", "Tab",
    "space", "Up", "Down", "Left", "Right", "Home", "End", "Prior", "Next", "Menu", "Print",
    "enter", "pageup", "pagedown", "backspace", "escape",
)  # fmt: skip
"""Key names to suggest for misspelled ones; letters, digits, F1-F12 and all X names are also valid."""
Notches = Annotated[int, Field(ge=-20, le=20)]
HoldSeconds = Annotated[float, Field(ge=0, le=MAX_HOLD_S)]
DragSeconds = Annotated[float, Field(ge=0.05, le=MAX_HOLD_S)]


def _require_key(name: str) -> str:
    try:
        keysym_of_name(name)
    except ProbeError as exc:
        near = nearest(name, _KEYS)
        hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
        message = "There is no key called {name}.{hint} Names are those of X: Return, ctrl, F2, a."
        raise PydanticCustomError("key", message, {"name": repr(name), "hint": hint}) from exc
    return name


KeyName = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_require_key)]
"""A key by its X name, by an alias such as ``enter``, or a character."""


KeyNames = Annotated[list[KeyName], Field(min_length=1, max_length=5), KEYS]
Held = Annotated[Sequence[KeyName], Field(max_length=4), KEYS]
AppName = Annotated[str, Field(min_length=1, max_length=200)]
ButtonName = Literal["left", "middle", "right"]


@action(on="desktop")
def click(machine: Machine, x: ScreenX, y: ScreenY, held: Held = ()) -> None:
    """Click the left mouse button.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        held: keys held down meanwhile, such as ["ctrl"].
    """
    machine.input.click(x, y, held=held)


@action(on="desktop")
def double_click(machine: Machine, x: ScreenX, y: ScreenY, held: Held = ()) -> None:
    """Click the left mouse button twice.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        held: keys held down meanwhile, such as ["ctrl"].
    """
    machine.input.click(x, y, count=2, held=held)


@action(on="desktop")
def triple_click(machine: Machine, x: ScreenX, y: ScreenY, held: Held = ()) -> None:
    """Click the left mouse button three times, which usually selects a line.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        held: keys held down meanwhile, such as ["ctrl"].
    """
    machine.input.click(x, y, count=3, held=held)


@action(on="desktop")
def right_click(machine: Machine, x: ScreenX, y: ScreenY, held: Held = ()) -> None:
    """Click the right mouse button, which usually opens a menu.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        held: keys held down meanwhile, such as ["ctrl"].
    """
    machine.input.click(x, y, button=Button.RIGHT, held=held)


@action(on="desktop")
def middle_click(machine: Machine, x: ScreenX, y: ScreenY, held: Held = ()) -> None:
    """Click the middle mouse button, which opens links in new tabs and pastes the selection.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        held: keys held down meanwhile, such as ["ctrl"].
    """
    machine.input.click(x, y, button=Button.MIDDLE, held=held)


@action(on="desktop")
def move(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Move the mouse pointer without pressing anything.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.move(x, y)


@action(on="desktop")
def mouse_down(machine: Machine, x: ScreenX, y: ScreenY, button: ButtonName = "left") -> None:
    """Press a mouse button at a place and keep it pressed until mouse_up.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        button: the button.
    """
    machine.input.button_down(x, y, button=Button(button))


@action(on="desktop")
def mouse_up(machine: Machine, x: ScreenX, y: ScreenY, button: ButtonName = "left") -> None:
    """Move to a place and release a mouse button there.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        button: the button.
    """
    machine.input.button_up(x, y, button=Button(button))


@action(on="desktop")
def drag(
    machine: Machine,
    x: ScreenX,
    y: ScreenY,
    to_x: ScreenX,
    to_y: ScreenY,
    *,
    button: ButtonName = "left",
    held: Held = (),
) -> None:
    """Press a mouse button at one place and release it at another.

    Args:
        machine: the desktop.
        x: where to press, from the left edge, px.
        y: where to press, from the top edge, px.
        to_x: where to release, from the left edge, px.
        to_y: where to release, from the top edge, px.
        button: the button.
        held: keys held down meanwhile, such as ["ctrl"].
    """
    machine.input.drag([(x, y), (to_x, to_y)], button=Button(button), held=held)


@action(on="desktop")
def drag_path(
    machine: Machine,
    points: ScreenPath,
    *,
    button: ButtonName = "left",
    held: Held = (),
    seconds: DragSeconds = 0.5,
) -> None:
    """Press a mouse button at the first point, move along the others and release at the last.

    Args:
        machine: the desktop.
        points: list of [x, y], px, at least two.
        button: the button.
        held: keys held down meanwhile, such as ["ctrl"].
        seconds: time from press to release.
    """
    path = [(x, y) for x, y in points]
    machine.input.drag(path, button=Button(button), held=held, duration_s=seconds)


@action(on="desktop")
def scroll(
    machine: Machine,
    x: ScreenX,
    y: ScreenY,
    *,
    notches: Notches = 0,
    sideways: Notches = 0,
    held: Held = (),
) -> None:
    """Turn the mouse wheel at a place.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        notches: positive shows what is further down, negative what is further up.
        sideways: positive shows what is further right, negative what is further left.
        held: keys held down meanwhile, such as ["ctrl"].
    """
    if not notches and not sideways:
        raise InvalidActionError("The wheel is not turned: notches and sideways are 0.")
    machine.input.scroll(x, y, dx=sideways, dy=notches, held=held)


@action(on="desktop")
def key(
    machine: Machine,
    keys: KeyNames,
    seconds: HoldSeconds = 0,
    times: Annotated[int, Field(ge=1, le=100)] = 1,
) -> None:
    """Press keys together and release them.

    Args:
        machine: the desktop.
        keys: names as X has them, such as ["ctrl", "s"], ["Return"], ["alt", "F4"].
        seconds: how long they are held down; 0 for a stroke.
        times: how often they are pressed, one time after the other.
    """
    if seconds * times > MAX_HOLD_S:
        raise InvalidActionError(
            f"The keys would be held for {seconds * times:g} s in total.",
            resolution=f"seconds * times may be {MAX_HOLD_S} at most.",
        )
    for _ in range(times):
        machine.input.key(*keys, hold_s=seconds)


@action(on="desktop")
def key_down(machine: Machine, keys: KeyNames) -> None:
    """Press keys and keep them pressed until key_up.

    Args:
        machine: the desktop.
        keys: names as X has them, such as ["shift"].
    """
    machine.input.key_down(*keys)


@action(on="desktop")
def key_up(machine: Machine, keys: KeyNames) -> None:
    """Release keys that key_down pressed.

    Args:
        machine: the desktop.
        keys: names as X has them, such as ["shift"].
    """
    machine.input.key_up(*keys)


@action(on="desktop")
def type_text(machine: Machine, text: Annotated[str, Field(max_length=10_000)]) -> None:
    r"""Type text into what has the focus; "\n" presses Return.

    Args:
        machine: the desktop.
        text: any Unicode text.
    """
    machine.input.text(text)


@action(on="desktop")
def open_app(machine: Machine, name: AppName) -> None:
    """Start an application by the name it has in the menu, or bring it to the front.

    Args:
        machine: the desktop.
        name: for example "Terminal", "Files", "Text Editor".
    """
    try:
        start_and_wait(machine, name)
    except GuestCallError as exc:
        if exc.kind == "not_found":
            raise InvalidActionError(
                f"The desktop has no application called {name!r}.", details=exc.details
            ) from exc
        raise


@action(on="desktop")
def search_app(machine: Machine, words: AppName) -> ActionResult:
    """Search for applications by words of their names; shows results and starts nothing.

    Args:
        machine: the desktop.
        words: for example "text", "office calc".
    """
    names = machine.link.call("search_apps", {"words": words})
    found = [str(name) for name in names] if isinstance(names, list) else []
    return ActionResult("\n".join(found) or "There is no such application.")


@action(on="desktop")
def zoom(machine: Machine, x: ScreenX, y: ScreenY, to_x: ScreenX, to_y: ScreenY) -> ActionResult:
    """Look at a region of the screen in full resolution, enlarged if it is small.

    Args:
        machine: the desktop.
        x: one corner, from the left edge, px.
        y: one corner, from the top edge, px.
        to_x: the opposite corner, from the left edge, px.
        to_y: the opposite corner, from the top edge, px.
    """
    return magnify(machine, (x, y), (to_x, to_y))
