"""Windows as published by the window manager (EWMH), read with python-xlib.

Any program can forge this data: evaluators use `window_tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Tuple

if TYPE_CHECKING:
    from Xlib.display import Display

PropertyRequest = Tuple[Any, Dict[str, Any]]

_MAX_WINDOWS = 500
_MAX_LONGS = 4096
_ASKED = 7
_MAX_TITLE = 1000
# Source: Extended Window Manager Hints 1.5, _NET_WM_WINDOW_TYPE and _NET_WM_STATE.
_ROOT_PROPERTIES = ("_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW")
_KIND, _STATE = "_NET_WM_WINDOW_TYPE", "_NET_WM_STATE"
_KINDS = ("desktop", "dock", "dialog", "utility", "toolbar", "menu", "splash", "normal")
_STATES = (
    *("modal", "sticky", "maximized_vert", "maximized_horz", "shaded", "hidden"),
    *("fullscreen", "above", "below", "demands_attention"),
)


def list_windows(display: Display) -> list[dict[str, Any]]:
    """Return the managed windows, bottom to top.

    Each has ``id``, ``title``, ``wm_class`` (instance, class), ``pid`` (0 if not set),
    ``geometry`` (left, top, width, height in screen px) and ``active``.
    """
    root = display.screen().root
    ids = _numbers(display, root, "_NET_CLIENT_LIST_STACKING")
    ids = ids or _numbers(display, root, "_NET_CLIENT_LIST")
    active = _numbers(display, root, "_NET_ACTIVE_WINDOW")[:1]
    rows = (describe(display, root, window_id) for window_id in ids[:_MAX_WINDOWS])
    return [{**row, "active": row["id"] in active} for row in rows if row is not None]


def saved_rows(display: Display) -> list[dict[str, Any]]:
    """Return the attributes of managed windows that a reset must restore, bottom to top.

    Each has ``title``, ``wm_class``, ``kind``, ``geometry``, ``states`` and ``active``. Only the
    on-screen part of the desktop's own window counts: under Metacity it may be taller than the
    screen by a panel, depending on the order in which the two start.

    All requests are sent before the first reply is read: just after a reset under emulation,
    context switches are slow.
    """
    screen = display.screen()
    asked = [property_of(display, screen.root.id, name) for name in _ROOT_PROPERTIES]
    stacking, active = (numbers_in(reply) for reply in ask(display, asked))
    ids = stacking[:_MAX_WINDOWS]
    replies = ask(display, [question for item in ids for question in _about(display, item)])
    rows = []
    for index, window_id in enumerate(ids):
        row = replies[index * _ASKED : (index + 1) * _ASKED]
        if row[0] is not None and row[1] is not None:
            seen = _on_screen(_seen(display, row), screen)
            rows.append({**seen, "active": [window_id] == active[:1]})
    return rows


def raw_requests(display: Display) -> list[bytes]:
    """Return the requests of `saved_rows` for the current windows, encoded.

    Equal replies mean equal rows: a new window, or another order, changes the first reply.
    """
    root_id = display.screen().root.id
    asked = [property_of(display, root_id, name) for name in _ROOT_PROPERTIES]
    ids = numbers_in(ask(display, asked[:1])[0])[:_MAX_WINDOWS]
    asked += [question for item in ids for question in _about(display, item)]
    return [kind._request.to_binary(**fields) for kind, fields in asked]  # noqa: SLF001 - no public way


def _about(display: Display, window_id: int) -> list[PropertyRequest]:
    """Return the `_ASKED` requests about a window."""
    from Xlib.protocol import request

    names = ("_NET_WM_NAME", "WM_NAME", "WM_CLASS", _KIND, _STATE)
    root_id = display.screen().root.id
    return [
        (request.GetGeometry, {"drawable": window_id}),
        (
            request.TranslateCoords,
            {"src_wid": window_id, "dst_wid": root_id, "src_x": 0, "src_y": 0},
        ),
        *(property_of(display, window_id, name) for name in names),
    ]


def _seen(display: Display, replies: list[Any]) -> dict[str, Any]:
    """Build a row from a window's replies."""
    size, corner, name, old_name, wm_class, kind, states = replies
    title = _text_in(name) or _text_in(old_name)
    kinds = _names_in(display, kind, _KIND, _KINDS)
    return {
        "title": title[:_MAX_TITLE],
        "wm_class": _text_in(wm_class).rstrip("\0").split("\0"),
        "kind": kinds[0] if kinds else "",
        "geometry": [corner.x, corner.y, size.width, size.height],
        "states": sorted(_names_in(display, states, _STATE, _STATES)),
    }


def _on_screen(row: dict[str, Any], screen: Any) -> dict[str, Any]:  # noqa: ANN401
    """Clip a desktop window to the screen; return other windows unchanged."""
    if row["kind"] != "desktop":
        return row
    left, top, width, height = row["geometry"]
    right = min(left + width, screen.width_in_pixels)
    bottom = min(top + height, screen.height_in_pixels)
    left, top = max(left, 0), max(top, 0)
    return {**row, "geometry": [left, top, right - left, bottom - top]}


def property_of(display: Display, window_id: int, name: str) -> PropertyRequest:
    """Return the request for a property of a window."""
    from Xlib import X
    from Xlib.protocol import request

    fields = {
        "delete": False,
        "window": window_id,
        "property": display.get_atom(name),
        "type": X.AnyPropertyType,
        "long_offset": 0,
        "long_length": _MAX_LONGS,
    }
    return request.GetProperty, fields


def ask(display: Display, requests: list[PropertyRequest]) -> list[Any]:
    """Send all requests and then read the replies; None for each that the server refuses."""
    from Xlib.error import XError

    sent = [kind(display=display.display, defer=1, **fields) for kind, fields in requests]
    replies = []
    for request in sent:
        try:
            request.reply()
            replies.append(request)
        except XError:
            replies.append(None)
    return replies


def _value_in(reply: Any) -> Any:  # noqa: ANN401 - python-xlib is untyped
    return reply.value[1] if reply is not None and reply.property_type else None


def numbers_in(reply: Any) -> list[int]:  # noqa: ANN401
    """Return the numbers in a reply to `property_of`; empty if there is no such property."""
    value = _value_in(reply)
    return (
        []
        if value is None or isinstance(value, (str, bytes))
        else [int(number) for number in value]
    )


def _text_in(reply: Any) -> str:  # noqa: ANN401
    value = _value_in(reply)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _names_in(display: Display, reply: Any, prefix: str, names: tuple[str, ...]) -> list[str]:  # noqa: ANN401
    # `get_atom` caches what `intern_atom` would request each time.
    atoms = {display.get_atom(f"{prefix}_{name.upper()}"): name for name in names}
    return [atoms[atom] for atom in numbers_in(reply) if atom in atoms]


def shown_parts(display: Display) -> dict[str, Any]:
    """Return ``window_manager`` (its name, or empty), ``panel`` and ``desktop`` (bool, visible)."""
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


def describe(display: Display, root: Any, window_id: int) -> dict[str, Any] | None:  # noqa: ANN401
    """Return a window in the form of `list_windows`, without ``active``; None if it is gone."""
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
        window_property = window.get_full_property(display.get_atom(name), X.AnyPropertyType)
    except XError:
        return None
    return None if window_property is None else window_property.value


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
