"""The names of keys in the spellings of all families, as X names them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controller.models.families.arguments import fail, show
from controller.models.families.gestures import FaultKind
from provisioning.probe.display.keys import keysym_of_name
from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_KEYS = 5
_MAX_CHARS = 200
_ALIASES = {
    **{
        f"{side}{name}": name
        for name in ("ctrl", "alt", "shift", "win")
        for side in ("left", "right")
    },
    **{
        f"{name}{side}": name
        for name in ("ctrl", "alt", "shift", "win")
        for side in ("left", "right")
    },
    "controlleft": "ctrl",
    "controlright": "ctrl",
    "metaleft": "super",
    "metaright": "super",
    "contextmenu": "Menu",
    "pgdown": "Next",
    "prtsc": "Print",
    "prtscr": "Print",
    "+": "plus",
    " ": "space",
}
"""X names of keys that the appliance does not know by these names already, in lower case without
``_``, ``-`` and spaces.

Sources: OpenAI's and Google's guides of computer use, pyautogui ``KEYBOARD_KEYS``, UI Events ``code``.
"""
_SEPARATORS = re.compile(r"\s*\+\s*|\s+")


def split_keys(value: object) -> tuple[str, ...]:
    """Return the X names of keys that are pressed together.

    Args:
        value: "ctrl+s", "ctrl s", ["ctrl", "s"] or "Control+S".

    Raises:
        ParseError: there is no such key, there is none, or there are too many.
    """
    names = [name for part in _parts(value) for name in _split(part)]
    if not 1 <= len(names) <= _MAX_KEYS:
        fail(FaultKind.BAD_ARGUMENTS, f"Press 1 to {_MAX_KEYS} keys together, not {len(names)}.")
    return tuple(_named(name, is_alone=len(names) == 1) for name in names)


def held_keys(value: object) -> tuple[str, ...]:
    """Return the X names of keys that are held during another action; none if there is no value.

    Raises:
        ParseError: there is no such key.
    """
    return split_keys(value) if value else ()


def _parts(value: object) -> Iterable[str]:
    parts = [value] if isinstance(value, str) else value
    if (
        isinstance(parts, list)
        and sum(len(part) for part in parts if isinstance(part, str)) > _MAX_CHARS
    ):
        fail(FaultKind.UNKNOWN_KEY, f"There is no key called {show(parts[0])}.")
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        fail(FaultKind.BAD_ARGUMENTS, f"Keys must be names of keys, not {show(value)}.")
    return [part for part in parts if isinstance(part, str)]


def _split(text: str) -> list[str]:
    if len(text) == 1:
        return [text]
    if text.endswith("++"):
        return [*_split(text[:-2]), "plus"]
    if _knows(_alias(text.strip())):
        return [text.strip()]
    return [part for part in _SEPARATORS.split(text.strip()) if part]


def _named(name: str, *, is_alone: bool) -> str:
    found = _alias(name)
    if not _knows(found):
        fail(FaultKind.UNKNOWN_KEY, f"There is no key called {show(name)}.")
    # "Control+S" is the key s; "S" alone is the letter.
    return found if is_alone or len(found) > 1 else found.lower()


def _alias(name: str) -> str:
    if name in _ALIASES:
        return _ALIASES[name]
    if len(name) > 1 and not _knows(name):
        plain = re.sub(r"[_\- ]", "", name).lower()
        return _ALIASES.get(plain, plain if _knows(plain) else name)
    return name


def _knows(name: str) -> bool:
    try:
        keysym_of_name(name)
    except ProbeError:
        return False
    return True
