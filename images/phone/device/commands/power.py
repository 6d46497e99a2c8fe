"""The commands ``svc`` and ``reboot``.

Source: AOSP ``frameworks/base/cmds/svc``, ``system/core/reboot``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_RADIOS = {"wifi": "wifi_on", "bluetooth": "bluetooth_on", "data": "mobile_data", "nfc": "nfc_on"}
_STATES = {"enable": "1", "disable": "0"}
_STAY_ON = {"true": "7", "false": "0", "usb": "2", "ac": "1", "wireless": "4"}
_USAGE = """Available commands:
    svc bluetooth|data|nfc|wifi enable|disable
    svc power stayon true|false|usb|ac|wireless
    svc power reboot"""


def run_svc(call: Invocation) -> str:
    """Switch radios on and off, keep the screen on, or reboot the phone."""
    match call.args:
        case [radio, state] if radio in _RADIOS and state in _STATES:
            key, value = _RADIOS[radio], _STATES[state]
        case ["power", "stayon", state] if state in _STAY_ON:
            key, value = "stay_on_while_plugged_in", _STAY_ON[state]
        case ["power", "reboot", *_]:
            return run_reboot(call)
        case _:
            raise CommandError(_USAGE)
    with call.phone.event():
        call.phone.store.put_setting("global", key, value)
    return ""


def run_reboot(call: Invocation) -> str:
    """Reboot the phone: all processes end and every host is disconnected."""
    target = "".join(word for word in call.args if word not in {"power", "reboot"})
    if target or call.machine is None:
        raise CommandError(f"reboot: the reference phone has no mode '{target}'")
    call.machine.reboot()
    return ""
