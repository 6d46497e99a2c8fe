"""The commands ``screencap``, ``uiautomator`` and ``wm``.

Source: AOSP ``screencap.cpp``: without ``-p``, width, height, format and colour space lie before
the pixels; ``WindowManagerShellCommand.java``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError
from images.phone.device.ui.metrics import DENSITY_DPI, HEIGHT_PX, WIDTH_PX

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_DEFAULT_DUMP = "/sdcard/window_dump.xml"
_RGBA_8888, _SRGB = 1, 1
_ROTATIONS = frozenset("0123")


def run_screencap(call: Invocation) -> bytes:
    """Give the screen, as a PNG or as raw pixels, or write it to a file."""
    words = [word for word in call.words if word not in {"-p", "--png"}]
    if words[:1] == ["-d"]:
        del words[:2]
    if any(word.startswith("-") for word in words):
        raise CommandError("usage: screencap [-hp] [-d display-id] [FILENAME]", 255)
    if len(words) < len(call.words) or (words and words[0].endswith(".png")):
        data = call.phone.screenshot()
    else:
        width, height, pixels = call.phone.picture()
        data = struct.pack("<4I", width, height, _RGBA_8888, _SRGB) + pixels
    if not words:
        return data
    call.resolve(words[0]).write_bytes(data)
    return b""


def run_uiautomator(call: Invocation) -> str:
    """Write the UI hierarchy to a file, or to the caller's terminal.

    The closing words hold Android's own spelling mistake: tools compare them.
    """
    name, *words = call.words or [""]
    if name != "dump":
        raise CommandError("Usage: uiautomator <subcommand> [options]", 1)
    paths = [word for word in words if not word.startswith("-")]
    path = paths[0] if paths else _DEFAULT_DUMP
    xml = call.phone.dump_windows() if "--windows" in words else call.phone.dump()
    said = f"UI hierchary dumped to: {path}\n"
    if path == "/dev/tty":
        return xml + said
    call.resolve(path).write_text(xml, encoding="utf-8")
    return said


def run_wm(call: Invocation) -> str:
    """Tell size and density of the screen, which cannot be changed, and turn it."""
    match call.words:
        case ["size"]:
            return f"Physical size: {WIDTH_PX}x{HEIGHT_PX}\n"
        case ["density"]:
            return f"Physical density: {DENSITY_DPI}\n"
        case ["size" | "density", "reset"]:
            return ""
        case ["size" | "density" as what, *_]:
            raise CommandError(f"Error: the reference phone's {what} cannot be changed", 255)
        case ["user-rotation"]:
            is_free = call.phone.store.setting("system", "accelerometer_rotation") == "1"
            state = "free" if is_free else f"lock {call.phone.display.rotation}"
            return f"{state}\n"
        case ["user-rotation" | "set-user-rotation", "free"]:
            return _rotate(call, {"accelerometer_rotation": "1"})
        case ["user-rotation" | "set-user-rotation", "lock", *rest] if set(rest) <= _ROTATIONS:
            turn = rest[0] if rest else str(call.phone.display.rotation)
            return _rotate(call, {"accelerometer_rotation": "0", "user_rotation": turn})
        case ["dismiss-keyguard"]:
            return ""  # the reference phone is never locked
    raise CommandError(f"Unknown command: {' '.join(call.words[:1])}", 255)


def _rotate(call: Invocation, values: dict[str, str]) -> str:
    with call.phone.event():
        for key, value in values.items():
            call.phone.store.put_setting("system", key, value)
    return ""
