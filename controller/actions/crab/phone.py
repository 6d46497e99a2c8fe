"""CRAB's actions on a phone; agents give the number of a mark, ``elem``, in place of x and y.

Source: arXiv 2407.01511, table 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from controller.actions import phone
from evaluators.coordinates import ScreenX, ScreenY  # noqa: TC001 - read by pydantic
from evaluators.decorators import action

if TYPE_CHECKING:
    from provisioning.protocols import Machine


@action(on="phone")
def tap(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Tap on an element.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.click(x, y)


@action(on="phone")
def long_tap(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Press an element and hold it.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    phone.long_tap(machine, x, y)


@action(on="phone")
def swipe(
    machine: Machine,
    x: ScreenX,
    y: ScreenY,
    dire: Literal["up", "down", "left", "right"],
    dist: Literal["short", "medium", "long"],
) -> None:
    """Swipe from an element in a direction; swiping up shows what is below.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
        dire: where the finger moves.
        dist: 10, 20 or 30 % of the screen's width, twice that up and down.
    """
    phone.swipe_direction(machine, x, y, dire, dist)


@action(on="phone")
def write_text(machine: Machine, text: Annotated[str, Field(max_length=10_000)]) -> None:
    """Type text into the field that has the focus.

    Args:
        machine: the phone.
        text: the text.
    """
    machine.input.text(text)


@action(on="phone")
def press(machine: Machine, key: Literal["home", "back"]) -> None:
    """Press a key of the phone.

    Args:
        machine: the phone.
        key: "home" shows the launcher, "back" goes back.
    """
    machine.input.key(key.upper())


@action(on="phone")
def show_all_drawer(machine: Machine) -> None:
    """Show the list of all installed applications.

    Args:
        machine: the phone.
    """
    phone.open_app_drawer(machine)
