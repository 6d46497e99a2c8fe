"""Key names: conversion from the agents' names to X keysyms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Sequence

# xdotool supports the first four itself and resolves them to the left key.
_ALIASES = {
    "ctrl": "ctrl",
    "alt": "alt",
    "shift": "shift",
    "super": "super",
    "control": "ctrl",
    "meta": "Meta_L",
    "win": "super",
    "cmd": "super",
    "enter": "Return",
    "return": "Return",
    "esc": "Escape",
    "escape": "Escape",
    "backspace": "BackSpace",
    "del": "Delete",
    "delete": "Delete",
    "ins": "Insert",
    "insert": "Insert",
    "tab": "Tab",
    "space": "space",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "home": "Home",
    "end": "End",
    "pageup": "Prior",
    "page_up": "Prior",
    "pagedown": "Next",
    "page_down": "Next",
    "capslock": "Caps_Lock",
    "printscreen": "Print",
    "menu": "Menu",
}


def chord(names: Sequence[str]) -> str:
    """Return xdotool's argument for keys pressed together, such as ``ctrl+alt+t``.

    Raises:
        ProbeError: ``unknown_key``.
    """
    return "+".join(key_name(name) for name in names)


def key_name(name: str) -> str:
    """Return the X keysym name of a key, given an alias in any case, a character, or a keysym.

    Raises:
        ProbeError: ``unknown_key``.
    """
    if len(name) == 1:
        return name if name.isascii() and name.isalnum() else f"U{ord(name):04X}"
    alias = _ALIASES.get(name.lower())
    if alias is not None:
        return alias
    candidate = name.upper() if name[:1] in "fF" and name[1:].isdigit() else name
    if not _is_keysym(candidate):
        raise ProbeError("unknown_key", f"unknown key {name!r}")
    return candidate


def load() -> None:
    """Load all key names from the zipapp while it is readable."""
    from Xlib import XK

    XK.load_keysym_group("xf86")


def _is_keysym(name: str) -> bool:
    from Xlib import XK

    return bool(XK.string_to_keysym(name))
