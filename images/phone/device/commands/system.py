"""The command ``cmd``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from images.phone.device.apps.settings import DARK, LIGHT
from images.phone.device.commands.activity import run_am
from images.phone.device.commands.base import CommandError
from images.phone.device.commands.package import run_pm
from images.phone.device.commands.settings import run_settings

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation


def run_cmd(call: Invocation) -> str:
    """Carry out ``cmd``: the services that other commands stand for, and ``uimode``."""
    name, *words = call.words or [""]
    inner = replace(call, words=words)
    if name == "package":
        return run_pm(inner)
    if name == "activity":
        return run_am(inner)
    if name == "settings":
        return run_settings(inner)
    if name == "uimode" and words[:1] == ["night"]:
        return _night(call, words[1:])
    if name == "-l":
        return "Currently running services:\n  activity\n  package\n  settings\n  uimode\n"
    raise CommandError(f"cmd: Can't find service: {name}", 20)


def _night(call: Invocation, words: list[str]) -> str:
    values = {"yes": DARK, "no": LIGHT}
    with call.phone.event():
        if words:
            if words[0] not in values:
                raise CommandError("Error: mode must be yes or no", 255)
            call.phone.store.put_setting("secure", "ui_night_mode", values[words[0]])
        is_dark = call.phone.store.setting("secure", "ui_night_mode") == DARK
    return f"Night mode: {'yes' if is_dark else 'no'}\n"
