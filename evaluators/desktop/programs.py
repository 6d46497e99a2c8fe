"""What runs on a desktop and what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest


@evaluator(on="desktop")
def process_running(guest: Guest, program: str) -> bool:
    """Tell whether the agent's user runs a program.

    The kernel's own link to the program's file is looked at, not the name that a process gives
    itself. Of a script that is the interpreter.

    Args:
        guest: the desktop.
        program: absolute path of the program's file, such as ``/usr/bin/gedit``.
    """
    own = Path(guest.home).stat().st_uid
    return any(_file_of(each.pid) == program for each in guest.processes() if each.uid == own)


@evaluator(on="desktop")
def window_in_front(guest: Guest, app: str, title_contains: str = "") -> bool:
    """Tell whether the window in front belongs to an application and has a title.

    Args:
        guest: the desktop.
        app: the window's X11 class or instance (``WM_CLASS``), whole; letter case does not count.
        title_contains: what its title must hold, letter case counting; any title when empty.
    """
    return any(
        window["active"] and _is_of(window, app) and title_contains in window["title"]
        for window in guest.windows()
    )


@evaluator(on="desktop")
def window_open(guest: Guest, app: str, title_contains: str = "") -> bool:
    """Tell whether an application has a window, in front or not, with a title.

    Args:
        guest: the desktop.
        app: the window's X11 class or instance (``WM_CLASS``), whole; letter case does not count.
        title_contains: what its title must hold, letter case counting; any title when empty.
    """
    return any(
        _is_of(window, app) and title_contains in window["title"] for window in guest.windows()
    )


def _is_of(window: dict[str, Any], app: str) -> bool:
    return app.lower() in {part.lower() for part in window["wm_class"]}


def _file_of(pid: int) -> str:
    """Give the path of a process' program; empty when it is gone or not ours to see."""
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return ""
