"""Maps key names from X keysyms to QEMU's qcodes (US layout)."""

from __future__ import annotations

import string

from appliance.base.errors import InvalidActionError

# Source: QEMU 7.2, qapi/ui.json, QKeyCode.
_NAMED = {
    "ctrl": "ctrl", "control": "ctrl", "control_l": "ctrl", "control_r": "ctrl_r",
    "shift": "shift", "shift_l": "shift", "shift_r": "shift_r",
    "alt": "alt", "alt_l": "alt", "alt_r": "alt_r", "altgr": "alt_r",
    "super": "meta_l", "super_l": "meta_l", "super_r": "meta_r", "win": "meta_l", "meta": "meta_l",
    "return": "ret", "enter": "ret", "kp_enter": "kp_enter", "tab": "tab", "space": "spc",
    "backspace": "backspace", "delete": "delete", "insert": "insert", "escape": "esc", "esc": "esc",
    "home": "home", "end": "end", "prior": "pgup", "page_up": "pgup", "pageup": "pgup",
    "next": "pgdn", "page_down": "pgdn", "pagedown": "pgdn",
    "up": "up", "down": "down", "left": "left", "right": "right",
    "caps_lock": "caps_lock", "num_lock": "num_lock", "scroll_lock": "scroll_lock",
    "print": "print", "pause": "pause", "menu": "menu",
    "minus": "minus", "equal": "equal", "bracketleft": "bracket_left",
    "bracketright": "bracket_right", "semicolon": "semicolon", "apostrophe": "apostrophe",
    "grave": "grave_accent", "backslash": "backslash", "comma": "comma", "period": "dot",
    "slash": "slash", "plus": "equal", "asterisk": "8", "underscore": "minus",
}  # fmt: skip

_PLAIN = {
    **{letter: letter for letter in string.ascii_lowercase},
    **{digit: digit for digit in string.digits},
    "-": "minus", "=": "equal", "[": "bracket_left", "]": "bracket_right", ";": "semicolon",
    "'": "apostrophe", "`": "grave_accent", "\\": "backslash", ",": "comma", ".": "dot",
    "/": "slash", " ": "spc",
}  # fmt: skip


def qcode_of_key(name: str) -> str:
    """Return the qcode of a key by its name or its character.

    Raises:
        InvalidActionError: the key does not exist.
    """
    if name in _PLAIN:
        return _PLAIN[name]
    lower = name.lower()
    if lower in _PLAIN:
        return _PLAIN[lower]
    if lower in _NAMED:
        return _NAMED[lower]
    if lower[:1] == "f" and lower[1:].isdigit() and 1 <= int(lower[1:]) <= 12:  # noqa: PLR2004
        return lower
    raise InvalidActionError(
        f"There is no key called {name!r}.",
        resolution="Use X keysym names: Return, Tab, ctrl, alt, shift, F2, a, 1 ...",
    )
