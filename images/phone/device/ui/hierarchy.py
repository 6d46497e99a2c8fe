"""Format views like ``uiautomator dump``.

Source: AOSP ``AccessibilityNodeInfoDumper.java``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.phone.device.ui.metrics import Box, Display
    from images.phone.device.ui.view import View

_HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
# Characters that XML 1.0 does not allow, as in AccessibilityNodeInfoDumper.stripInvalidXMLChars.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dump(window: View, package: str, display: Display) -> str:
    """Return the XML of a window with its visible nodes.

    Args:
        window: laid-out window.
        package: package of its application.
        display: display of the window.
    """
    nodes = "".join(_nodes(window, 0, package, display))
    return f'{_HEAD}<hierarchy rotation="{display.rotation}">{nodes}</hierarchy>'


def dump_windows(windows: list[tuple[str, str, View]], display: Display) -> str:
    """Return the XML of all windows, like ``uiautomator dump --windows``.

    Args:
        windows: title, package and views of each window, topmost first.
        display: display of the windows.
    """
    parts = []
    for index, (title, package, view) in enumerate(windows):
        nodes = "".join(_nodes(view, 0, package, display))
        parts.append(
            f'<window index="{index}" id="{index + 1}" title={_quote(title)} layer='
            f'"{len(windows) - index}" active="{_word(index == 0)}" focused="{_word(index == 0)}" '
            f'bounds="{_bounds(view.box, display)}">'
            f'<hierarchy rotation="{display.rotation}">{nodes}</hierarchy>'
            "</window>"
        )
    return f'{_HEAD}<displays><display id="0">{"".join(parts)}</display></displays>'


def full_class(kind: str) -> str:
    """Return the full name of an Android class."""
    return kind if "." in kind else f"android.widget.{kind}"


def full_id(name: str, package: str) -> str:
    """Return the full resource ID."""
    if not name or ":" in name:
        return name
    return f"{package}:id/{name}"


def _nodes(view: View, index: int, package: str, display: Display) -> Iterator[str]:
    if view.is_silent or view.clip.is_empty:
        return
    yield f"<node {_attributes(view, index, package, display)}"
    inner = "".join(
        part
        for number, child in enumerate(view.children)
        for part in _nodes(child, number, package, display)
    )
    yield f">{inner}</node>" if inner else " />"


def _attributes(view: View, index: int, package: str, display: Display) -> str:
    traits = view.traits
    values = {
        "index": str(index),
        "text": view.text or view.hint,
        "resource-id": full_id(view.name, package),
        "class": full_class(view.kind),
        "package": package,
        "content-desc": view.label,
        "checkable": _word(traits.checkable),
        "checked": _word(traits.checked),
        "clickable": _word(view.is_clickable),
        "enabled": _word(traits.enabled),
        "focusable": _word(traits.focusable or view.is_clickable),
        "focused": _word(traits.focused),
        "scrollable": _word(bool(view.scroll) and view.content_px > view.inner().height),
        "long-clickable": _word(view.on_hold is not None),
        "password": _word(traits.password),
        "selected": _word(traits.selected),
        "bounds": _bounds(view.clip, display),
    }
    return " ".join(f"{name}={_quote(value)}" for name, value in values.items())


def _bounds(box: Box, display: Display) -> str:
    left, top, right, bottom = display.to_seen(box)
    return f"[{left},{top}][{right},{bottom}]"


def _quote(text: str) -> str:
    safe = _NOT_XML.sub(".", text)
    # Single quotes in the value would make quoteattr choose other delimiters than Android's.
    return quoteattr(safe, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def _word(value: bool) -> str:  # noqa: FBT001 - a truth value is what it renders
    return "true" if value else "false"
