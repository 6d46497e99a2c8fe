"""The command ``input``: touches, keys and text.

Source: AOSP ``InputShellCommand.java`` and ``KeyEvent.java``. Other than Android's, text may hold
any Unicode character, and a swipe takes effect at once, whatever its duration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.commands.base import EXIT_USAGE, CommandError
from images.phone.device.commands.keycodes import KEYS_BY_NUMBER
from images.phone.device.phone import HOLD_MS
from images.phone.device.ui.metrics import SCREEN

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_DEFAULT_SWIPE_MS = 300
_SOURCES = frozenset(
    (
        "touchscreen",
        "keyboard",
        "mouse",
        "touchpad",
        "stylus",
        "trackball",
        "dpad",
        "touchnavigation",
    )
)
_USAGE = """Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The commands and default sources are:
      text <string> (Default: touchscreen)
      keyevent [--longpress] <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)"""


def run_input(call: Invocation) -> str:
    """Carry out ``input``."""
    words = list(call.words)
    if words and words[0] in _SOURCES:
        del words[0]
    if words and words[0] == "-d":
        del words[:2]
    name, *values = words or [""]
    if name == "tap":
        x, y = _place(values, 2)
        call.phone.tap(x, y)
    elif name in {"swipe", "draganddrop"}:
        _swipe(call, values)
    elif name == "text" and len(values) == 1:
        call.phone.type(values[0].replace("%s", " "))
    elif name in {"keyevent", "keycombination"} and values:
        for key in [_key(word) for word in values if word not in {"--longpress", "--doubletap"}]:
            call.phone.press(key)
    else:
        problem = f"Error: Unknown command: {name}\n" if name else ""
        raise CommandError(f"{problem}{_USAGE}", EXIT_USAGE)
    return ""


def _swipe(call: Invocation, values: list[str]) -> None:
    numbers = _place(values, 4) if len(values) == 4 else _place(values, 5)  # noqa: PLR2004
    duration_ms = numbers[4] if len(numbers) > 4 else _DEFAULT_SWIPE_MS  # noqa: PLR2004
    start, end = (numbers[0], numbers[1]), (numbers[2], numbers[3])
    call.phone.swipe(start, end, min(duration_ms, 60 * HOLD_MS))


def _place(values: list[str], count: int) -> list[int]:
    """Read coordinates; those beyond the edge of the screen are moved onto it."""
    if len(values) != count:
        raise CommandError(f"Error: Invalid arguments for command\n{_USAGE}", EXIT_USAGE)
    try:
        numbers = [int(float(value)) for value in values]
    except (ValueError, OverflowError) as exc:
        raise CommandError(f"Error: {exc}", EXIT_USAGE) from exc
    limits = (SCREEN.right - 1, SCREEN.bottom - 1) * 2
    return [
        max(0, min(number, limits[index])) if index < len(limits) else max(0, number)
        for index, number in enumerate(numbers)
    ]


def _key(word: str) -> str:
    """Give a key's name without ``KEYCODE_``."""
    name = word.upper().removeprefix("KEYCODE_")
    if name.isdigit() and len(name) > 1 and int(name) in KEYS_BY_NUMBER:
        return KEYS_BY_NUMBER[int(name)]
    if word.isdigit() and int(word) in KEYS_BY_NUMBER:
        return KEYS_BY_NUMBER[int(word)]
    if not word.isdigit() and name in KEYS_BY_NUMBER.values():
        return name
    raise CommandError(f"Error: Unknown keycode: {word}", EXIT_USAGE)
