"""CRAB's actions on a desktop; agents give the number of a mark, ``elem``, in place of x and y.

Source: arXiv 2407.01511, table 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from controller.actions import desktop
from controller.actions.desktop import AppName, KeyName, KeyNames  # noqa: TC001 - read by pydantic
from evaluators.coordinates import ScreenX, ScreenY  # noqa: TC001 - read by pydantic
from evaluators.decorators import action
from provisioning.protocols import Button

if TYPE_CHECKING:
    from controller.observation.results import ActionResult
    from provisioning.protocols import Machine

_NOTCHES = 5


@action(on="desktop")
def click(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Click on an element.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y)


@action(on="desktop")
def right_click(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Click on an element with the right mouse button.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y, button=Button.RIGHT)


@action(on="desktop")
def double_click(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Click on an element twice.

    Args:
        machine: the desktop.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y, count=2)


@action(on="desktop")
def write_text(machine: Machine, text: Annotated[str, Field(max_length=10_000)]) -> None:
    """Type text into what has the focus.

    Args:
        machine: the desktop.
        text: the text.
    """
    machine.input.text(text)


@action(on="desktop")
def press(machine: Machine, key: KeyName) -> None:
    """Press a key of the keyboard.

    Args:
        machine: the desktop.
        key: its name, such as "enter", "F2", "a".
    """
    machine.input.key(key)


@action(on="desktop")
def hotkey(machine: Machine, keys: KeyNames) -> None:
    """Press keys at the same time.

    Args:
        machine: the desktop.
        keys: their names, such as ["ctrl", "s"].
    """
    machine.input.key(*keys)


@action(on="desktop")
def scroll(machine: Machine, direction: Literal["up", "down"]) -> None:
    """Scroll what is in the middle of the screen.

    Args:
        machine: the desktop.
        direction: "down" shows what is further down.
    """
    width, height = machine.screen.size()
    notches = _NOTCHES if direction == "down" else -_NOTCHES
    machine.input.scroll(width // 2, height // 2, dy=notches)


@action(on="desktop")
def search_app(machine: Machine, name: AppName) -> ActionResult:
    """Search for an application in the system; shows the results and starts nothing.

    Args:
        machine: the desktop.
        name: the application's name, or words of it.
    """
    return desktop.search_app(machine, name)
