"""The commands ``screencap``, ``uiautomator`` and ``wm``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError
from images.phone.device.ui.metrics import DENSITY_DPI, HEIGHT_PX, WIDTH_PX

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_DEFAULT_DUMP = "/sdcard/window_dump.xml"


def run_screencap(call: Invocation) -> bytes:
    """Give a PNG of the screen, or write it to a file."""
    words = [word for word in call.words if word not in {"-p", "--png"}]
    if words[:1] == ["-d"]:
        del words[:2]
    if any(word.startswith("-") for word in words):
        raise CommandError("usage: screencap [-hp] [-d display-id] [FILENAME]", 255)
    png = call.phone.screenshot()
    if not words:
        return png
    call.resolve(words[0]).write_bytes(png)
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
    xml = call.phone.dump()
    said = f"UI hierchary dumped to: {path}\n"
    if path == "/dev/tty":
        return xml + said
    call.resolve(path).write_text(xml, encoding="utf-8")
    return said


def run_wm(call: Invocation) -> str:
    """Tell size and density of the screen; they cannot be changed."""
    if call.words == ["size"]:
        return f"Physical size: {WIDTH_PX}x{HEIGHT_PX}\n"
    if call.words == ["density"]:
        return f"Physical density: {DENSITY_DPI}\n"
    if call.words[:1] in (["size"], ["density"]):
        if call.words[1:] == ["reset"]:
            return ""
        raise CommandError(f"Error: the reference phone's {call.words[0]} cannot be changed", 255)
    raise CommandError(f"Unknown command: {' '.join(call.words[:1])}", 255)
