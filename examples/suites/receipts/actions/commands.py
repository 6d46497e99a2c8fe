"""Actions of this suite; they run on the host and are available to agents in all its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mesocosm import action

if TYPE_CHECKING:
    from mesocosm import Machine


@action(on="desktop")
def run_command(machine: Machine, command: str) -> None:
    """Type a command into the terminal in front and press Return.

    Args:
        machine: the desktop.
        command: a single line.
    """
    machine.input.text(f"{command}\n")
