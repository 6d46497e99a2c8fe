"""``dumpsys battery`` and ``cmd battery``: the state of the battery, real or simulated.

Source: AOSP ``BatteryService.java``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.commands.base import EXIT_USAGE, CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation
    from images.phone.device.store.database import Store

DEVICE = "device"
"""Namespace of the battery and location settings; not accessible to the ``settings`` command."""

BATTERY = {
    "ac": "true",
    "health": "2",
    "level": "100",
    "present": "true",
    "status": "2",
}
"""The initial state of the battery; numbers as in ``BatteryManager``."""

_MAX_NUMBER = 100
_TRUTH = {"0": "false", "1": "true"}
_USAGE = """Battery service (battery) commands:
  get [-f] [ac|health|level|present|status]
  set [-f] [ac|health|level|present|status] <value>
  unplug [-f]
  reset [-f]"""


def battery(store: Store) -> dict[str, str]:
    """Return the state of the battery."""
    return {key: store.setting(DEVICE, f"battery.{key}", value) for key, value in BATTERY.items()}


def put_battery(store: Store, key: str, value: str) -> None:
    """Set a value of the battery's state."""
    store.put_setting(DEVICE, f"battery.{key}", value)


def run_battery(call: Invocation) -> str:
    """Run the arguments of ``cmd battery`` or ``dumpsys battery``."""
    args = [word for word in call.args if word != "-f"]
    with call.phone.event():
        store = call.phone.store
        match args:
            case ["get", key] if key in BATTERY:
                return f"{battery(store)[key]}\n"
            case ["set", "ac" | "present" as key, value] if value in _TRUTH:
                put_battery(store, key, _TRUTH[value])
            case ["set", "health" | "level" | "status" as key, value] if _is_number(value):
                put_battery(store, key, str(int(value)))
            case ["unplug"]:
                put_battery(store, "ac", "false")
            case ["reset"]:
                for key in BATTERY:
                    store.delete_setting(DEVICE, f"battery.{key}")
            case _:
                raise CommandError(_USAGE, EXIT_USAGE)
    return ""


def describe_battery(call: Invocation) -> str:
    """Return the output of ``dumpsys battery``."""
    now = battery(call.phone.store)
    return (
        f"Current Battery Service state:\n  AC powered: {now['ac']}\n  USB powered: false\n"
        f"  Wireless powered: false\n  Dock powered: false\n  Max charging current: 0\n"
        f"  Max charging voltage: 0\n  Charge counter: {int(now['level']) * 40000}\n"
        f"  status: {now['status']}\n  health: {now['health']}\n  present: {now['present']}\n"
        f"  level: {now['level']}\n  scale: 100\n  voltage: 5000\n  temperature: 250\n"
        "  technology: Li-ion\n"
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= _MAX_NUMBER  # noqa: PLR2004
