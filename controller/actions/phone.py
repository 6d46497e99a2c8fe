"""Actions on a phone. Coordinates are px of its screenshot, origin top left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from controller.actions.phone_shell import launch
from evaluators.coordinates import ScreenX, ScreenY  # noqa: TC001 - read by pydantic
from evaluators.decorators import action

if TYPE_CHECKING:
    from provisioning.protocols import Machine

Key = Literal["HOME", "BACK", "ENTER", "DEL", "TAB", "APP_SWITCH"]

_SWIPE_S = 0.3
_LONG_TAP_S = 0.8
_DRAWER_FROM, _DRAWER_TO = 0.9, 0.3


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
def long_tap(machine: Machine, x: ScreenX, y: ScreenY) -> None:
    """Tap the screen and hold.

    Args:
        machine: the phone.
        x: from the left edge, px.
        y: from the top edge, px.
    """
    machine.input.drag((x, y), (x, y), duration_s=_LONG_TAP_S)


@action(on="phone")
def swipe(machine: Machine, x: ScreenX, y: ScreenY, to_x: ScreenX, to_y: ScreenY) -> None:
    """Put a finger down at one place and lift it at another; swiping up shows what is below.

    Args:
        machine: the phone.
        x: where it goes down, from the left edge, px.
        y: where it goes down, from the top edge, px.
        to_x: where it is lifted, from the left edge, px.
        to_y: where it is lifted, from the top edge, px.
    """
    machine.input.drag((x, y), (to_x, to_y), duration_s=_SWIPE_S)


@action(on="phone")
def key(machine: Machine, name: Key) -> None:
    """Press a key of the phone.

    Args:
        machine: the phone.
        name: HOME shows the launcher, BACK goes back, APP_SWITCH shows recent applications.
    """
    machine.input.key(name)


@action(on="phone")
def type_text(machine: Machine, text: Annotated[str, Field(max_length=10_000)]) -> None:
    """Type text into the field that has the focus.

    Args:
        machine: the phone.
        text: any Unicode text.
    """
    machine.input.text(text)


@action(on="phone")
def open_app(machine: Machine, name: str) -> None:
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
    start = (width // 2, int(height * _DRAWER_FROM))
    machine.input.drag(start, (width // 2, int(height * _DRAWER_TO)), duration_s=_SWIPE_S)
