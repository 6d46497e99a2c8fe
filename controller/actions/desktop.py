"""Actions on a desktop. Coordinates are px of its screenshot, origin top left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from controller.actions.applications import start_and_wait
from controller.actions.arguments import KEYS
from evaluators.coordinates import ScreenX, ScreenY  # noqa: TC001 - read by pydantic
from evaluators.decorators import action
from foundation.errors import GuestCallError, InvalidActionError, nearest
from provisioning.probe.display.keys import keysym_of_name
from provisioning.probe.errors import ProbeError
from provisioning.protocols import Button

if TYPE_CHECKING:
    from provisioning.protocols import Machine

_KEYS = (
    "ctrl", "alt", "shift", "super", "Return", "Escape", "BackSpace", "Delete", "Insert", "Tab",
    "space", "Up", "Down", "Left", "Right", "Home", "End", "Prior", "Next", "Menu", "Print",
    "enter", "pageup", "pagedown", "backspace", "escape",
)  # fmt: skip
"""Key names to suggest for misspelled ones; letters, digits, F1-F12 and all X names are also valid."""
Notches = Annotated[int, Field(ge=-20, le=20)]


def _require_key(name: str) -> str:
    try:
        keysym_of_name(name)
    except ProbeError as exc:
        near = nearest(name, _KEYS)
        hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
        message = "There is no key called {name}.{hint} Names are those of X: Return, ctrl, F2, a."
        raise PydanticCustomError("key", message, {"name": repr(name), "hint": hint}) from exc
    return name


KeyName = Annotated[str, Field(min_length=1), AfterValidator(_require_key)]
"""A key by its X name, by an alias such as ``enter``, or a character."""


@action(on="desktop")
def click(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Click the left mouse button.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y)


@action(on="desktop")
def double_click(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Click the left mouse button twice.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y, count=2)


@action(on="desktop")
def right_click(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Click the right mouse button, which usually opens a menu.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y, button=Button.RIGHT)


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
def drag(machine: Machine, x: ScreenX, y: ScreenY, to_x: ScreenX, to_y: ScreenY) -> None:
    """Press the left mouse button at one place and release it at another.

    Args:
        machine: the desktop.
        x: where to press, from the left edge, px.
        y: where to press, from the top edge, px.
        to_x: where to release, from the left edge, px.
        to_y: where to release, from the top edge, px.
    """
    machine.input.drag((x, y), (to_x, to_y))


@action(on="desktop")
def scroll(machine: Machine, x: ScreenX, y: ScreenY, notches: Notches) -> None:
    """Turn the mouse wheel at a place.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
        notches: positive shows what is further down, negative what is further up.
    """
    machine.input.scroll(x, y, dy=notches)


@action(on="desktop")
def key(
    machine: Machine, keys: Annotated[list[KeyName], Field(min_length=1, max_length=5), KEYS]
) -> None:
    """Press keys together and release them.

    Args:
        machine: the desktop.
        keys: names as X has them, such as ["ctrl", "s"], ["Return"], ["alt", "F4"].
    """
    machine.input.key(*keys)


@action(on="desktop")
def type_text(machine: Machine, text: Annotated[str, Field(max_length=10_000)]) -> None:
    r"""Type text into what has the focus; "\n" presses Return.

    Args:
        machine: the desktop.
        text: any Unicode text.
    """
    machine.input.text(text)


@action(on="desktop")
def open_app(machine: Machine, name: str) -> None:
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
