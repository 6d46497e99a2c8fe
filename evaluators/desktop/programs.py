"""Running programs of a desktop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest


@evaluator(on="desktop")
def process_running(guest: Guest, program: str) -> bool:
    """Return whether the agent's user runs a program.

    The kernel's link to the program's file is compared, not the name that a process gives itself.
    For a script, that is the interpreter.

    Example:
        ``{on: desktop, check: process_running, with: {program: /usr/bin/gedit}}``

    Args:
        guest: the desktop.
        program: absolute path of the program's file, such as ``/usr/bin/gedit``.
    """
    own = Path(guest.home).stat().st_uid
    return any(_file_of(each.pid) == program for each in guest.processes() if each.uid == own)


@evaluator(on="desktop")
def process_absent(guest: Guest, program: str) -> bool:
    """Return whether the agent's user runs no process of a program.

    A program that does not exist makes the result inconclusive: its path may be misspelt.

    Example:
        ``{on: desktop, check: process_absent, with: {program: /usr/bin/gedit}}``

    Args:
        guest: the desktop.
        program: absolute path of the program's file, such as ``/usr/bin/gedit``.

    Raises:
        ValueError: there is no such program.
    """
    if not Path(program).is_file():
        raise ValueError(f"there is no program {program}")
    return not process_running(guest, program)


def _file_of(pid: int) -> str:
    """Return the path of a process's program; empty when it is gone or cannot be read."""
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return ""
