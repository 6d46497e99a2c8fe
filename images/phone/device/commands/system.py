"""The commands ``pm``, ``cmd`` and ``svc``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import APPS, CONTACTS, TASKS
from images.phone.device.apps.settings import DARK, LIGHT
from images.phone.device.commands.activity import run_am
from images.phone.device.commands.base import CommandError
from images.phone.device.commands.settings import run_settings

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_TABLES = {TASKS: ("task",), CONTACTS: ("contact_data", "contact")}


def run_pm(call: Invocation) -> str:
    """Carry out ``pm``."""
    name, *words = call.words or [""]
    if name == "list" and words[:1] == ["packages"]:
        return _list_packages(words[1:])
    if name == "path" and words:
        if words[-1] in APPS:
            return f"package:/system/app/{APPS[words[-1]].label}.apk\n"
        raise CommandError("")
    if name == "clear" and words:
        return _clear(call, words[-1])
    raise CommandError(f"Unknown command: {name}", 255)


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


def run_svc(call: Invocation) -> str:
    """Switch Wi-Fi or Bluetooth on and off."""
    keys = {"wifi": "wifi_on", "bluetooth": "bluetooth_on"}
    if len(call.words) != 2 or call.words[0] not in keys:  # noqa: PLR2004
        raise CommandError("usage: svc wifi|bluetooth enable|disable")
    values = {"enable": "1", "disable": "0"}
    if call.words[1] not in values:
        raise CommandError("usage: svc wifi|bluetooth enable|disable")
    with call.phone.event():
        call.phone.store.put_setting("global", keys[call.words[0]], values[call.words[1]])
    return ""


def _list_packages(words: list[str]) -> str:
    wanted = [word for word in words if not word.startswith("-")]
    if "-3" in words:
        return ""
    names = sorted(name for name in APPS if all(word in name for word in wanted))
    if "-f" in words:
        return "".join(f"package:/system/app/{APPS[name].label}.apk={name}\n" for name in names)
    return "".join(f"package:{name}\n" for name in names)


def _clear(call: Invocation, package: str) -> str:
    if package not in APPS:
        raise CommandError("Failed")
    with call.phone.event():
        call.phone.stop(package)
        for table in _TABLES.get(package, ()):
            call.phone.store.change(f"DELETE FROM {table}")  # noqa: S608 - from the table above
    return "Success\n"


def _night(call: Invocation, words: list[str]) -> str:
    values = {"yes": DARK, "no": LIGHT}
    with call.phone.event():
        if words:
            if words[0] not in values:
                raise CommandError("Error: mode must be yes or no", 255)
            call.phone.store.put_setting("secure", "ui_night_mode", values[words[0]])
        is_dark = call.phone.store.setting("secure", "ui_night_mode") == DARK
    return f"Night mode: {'yes' if is_dark else 'no'}\n"
