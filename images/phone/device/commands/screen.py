"""The commands ``screencap``, ``uiautomator`` and ``wm``.

Source: AOSP ``screencap.cpp``: without ``-p``, width, height, format and colour space precede the
    pixels; ``WindowManagerShellCommand.java``.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from images.phone.device.commands.base import EXIT_USAGE, CommandError
from images.phone.device.store.display import densities, force_density, force_size, is_size
from images.phone.device.ui.metrics import DENSITY_DPI, HEIGHT_PX, MAX_PIXELS, MIN_SIDE_PX, WIDTH_PX

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_DEFAULT_DUMP = "/sdcard/window_dump.xml"
_RGBA_8888, _SRGB = 1, 1
_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})", re.ASCII)
_ROTATIONS = frozenset("0123")


def run_screencap(call: Invocation) -> bytes:
    """Return the screen, as a PNG or as raw pixels, or write it to a file."""
    args = [word for word in call.args if word not in {"-p", "--png"}]
    if args[:1] == ["-d"]:
        del args[:2]
    if any(word.startswith("-") for word in args):
        raise CommandError("usage: screencap [-hp] [-d display-id] [FILENAME]", EXIT_USAGE)
    if len(args) < len(call.args) or (args and args[0].endswith(".png")):
        data = call.phone.compositor.screenshot()
    else:
        width, height, pixels = call.phone.compositor.picture()
        data = struct.pack("<4I", width, height, _RGBA_8888, _SRGB) + pixels
    if not args:
        return data
    call.resolve(args[0]).write_bytes(data)
    return b""


def run_uiautomator(call: Invocation) -> str:
    """Write the UI hierarchy to a file, or to the caller's terminal.

    The final message contains Android's own spelling mistake, because tools compare it.
    """
    name, *args = call.args or [""]
    if name != "dump":
        raise CommandError("Usage: uiautomator <subcommand> [options]", 1)
    paths = [word for word in args if not word.startswith("-")]
    path = paths[0] if paths else _DEFAULT_DUMP
    xml = (
        call.phone.compositor.dump_windows()
        if "--windows" in args
        else call.phone.compositor.dump()
    )
    message = f"UI hierchary dumped to: {path}\n"
    if path == "/dev/tty":
        return xml + message
    call.resolve(path).write_text(xml, encoding="utf-8")
    return message


def run_wm(call: Invocation) -> str:
    """Print and force the size and density of the screen, and rotate it."""
    match [word for word in call.args if word not in {"-d", "0"}]:
        case ["size", *args] if len(args) < 2:  # noqa: PLR2004
            return _size(call, *args)
        case ["density", *args] if len(args) < 2:  # noqa: PLR2004
            return _density(call, *args)
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
    raise CommandError(f"Unknown command: {' '.join(call.args[:1])}", EXIT_USAGE)


def _size(call: Invocation, wanted: str = "") -> str:
    if not wanted:
        size_px = call.phone.display.upright_px
        own = f"Physical size: {WIDTH_PX}x{HEIGHT_PX}\n"
        is_forced = size_px != (WIDTH_PX, HEIGHT_PX)
        return own + (f"Override size: {size_px[0]}x{size_px[1]}\n" if is_forced else "")
    match = _SIZE.fullmatch(wanted)
    if match is None and wanted != "reset":
        raise CommandError(f"Error: bad size {wanted}", EXIT_USAGE)
    size_px = (int(match[1]), int(match[2])) if match else (WIDTH_PX, HEIGHT_PX)
    if not is_size(size_px):
        raise CommandError(
            f"Error: bad size {wanted}: the reference phone takes {MIN_SIDE_PX} px a side and "
            f"more, {MAX_PIXELS} px in all",
            EXIT_USAGE,
        )
    with call.phone.event():
        force_size(call.phone.store, size_px if match else None)
    return ""


def _density(call: Invocation, wanted: str = "") -> str:
    display = call.phone.display
    if not wanted:
        own, now_dpi = f"Physical density: {DENSITY_DPI}\n", display.density_dpi
        return own + (f"Override density: {now_dpi}\n" if now_dpi != DENSITY_DPI else "")
    if wanted != "reset":
        if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 6):  # noqa: PLR2004
            raise CommandError(f"Error: bad number {wanted}", EXIT_USAGE)
        least_dpi, most_dpi = densities(display.upright_px)
        if not least_dpi <= int(wanted) <= most_dpi:
            raise CommandError(
                f"Error: density must be >= {least_dpi} and <= {most_dpi} at this size", EXIT_USAGE
            )
    with call.phone.event():
        force_density(call.phone.store, None if wanted == "reset" else int(wanted))
    return ""


def _rotate(call: Invocation, values: dict[str, str]) -> str:
    with call.phone.event():
        for key, value in values.items():
            call.phone.store.put_setting("system", key, value)
    return ""
