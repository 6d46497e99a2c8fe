"""Windows as the window manager tells of them (EWMH), read with python-xlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from Xlib.display import Display

_MAX_WINDOWS = 500
_MAX_TITLE = 1000
# Source: Extended Window Manager Hints 1.5, _NET_WM_WINDOW_TYPE and _NET_WM_STATE.
_KIND, _STATE = "_NET_WM_WINDOW_TYPE", "_NET_WM_STATE"
_KINDS = ("desktop", "dock", "dialog", "utility", "toolbar", "menu", "splash", "normal")
_STATES = (
    *("modal", "sticky", "maximized_vert", "maximized_horz", "shaded", "hidden"),
    *("fullscreen", "above", "below", "demands_attention"),
)


def open_display(name: str) -> Display:
    """Connect to a display; the cookie is taken from XAUTHORITY.

    Raises:
        Xlib.error.DisplayError: nobody is there, or we may not.
    """
    from Xlib.display import Display as XDisplay

    return XDisplay(name)


def list_windows(display: Display) -> list[dict[str, Any]]:
    """Give the managed windows, bottom to top.

    Each has ``id``, ``title``, ``wm_class`` (instance, class), ``pid`` (0 when it tells none),
    ``geometry`` (left, top, width, height in screen px) and ``active``.
    """
    root = display.screen().root
    ids = _numbers(display, root, "_NET_CLIENT_LIST_STACKING")
    ids = ids or _numbers(display, root, "_NET_CLIENT_LIST")
    active = _numbers(display, root, "_NET_ACTIVE_WINDOW")[:1]
    rows = (_describe(display, root, window_id) for window_id in ids[:_MAX_WINDOWS])
    return [{**row, "active": row["id"] in active} for row in rows if row is not None]


def saved_rows(display: Display) -> list[dict[str, Any]]:
    """Give the managed windows, bottom to top, as far as a reset must bring them back.

    Each has ``title``, ``wm_class``, ``kind``, ``geometry``, ``states`` and ``active``. Of the
    desktop's own window only the part on the screen counts: under Metacity it is higher than the
    screen by a panel or not, as the two of them come up.
    """
    screen = display.screen()
    kinds, states = _atoms(display, _KIND, _KINDS), _atoms(display, _STATE, _STATES)
    rows = []
    for row in list_windows(display):
        window = _window(display, row["id"])
        kind = next(iter(_named(display, window, _KIND, kinds)), "")
        left, top, width, height = row["geometry"]
        if kind == "desktop":
            right = min(left + width, screen.width_in_pixels)
            bottom = min(top + height, screen.height_in_pixels)
            left, top = max(left, 0), max(top, 0)
            width, height = right - left, bottom - top
        rows.append(
            {
                "title": row["title"],
                "wm_class": row["wm_class"],
                "kind": kind,
                "geometry": [left, top, width, height],
                "states": sorted(_named(display, window, _STATE, states)),
                "active": row["active"],
            }
        )
    return rows


def _atoms(display: Display, prefix: str, names: tuple[str, ...]) -> dict[int, str]:
    """Give names by atom; the connection remembers the atoms, so that this asks nobody twice."""
    return {display.intern_atom(f"{prefix}_{name.upper()}"): name for name in names}


def _named(display: Display, window: Any, name: str, names: dict[int, str]) -> list[str]:  # noqa: ANN401
    return [names[atom] for atom in _numbers(display, window, name) if atom in names]


def shown_parts(display: Display) -> dict[str, Any]:
    """Tell of ``window_manager`` (its name, or empty), ``panel`` and ``desktop`` (bool, visible)."""
    root = display.screen().root
    manager = ""
    for window_id in _numbers(display, root, "_NET_SUPPORTING_WM_CHECK")[:1]:
        manager = _text(display, _window(display, window_id), "_NET_WM_NAME") or "unnamed"
    kinds = set()
    for window_id in _numbers(display, root, "_NET_CLIENT_LIST")[:_MAX_WINDOWS]:
        kinds |= _visible_kinds(display, window_id)
    return {
        "window_manager": manager,
        "panel": "_NET_WM_WINDOW_TYPE_DOCK" in kinds,
        "desktop": "_NET_WM_WINDOW_TYPE_DESKTOP" in kinds,
    }


def _describe(display: Display, root: Any, window_id: int) -> dict[str, Any] | None:  # noqa: ANN401
    from Xlib.error import XError

    window = _window(display, window_id)
    try:
        geometry = window.get_geometry()
        corner = root.translate_coords(window, 0, 0)
        wm_class = window.get_wm_class() or ("", "")
        title = _text(display, window, "_NET_WM_NAME") or window.get_wm_name() or ""
    except XError:
        return None
    if isinstance(title, bytes):
        title = title.decode("utf-8", "replace")
    return {
        "id": window_id,
        "title": title[:_MAX_TITLE],
        "wm_class": [str(part) for part in wm_class],
        "pid": next(iter(_numbers(display, window, "_NET_WM_PID")), 0),
        "geometry": [corner.x, corner.y, geometry.width, geometry.height],
    }


def _visible_kinds(display: Display, window_id: int) -> set[str]:
    from Xlib import X
    from Xlib.error import XError

    window = _window(display, window_id)
    try:
        if window.get_attributes().map_state != X.IsViewable:
            return set()
        return {
            display.get_atom_name(atom)
            for atom in _numbers(display, window, "_NET_WM_WINDOW_TYPE")[:4]
        }
    except XError:
        return set()


def _window(display: Display, window_id: int) -> Any:  # noqa: ANN401 - python-xlib is untyped
    return display.create_resource_object("window", window_id)


def _property(display: Display, window: Any, name: str) -> Any:  # noqa: ANN401
    from Xlib import X
    from Xlib.error import XError

    try:
        found = window.get_full_property(display.intern_atom(name), X.AnyPropertyType)
    except XError:
        return None
    return None if found is None else found.value


def _numbers(display: Display, window: Any, name: str) -> list[int]:  # noqa: ANN401
    value = _property(display, window, name)
    if value is None or isinstance(value, (str, bytes)):
        return []
    return [int(item) for item in value if int(item) != 0]


def _text(display: Display, window: Any, name: str) -> str:  # noqa: ANN401
    value = _property(display, window, name)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""
