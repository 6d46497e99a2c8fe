"""Windows according to the X server itself, read with python-xlib.

A window manager publishes its windows (EWMH) in properties of the root window, which any program
can write. The server's own tree of windows, the mapped state, the keyboard focus and the creator of
a window cannot be forged like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from provisioning.probe.display.visibility import Placed, visible_ids
from provisioning.probe.display.windows import (
    PropertyRequest,
    ask,
    describe,
    numbers_in,
    property_of,
)

if TYPE_CHECKING:
    from Xlib.display import Display

MAX_WINDOWS = 3000
"""Maximum number of the root window's children, and of their children."""

_MAX_LEVELS = 50
_STATE = "WM_STATE"
# Source: Inter-Client Communication Conventions Manual 2.0, section 4.1.3.1: normal and iconic.
_MANAGED = (1, 3)


class TooManyWindowsError(Exception):
    """There are more windows than the limit, which no desktop in normal use reaches."""


class _Window(NamedTuple):
    """A window according to the server.

    Attributes:
        id: ID of the window.
        parent: ID of its parent.
        is_shown: whether it and all its ancestors are mapped.
        is_managed: whether its state property marks it as managed, shown or minimised.
        is_loose: whether window managers ignore it, as menus and tooltips.
        children: IDs of its children, bottom to top.
    """

    id: int
    parent: int
    is_shown: bool
    is_managed: bool
    is_loose: bool
    children: tuple[int, ...]


def list_windows(display: Display) -> list[dict[str, Any]]:
    """Return the windows of programs, including minimised ones, bottom to top, each once.

    Keys are those of `windows.list_windows`; ``active`` is whether the window is in front: it has
    the keyboard focus, and no window of another program covers it completely. ``visible`` is
    whether a part of it can be seen, or could be if it were not minimised (`visibility`).

    A program's window is a child of the root window, or a direct child of a frame there that
    another program (the window manager) created. Children of the root window count only if they are
    shown or minimised, which excludes a program's hidden leader window.

    Raises:
        TooManyWindowsError: there are more than `MAX_WINDOWS`.
    """
    root = display.screen().root
    tops = _look(display, root.query_tree().children, root.id)
    framed = _look_into(display, tops)
    windows: list[_Window] = []
    for top in tops:
        inner = [window for window in framed if window.parent == top.id]
        if top.is_managed or (top.is_shown and not top.is_loose and not inner):
            windows.append(top)
        windows += inner
    shown = {window.id for window in windows if window.is_shown}
    rows = [
        row for row in (describe(display, root, window.id) for window in windows) if row is not None
    ]
    active = _focused(display, windows)
    visible = visible_ids(
        display, [Placed(window.id, window.parent, window.is_shown) for window in windows]
    )
    return [
        {
            **row,
            "active": row["id"] == active and not _is_covered(display, rows[number:], shown),
            "visible": row["id"] in visible,
        }
        for number, row in enumerate(rows)
    ]


def _look_into(display: Display, tops: list[_Window]) -> list[_Window]:
    """Return the direct children that another program created."""
    inner = [
        (child, top.id)
        for top in tops
        for child in top.children
        if not _is_of_same_client(display, child, top.id)
    ]
    rows = _look(display, [child for child, _ in inner])
    parents = dict(inner)
    return [row._replace(parent=parents[row.id]) for row in rows]


def _look(display: Display, ids: list[Any], parent: int = 0) -> list[_Window]:
    numbers = [window if isinstance(window, int) else int(window.id) for window in ids]
    if len(numbers) > MAX_WINDOWS:
        raise TooManyWindowsError(f"there are {len(numbers)} windows")
    replies = ask(
        display, [question for number in numbers for question in _requests(display, number)]
    )
    rows = (
        _window_of(number, parent, replies[3 * place : 3 * place + 3])
        for place, number in enumerate(numbers)
    )
    return [row for row in rows if row is not None]


def _requests(display: Display, window_id: int) -> list[PropertyRequest]:
    from Xlib.protocol import request

    return [
        (request.GetWindowAttributes, {"window": window_id}),
        (request.QueryTree, {"window": window_id}),
        property_of(display, window_id, _STATE),
    ]


def _window_of(window_id: int, parent: int, replies: list[Any]) -> _Window | None:
    """Build a window from the replies; None if it is gone or cannot show anything."""
    from Xlib import X

    attributes, tree, state = replies
    if attributes is None or tree is None or attributes.win_class == X.InputOnly:
        return None
    return _Window(
        window_id,
        parent,
        is_shown=attributes.map_state == X.IsViewable,
        is_managed=next(iter(numbers_in(state)), 0) in _MANAGED,
        is_loose=bool(attributes.override_redirect),
        children=tuple(int(getattr(child, "id", child)) for child in tree.children),
    )


def _focused(display: Display, windows: list[_Window]) -> int:
    """Return the window with the keyboard focus, itself or through its frame or a child; or 0."""
    from Xlib.error import XError

    known = {window.parent: window.id for window in windows} | {
        window.id: window.id for window in windows
    }
    root = display.screen().root.id
    focus = display.get_input_focus().focus
    for _ in range(_MAX_LEVELS):
        number = int(getattr(focus, "id", focus))
        if number in {0, 1, root}:
            return 0
        if number in known:
            return known[number]
        try:
            focus = display.create_resource_object("window", number).query_tree().parent
        except XError:
            return 0
    return 0


def _is_covered(display: Display, rows: list[dict[str, Any]], shown: set[int]) -> bool:
    """Return whether a window of another program covers the first one completely."""
    first, *above = rows
    left, top, width, height = first["geometry"]
    for row in above:
        if row["id"] not in shown or _is_of_same_client(display, row["id"], first["id"]):
            continue
        x, y, wide, high = row["geometry"]
        if x <= left and y <= top and x + wide >= left + width and y + high >= top + height:
            return True
    return False


def _is_of_same_client(display: Display, one: int, other: int) -> bool:
    """Return whether one connection created both; the server gives each a range of identifiers.

    Source: X Window System Protocol, section 8 (connection setup), ``resource-id-mask``.
    """
    mask = int(display.display.info.resource_id_mask)
    return one & ~mask == other & ~mask
