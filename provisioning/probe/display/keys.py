"""Key names: conversion from the agents' names and from characters to X keysyms.

A keysym is compared in one form: X has several numbers for some characters, such as U+20AC, which
layouts call EuroSign and Unicode 0x010020AC.
"""

from __future__ import annotations

from functools import lru_cache

from provisioning.probe.errors import ProbeError

# Source: X11/keysymdef.h: Unicode characters above Latin-1 are 0x01000000 plus the code point.
UNICODE = 0x01000000
_LATIN_1 = 0x100
_LAST_CHARACTER = 0x10FFFF
SHIFT, LEVEL_3 = 0xFFE1, 0xFE03
_CONTROLS = {"\n": 0xFF0D, "\r": 0xFF0D, "\t": 0xFF09, "\b": 0xFF08, "\x1b": 0xFF1B}
_ALIASES = {
    "ctrl": "Control_L",
    "control": "Control_L",
    "alt": "Alt_L",
    "option": "Alt_L",
    "altgr": "ISO_Level3_Shift",
    "shift": "Shift_L",
    "super": "Super_L",
    "meta": "Super_L",
    "win": "Super_L",
    "windows": "Super_L",
    "cmd": "Super_L",
    "command": "Super_L",
    "enter": "Return",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "pageup": "Prior",
    "pgup": "Prior",
    "pagedown": "Next",
    "pgdn": "Next",
    "capslock": "Caps_Lock",
    "numlock": "Num_Lock",
    "scrolllock": "Scroll_Lock",
    "printscreen": "Print",
    "arrowup": "Up",
    "arrowdown": "Down",
    "arrowleft": "Left",
    "arrowright": "Right",
    "spacebar": "space",
    "eurosign": "U20AC",
}
# Source: X11/keysymdef.h: the second byte of these keysyms is the character's in that code page.
_CODE_PAGES = {0x1: "iso8859_2", 0x2: "iso8859_3", 0x3: "iso8859_4", 0x6: "koi8_r"}
_CYRILLIC_FROM = 0xC0
# Source: X11/keysymdef.h: EuroSign, Cyrillic_io, Cyrillic_IO.
_OLD_NUMBERS = {0x20AC: 0x20AC, 0x6A3: 0x451, 0x6B3: 0x401}
_GROUPS = (
    *("arabic", "cyrillic", "greek", "hebrew", "katakana", "korean", "latin2", "latin3", "latin4"),
    *("publishing", "special", "technical", "thai", "xf86", "xkb"),
)
_VENDOR_PREFIX, _VENDOR_NAME = "XF86", "XF86_"


def keysym_of_name(name: str) -> int:
    """Return the keysym of a key, given a character, an alias, or X's name for it in any case.

    Raises:
        ProbeError: ``unknown_key``.
    """
    if len(name) == 1:
        return keysym_of_character(name)
    name = _ALIASES.get(name.lower(), name)
    keysym = _number(name) or _exact(name) or _names_in_lower_case().get(name.lower(), 0)
    if not keysym:
        raise ProbeError("unknown_key", f"unknown key {name!r}")
    return canonical(keysym)


def keysym_of_character(char: str) -> int:
    """Return the keysym of a character.

    Raises:
        ProbeError: ``unsupported``, for a control character that no key types.
    """
    code = ord(char)
    if char in _CONTROLS:
        return _CONTROLS[char]
    if code < 0x20 or 0x7F <= code < 0xA0:  # noqa: PLR2004 - the control characters
        raise ProbeError("unsupported", f"no key types U+{code:04X}")
    return code if code < _LATIN_1 else UNICODE + code


def canonical(keysym: int) -> int:
    """Return the form of a keysym in which this package compares keysyms."""
    char = _OLD_NUMBERS.get(keysym)
    page, low = keysym >> 8, keysym & 0xFF
    if char is None and page in _CODE_PAGES and (page != 0x6 or low >= _CYRILLIC_FROM):  # noqa: PLR2004 - Cyrillic
        decoded = bytes([low]).decode(_CODE_PAGES[page], "replace")
        char = ord(decoded) if decoded != "\ufffd" else None
    if char is None:
        char = keysym - UNICODE
        if not 0 < char < _LATIN_1:
            return keysym
    return char if char < _LATIN_1 else UNICODE + char


def cases(keysym: int) -> tuple[int, int]:
    """Return the lower and upper case of a character's keysym; twice the same if it has none."""
    char = _letter_of(keysym)
    lower, upper = char.lower(), char.upper()
    if not char or len(lower) != 1 or len(upper) != 1 or char not in {lower, upper}:
        return keysym, keysym
    return keysym_of_character(lower), keysym_of_character(upper)


def _letter_of(keysym: int) -> str:
    """Return the letter of a keysym in canonical form; empty for other keys, such as Return."""
    if keysym < _LATIN_1:
        return chr(keysym) if chr(keysym).isalpha() else ""
    code = keysym - UNICODE
    return chr(code) if _LATIN_1 <= code <= _LAST_CHARACTER else ""


@lru_cache(maxsize=1)
def load() -> None:
    """Load all names, from the zipapp while it is readable."""
    from Xlib import XK

    for group in _GROUPS:
        XK.load_keysym_group(group)


def _number(name: str) -> int:
    """Return the keysym of a name such as ``U20AC``; 0 for other names."""
    digits = name[1:]
    if not 4 <= len(digits) <= 6 or name[0] not in "uU":  # noqa: PLR2004 - as X writes them
        return 0
    try:
        code = int(digits, 16)
    except ValueError:
        return 0
    return keysym_of_character(chr(code)) if code <= _LAST_CHARACTER else 0


def _exact(name: str) -> int:
    from Xlib import XK

    load()
    if name.startswith(_VENDOR_PREFIX) and not name.startswith(_VENDOR_NAME):
        name = name.replace(_VENDOR_PREFIX, _VENDOR_NAME, 1)
    return int(XK.string_to_keysym(name))


@lru_cache(maxsize=1)
def _names_in_lower_case() -> dict[str, int]:
    """Return keysyms by name in lower case, without those whose names differ by case only."""
    from Xlib import XK

    load()
    names: dict[str, set[int]] = {}
    for name in dir(XK):
        if name.startswith("XK_"):
            keysym = getattr(XK, name)
            short = name[len("XK_") :].lower()
            names.setdefault(short, set()).add(keysym)
            if short.startswith("xf86_"):
                names.setdefault(short.replace("_", "", 1), set()).add(keysym)
    return {name: next(iter(numbers)) for name, numbers in names.items() if len(numbers) == 1}
