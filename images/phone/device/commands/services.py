"""The commands ``cmd`` and ``service``: system services by name.

Source: AOSP ``cmd.cpp``, ``NotificationShellCmd.java``, ``StatusBarShellCommand.java``,
``ClipboardService.java``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from images.phone.device.apps.settings import DARK, LIGHT
from images.phone.device.commands.activity import run_am
from images.phone.device.commands.base import CommandError, option_value
from images.phone.device.commands.battery import run_battery
from images.phone.device.commands.dumpsys import SERVICES
from images.phone.device.commands.keyboards import run_ime
from images.phone.device.commands.notices import SHELL, notification_keys
from images.phone.device.commands.package import run_pm
from images.phone.device.commands.screen import run_wm
from images.phone.device.commands.settings import run_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.commands.base import Invocation

_NO_SERVICE = 20


def run_cmd(call: Invocation) -> str:
    """Run ``cmd``."""
    name, *args = call.args or [""]
    inner = replace(call, args=args)
    known: dict[str, Callable[[Invocation], str]] = {
        "activity": run_am,
        "alarm": _alarm,
        "battery": run_battery,
        "bluetooth_manager": _bluetooth,
        "clipboard": _clipboard,
        "connectivity": _connectivity,
        "input_method": run_ime,
        "notification": _notification,
        "package": run_pm,
        "settings": run_settings,
        "statusbar": _status_bar,
        "uimode": _night,
        "wifi": _wifi,
        "window": run_wm,
    }
    if name in {"-l", ""}:
        return "Currently running services:\n" + "".join(
            f"  {service}\n" for service in sorted(known)
        )
    if name not in known:
        raise CommandError(f"cmd: Can't find service: {name}", _NO_SERVICE)
    return known[name](inner)


def _alarm(call: Invocation) -> str:
    """Run ``cmd alarm set-time MILLISECONDS``, which sets the clock.

    Source: AOSP ``AlarmManagerService.java``.
    """
    match call.args:
        case ["set-time", moment] if moment.isdigit():
            call.phone.set_clock(int(moment) / 1000)
            return "true\n"
    raise CommandError("usage: cmd alarm set-time MILLISECONDS")


def run_service(call: Invocation) -> str:
    """Run ``service list`` and ``service check``."""
    if call.args == ["list"]:
        head = f"Found {len(SERVICES)} services:\n"
        return head + "".join(f"{index}\t{name}: []\n" for index, name in enumerate(SERVICES))
    if call.args[:1] == ["check"] and call.args[1:]:
        state = "found" if call.args[1] in SERVICES else "not found"
        return f"Service {call.args[1]}: {state}\n"
    raise CommandError("usage: service list|check NAME", 10)


def _night(call: Invocation) -> str:
    if call.args[:1] != ["night"]:
        raise CommandError("UiModeManager service (uimode) commands:\n  night [yes|no]", 255)
    values = {"yes": DARK, "no": LIGHT}
    with call.phone.event():
        for word in call.args[1:2]:
            if word not in values:
                raise CommandError("Error: mode must be yes or no", 255)
            call.phone.store.put_setting("secure", "ui_night_mode", values[word])
        is_dark = call.phone.store.setting("secure", "ui_night_mode") == DARK
    return f"Night mode: {'yes' if is_dark else 'no'}\n"


def _switch(call: Invocation, key: str, values: dict[str, str]) -> str:
    with call.phone.event():
        call.phone.store.put_setting("global", key, values[call.args[-1]])
    return ""


def _wifi(call: Invocation) -> str:
    values = {"enabled": "1", "disabled": "0"}
    if call.args == ["status"]:
        is_on = call.phone.store.setting("global", "wifi_on") == "1"
        return f"Wifi is {'enabled' if is_on else 'disabled'}\n"
    if len(call.args) == 2 and call.args[0] == "set-wifi-enabled" and call.args[1] in values:  # noqa: PLR2004
        return _switch(call, "wifi_on", values)
    raise CommandError("Wi-Fi (wifi) commands:\n  status\n  set-wifi-enabled enabled|disabled", 255)


def _bluetooth(call: Invocation) -> str:
    values = {"enable": "1", "disable": "0"}
    if len(call.args) == 1 and call.args[0] in values:
        return _switch(call, "bluetooth_on", values)
    raise CommandError("Bluetooth Manager Commands:\n  enable\n  disable", 255)


def _connectivity(call: Invocation) -> str:
    values = {"enable": "1", "disable": "0"}
    if call.args == ["airplane-mode"]:
        is_on = call.phone.store.setting("global", "airplane_mode_on") == "1"
        return f"{'enabled' if is_on else 'disabled'}\n"
    if len(call.args) == 2 and call.args[0] == "airplane-mode" and call.args[1] in values:  # noqa: PLR2004
        return _switch(call, "airplane_mode_on", values)
    raise CommandError("Connectivity service commands:\n  airplane-mode [enable|disable]", 255)


def _clipboard(call: Invocation) -> str:
    match call.args:
        case ["get-primary-clip" | "get"]:
            return f"{call.phone.clipboard}\n"
        case ["set-primary-clip" | "set", *args] if args:
            call.phone.clipboard = " ".join(args)
            return ""
        case ["clear-primary-clip" | "clear"]:
            call.phone.clipboard = ""
            return ""
    raise CommandError(
        "Clipboard service (clipboard) commands:\n"
        "  get-primary-clip\n  set-primary-clip TEXT\n  clear-primary-clip",
        255,
    )


def _notification(call: Invocation) -> str:
    name, *args = call.args or [""]
    if name == "list":
        return "".join(f"{key}\n" for key in notification_keys(call.phone))
    if name == "post" and len(args) > 1:
        title = option_value(args, "-t") or option_value(args, "--title")
        values = {option_value(args, key) for key in ("-t", "--title", "-S", "--style", "-i")}
        rest = [word for word in args if not word.startswith("-") and word not in values]
        if len(rest) < 2:  # noqa: PLR2004
            raise CommandError("usage: cmd notification post [-t TITLE] TAG TEXT", 255)
        call.phone.notify(SHELL, title or rest[0], " ".join(rest[1:]), tag=rest[0])
        return f"posting:\n  {rest[0]}: {' '.join(rest[1:])}\n"
    raise CommandError("usage: cmd notification list\n       cmd notification post ...", 255)


def _status_bar(call: Invocation) -> str:
    name = "".join(call.args[:1])
    if name in {"expand-notifications", "expand-settings"}:
        call.phone.expand_shade()
    elif name == "collapse":
        call.phone.collapse_shade()
    else:
        raise CommandError(
            "Status bar commands:\n  expand-notifications\n  expand-settings\n  collapse", 255
        )
    return ""
