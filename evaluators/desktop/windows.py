"""Evaluators of a desktop's windows, as known to its X server.

A window's class counts only for a program that may use it, and its title is the one that the
program reports over accessibility, regardless of what another program wrote there
(docs/red-team.md). A window of which nothing can be seen, because of its shape, its transparency or
its place beyond the screen, is neither open nor closed. Titles are compared without invisible
characters. A title describes what the program shows: a
page's title in a browser, a file's name in an editor. Also check the file or the address. The title
of a terminal, which depends on printed text, or of a program that is not on the accessibility bus,
cannot be determined: its node is then unmet on a working desktop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.decorators import evaluator
from evaluators.desktop.errors import ObstructedError
from evaluators.desktop.visible import alike, look_of

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_GEOMETRY = 4


@evaluator(on="desktop")
def window_in_front(guest: Guest, app: str, title_contains: str = "") -> bool:
    """Return whether the window in front belongs to the given application and has the given title, if any.

    The window in front is the one with the keyboard focus, unless a window of another program
    covers it completely. A title describes what the program shows: also check what was done.

    Example:
        ``{on: desktop, check: window_in_front, with: {app: Gedit, title_contains: notes.txt}}``

    Args:
        guest: the desktop.
        app: the window's X11 class or instance (``WM_CLASS``), complete; case-insensitive.
        title_contains: part of its title, case-sensitive; empty matches any.
    """
    return any(
        window["active"] and _has(guest, window, title_contains) for window in _visible(guest, app)
    )


@evaluator(on="desktop")
def window_open(guest: Guest, app: str, title_contains: str = "") -> bool:
    """Return whether the given application has a window with the given title, if any.

    Example:
        ``{on: desktop, check: window_open, with: {app: Gedit, title_contains: notes.txt}}``

    Args:
        guest: the desktop.
        app: the window's X11 class or instance (``WM_CLASS``), complete; case-insensitive.
        title_contains: part of its title, case-sensitive; empty matches any.
    """
    return any(_has(guest, window, title_contains) for window in _visible(guest, app))


@evaluator(on="desktop")
def window_closed(guest: Guest, app: str, title_contains: str = "") -> bool:
    """Return whether the given application has no window, or none with the given title.

    The check is also met before the window was opened: put it after a node for the open window. All
    windows of a program that may use the class count, regardless of their actual class; but
    LibreOffice consists of several applications, each with its own class. A minimised window is
    open. A window that another program unmapped, or put into its own window, counts as closed: also
    check the process if that matters. Proves
    the state, not who caused it.

    Example:
        ``{on: desktop, check: window_closed, with: {app: Gedit}}``

    Args:
        guest: the desktop.
        app: the window's X11 class or instance (``WM_CLASS``), complete; case-insensitive.
        title_contains: windows without this in their title are ignored; empty matches any.
    """
    open_ones = _of(guest, app) + _disputed(guest, app)
    return not any(_has(guest, window, title_contains) for window in open_ones)


@evaluator(on="desktop")
def window_title_equals(guest: Guest, app: str, title: str) -> bool:
    """Return whether the given application has a window with exactly the given title.

    Windows whose titles look alike but differ in invisible characters are unmet.

    Example:
        ``{on: desktop, check: window_title_equals, with: {app: Gnome-calculator, title: Calculator}}``

    Args:
        guest: the desktop.
        app: the window's X11 class or instance (``WM_CLASS``), complete; case-insensitive.
        title: the complete title.
    """
    titles, failure = set(), None
    for window in _visible(guest, app):
        try:
            titles.add(guest.title_of(window))
        except Exception as exc:  # noqa: BLE001 - GuestError, which exists only in guests
            failure = exc
    matching = alike(titles, title)
    if failure is not None and not matching:
        raise failure
    return len(matching) == 1


@evaluator(on="desktop")
def window_count(guest: Guest, app: str, count: int) -> bool:
    """Return whether the given application has exactly the given number of windows.

    The check is unmet while a program that may use the class has a window with another class, or a
    window of which nothing can be seen. A window that the program itself hides does not count,
    unless another program shows it: also check what was done.

    Example:
        ``{on: desktop, check: window_count, with: {app: Gnome-terminal, count: 2}}``

    Args:
        guest: the desktop.
        app: the windows' X11 class or instance (``WM_CLASS``), complete; case-insensitive.
        count: number of windows, including minimised ones.
    """
    if _disputed(guest, app):
        raise ObstructedError(f"a program that may be {app} has a window with another class")
    windows = _of(guest, app)
    if not all(window["visible"] for window in windows):
        raise ObstructedError(f"nothing can be seen of a window of {app}")
    return len(windows) == count


@evaluator(on="desktop")
def window_at(guest: Guest, app: str, geometry: list[int], tolerance_px: int = 40) -> bool:
    """Return whether the given application has a window with the given position and size.

    The position is that of the window's content, without the window manager's frame.

    Example:
        ``{on: desktop, check: window_at, with: {app: Gedit, geometry: [0, 0, 640, 800]}}``

    Args:
        guest: the desktop.
        app: the window's X11 class or instance (``WM_CLASS``), complete; case-insensitive.
        geometry: left, top, width and height, px.
        tolerance_px: maximum difference of each of the four numbers.

    Raises:
        ValueError: `geometry` is not four numbers.
    """
    if len(geometry) != _GEOMETRY:
        raise ValueError("geometry must be left, top, width and height")
    return any(
        all(abs(window["geometry"][n] - geometry[n]) <= tolerance_px for n in range(_GEOMETRY))
        for window in _visible(guest, app)
    )


def _has(guest: Guest, window: dict[str, Any], part: str) -> bool:
    """Return whether a window's title contains a text; for an empty text, the title is not read."""
    return not part or look_of(part) in look_of(guest.title_of(window))


def _of(guest: Guest, app: str) -> list[dict[str, Any]]:
    wanted = app.lower()
    return [
        window
        for window in guest.windows()
        if wanted and wanted in {part.lower() for part in window["wm_class"]}
    ]


def _visible(guest: Guest, app: str) -> list[dict[str, Any]]:
    """Return the application's windows of which something can be seen, unless they are minimised."""
    return [window for window in _of(guest, app) if window["visible"]]


def _disputed(guest: Guest, app: str) -> list[dict[str, Any]]:
    """Return the windows with another class of programs that may be the application."""
    of = _of(guest, app)
    return [
        window
        for window in guest.windows()
        if window not in of and guest.may_belong_to(window, app)
    ]
