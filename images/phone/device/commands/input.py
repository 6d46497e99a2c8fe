"""The command ``input``: touches, keys and text.

Source: AOSP ``InputShellCommand.java`` and ``KeyEvent.java``. Unlike on Android, text may contain
    any Unicode character, and a swipe takes effect immediately, whatever its duration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.directory import APPS, CALENDAR, CAMERA, CONTACTS, DIALER, SETTINGS
from images.phone.device.commands.base import EXIT_USAGE, CommandError
from images.phone.device.commands.keycodes import KEYS_BY_NUMBER
from images.phone.device.phone import HOLD_MS
from images.phone.device.ui.metrics import dp

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_DEFAULT_SWIPE_MS = 300
_LAUNCHING = {
    "CALENDAR": CALENDAR,
    "CALL": DIALER,
    "CAMERA": CAMERA,
    "CONTACTS": CONTACTS,
    "SETTINGS": SETTINGS,
}
_VOLUME = ("system", "volume_music")
_MAX_VOLUME = 15
_VOLUME_STEPS = {"VOLUME_UP": 1, "VOLUME_DOWN": -1, "VOLUME_MUTE": -_MAX_VOLUME}
# Key combinations with the effect of a single key.
_COMBINATIONS = {"A": "SELECT_ALL", "C": "COPY", "V": "PASTE", "X": "CUT"}
_MODIFIERS = frozenset(
    f"{name}_{side}" for name in ("ALT", "CTRL", "META", "SHIFT") for side in ("LEFT", "RIGHT")
)
_MOTIONS = frozenset(("DOWN", "MOVE", "UP", "CANCEL"))
_WHEEL_PX = dp(64)
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
        "gamepad",
        "joystick",
        "rotaryencoder",
    )
)
_USAGE = """Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The commands and default sources are:
      text <string> (Default: touchscreen)
      keyevent [--longpress|--doubletap] <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      press (Default: trackball)
      roll <dx> <dy> (Default: trackball)
      motionevent <DOWN|UP|MOVE|CANCEL> <x> <y> (Default: touchscreen)
      scroll <x> <y> [--axis VSCROLL,<value>] (Default: mouse)
      keycombination <key code number or name> <key code number or name> ..."""


def run_input(call: Invocation) -> str:
    """Run ``input``."""
    args = list(call.args)
    if args and args[0] in _SOURCES:
        del args[0]
    if args and args[0] == "-d":
        del args[:2]
    name, *values = args or [""]
    if name == "text" and values:
        call.phone.type(values[0].replace("%s", " "))
    elif name == "keyevent" and values:
        for key in [_key(word) for word in values if word not in {"--longpress", "--doubletap"}]:
            _press(call, key)
    elif name == "keycombination" and len(values) > 1:
        _combine(call, [_key(word) for word in values if word != "-t"])
    elif name not in {"press", "roll"}:  # the phone has no trackball
        _touch(call, name, values)
    return ""


def _touch(call: Invocation, name: str, values: list[str]) -> None:
    """Inject a touch at a position."""
    if name == "tap":
        x, y = _place(call, values, 2)
        call.phone.tap(x, y)
    elif name in {"swipe", "draganddrop"}:
        _swipe(call, values)
    elif name == "motionevent" and values[:1] and values[0].upper() in _MOTIONS:
        _move(call, values[0].upper(), _place(call, values[1:], 2))
    elif name == "scroll" and len(values) > 1:
        _scroll(call, _place(call, values[:2], 2), values[2:])
    else:
        problem = f"Error: Unknown command: {name}\n" if name else ""
        raise CommandError(f"{problem}{_USAGE}", EXIT_USAGE)


def _press(call: Invocation, key: str) -> None:
    """Press a key; keys that need more than the foreground screen are handled here."""
    if key in _LAUNCHING and _LAUNCHING[key] in APPS:
        call.phone.launch(_LAUNCHING[key])
    elif key == "ENDCALL":
        call.phone.telephony.end()
    elif key == "PASTE":
        call.phone.type(call.phone.clipboard)
    elif key == "NOTIFICATION":
        call.phone.expand_shade()
    elif key in _VOLUME_STEPS:
        with call.phone.event():
            now = call.phone.store.setting(*_VOLUME, "5")
            volume = (int(now) if now.isdecimal() else 0) + _VOLUME_STEPS[key]
            call.phone.store.put_setting(*_VOLUME, str(max(0, min(_MAX_VOLUME, volume))))
    else:
        call.phone.press(key)


def _combine(call: Invocation, keys: list[str]) -> None:
    """Press keys together: CTRL with a letter edits, SHIFT types an uppercase letter."""
    modifiers, others = set(keys) & _MODIFIERS, [key for key in keys if key not in _MODIFIERS]
    has_control = any(name.startswith("CTRL") for name in modifiers)
    has_shift = any(name.startswith("SHIFT") for name in modifiers)
    for key in others:
        if has_control:
            if key in _COMBINATIONS:
                _press(call, _COMBINATIONS[key])
        elif has_shift and len(key) == 1:
            call.phone.type(key)
        elif not modifiers or has_shift:
            _press(call, key)


def _move(call: Invocation, kind: str, place: list[int]) -> None:
    """Put a finger down, move it or lift it; a touch takes effect when the finger is lifted."""
    phone, here = call.phone, (place[0], place[1])
    if kind == "DOWN":
        phone.finger = (here, phone.now_s())
    elif phone.finger is not None and kind != "MOVE":
        start, since_s = phone.finger
        phone.finger = None
        if kind == "UP":
            phone.swipe(start, here, int((phone.now_s() - since_s) * 1000))


def _scroll(call: Invocation, place: list[int], options: list[str]) -> None:
    """Turn the mouse wheel; positive steps scroll up."""
    steps = 0.0
    for word in options:
        axis, _, value = word.partition(",")
        if axis == "VSCROLL":
            try:
                steps = max(-100.0, min(100.0, float(value)))
            except ValueError as exc:
                raise CommandError(f"Error: {exc}", EXIT_USAGE) from exc
    call.phone.scroll((place[0], place[1]), round(steps * _WHEEL_PX))


def _swipe(call: Invocation, values: list[str]) -> None:
    numbers = _place(call, values, 4 if len(values) == 4 else 5)  # noqa: PLR2004
    duration_ms = numbers[4] if len(numbers) > 4 else _DEFAULT_SWIPE_MS  # noqa: PLR2004
    start, end = (numbers[0], numbers[1]), (numbers[2], numbers[3])
    call.phone.swipe(start, end, min(duration_ms, 60 * HOLD_MS))


def _place(call: Invocation, values: list[str], count: int) -> list[int]:
    """Parse coordinates, and clamp them to the screen."""
    if len(values) != count:
        raise CommandError(f"Error: Invalid arguments for command\n{_USAGE}", EXIT_USAGE)
    try:
        numbers = [int(float(value)) for value in values]
    except (ValueError, OverflowError) as exc:
        raise CommandError(f"Error: {exc}", EXIT_USAGE) from exc
    width_px, height_px = call.phone.display.seen_px
    limits = (width_px - 1, height_px - 1) * 2
    return [
        max(0, min(number, limits[index])) if index < len(limits) else max(0, number)
        for index, number in enumerate(numbers)
    ]


def _key(word: str) -> str:
    """Return a key's name without ``KEYCODE_``."""
    name = word.upper().removeprefix("KEYCODE_")
    if name.isdigit() and len(name) > 1 and int(name) in KEYS_BY_NUMBER:
        return KEYS_BY_NUMBER[int(name)]
    if word.isdigit() and int(word) in KEYS_BY_NUMBER:
        return KEYS_BY_NUMBER[int(word)]
    if not word.isdigit() and name in KEYS_BY_NUMBER.values():
        return name
    raise CommandError(f"Error: Unknown keycode: {word}", EXIT_USAGE)
