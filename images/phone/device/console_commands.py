"""The console's commands, except login and quit.

Source: Android Studio's *Send emulator console commands*; AOSP ``external/qemu/android/console.c``
for arguments and answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from images.phone.device.commands.battery import DEVICE, battery, put_battery
from images.phone.device.names import check_names
from images.phone.device.telephony import OFFHOOK, RINGING

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.machine import PhoneMachine
    from images.phone.device.phone import Phone

SNAPSHOT_HELP = """allows you to save and restore the virtual device state in snapshots

available sub-commands:
    list             list available state snapshots
    save             save state snapshot
    load             load state snapshot
    delete           delete state snapshot
"""
_NUMBER = re.compile(r"[+0-9*#()\-]{1,40}")
_ESCAPE = re.compile(r"\\(n|t|\\|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})")
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}
_GEO_LIMITS = {"longitude": 180.0, "latitude": 90.0, "altitude": 100_000.0}
_MAX_TEXT_CHARS = 2000
# Numbers as in BatteryManager.
_STATUSES = {"unknown": 1, "charging": 2, "discharging": 3, "not-charging": 4, "full": 5}
_HEALTHS = {"unknown": 1, "good": 2, "overheat": 3, "dead": 4, "overvoltage": 5, "failure": 6}
_CALL_STATES = {RINGING: "incoming", OFFHOOK: "active"}


class RefusedError(Exception):
    """A command failed; the console replies KO with this message."""


class ConsoleCommands:
    """The commands of an authenticated session.

    Args:
        name: name of the phone.
        machine: the phone as a whole.
        phone: state of the phone.
    """

    def __init__(self, name: str, machine: PhoneMachine, phone: Phone) -> None:
        self._name = name
        self._machine = machine
        self._phone = phone
        self.known: dict[str, Callable[[str], str]] = {
            "avd": self._avd,
            "event": self._event,
            "geo": self._geo,
            "gsm": self._gsm,
            "names": self._names,
            "ping": lambda _: "I am alive!\n",
            "power": self._power,
            "rotate": self._rotate,
            "sms": self._sms,
        }
        """Commands by name; each takes the rest of the line and returns the lines before ``OK``."""

    def _avd(self, rest: str) -> str:
        match rest.split():
            case ["name"]:
                return f"{self._name}\n"
            case ["status"]:
                return "virtual device is running\n"
            case ["snapshot", *args]:
                return self._snapshot(args)
        raise RefusedError("bad sub-command: try 'avd name|status|snapshot'")

    def _snapshot(self, args: list[str]) -> str:
        match args:
            case ["list"]:
                return _list(self._machine.snapshot_names())
            case ["save", name]:
                self._machine.save(name)
            case ["load", name]:
                self._machine.load(name)
            case ["delete" | "del", name]:
                self._machine.delete_snapshot(name)
            case ["save" | "load" | "delete" | "del"]:
                raise RefusedError("argument missing, try 'avd snapshot save <name>'")
            case []:
                return SNAPSHOT_HELP
            case _:
                raise RefusedError("bad sub-command")
        return ""

    def _event(self, rest: str) -> str:
        verb, _, text = rest.partition(" ")
        if verb != "text" or not text:
            raise RefusedError("bad sub-command: try 'event text <message>'")
        self._phone.type(_unescape(text))
        return ""

    def _geo(self, rest: str) -> str:
        verb, *args = rest.split() or [""]
        if verb != "fix" or not 2 <= len(args) <= 5:  # noqa: PLR2004
            raise RefusedError("usage: geo fix <longitude> <latitude> [<altitude>]")
        numbers = {}
        for (name, limit), word in zip(_GEO_LIMITS.items(), args, strict=False):
            try:
                numbers[name] = float(word)
            except ValueError as exc:
                raise RefusedError(f"argument '{word}' is not a number") from exc
            if not abs(numbers[name]) <= limit:
                raise RefusedError(f"the {name} {word} is not within {limit:g}")
        with self._phone.event():
            for name, number in numbers.items():
                self._phone.store.put_setting(DEVICE, f"geo.{name}", f"{number:.6f}")
        return ""

    def _sms(self, rest: str) -> str:
        verb, _, message = rest.partition(" ")
        number, _, text = message.strip().partition(" ")
        if verb != "send" or not text:
            raise RefusedError("missing argument, try 'sms send <phonenumber> <text message>'")
        self._phone.telephony.receive_sms(_check_number(number), _unescape(text)[:_MAX_TEXT_CHARS])
        return ""

    def _gsm(self, rest: str) -> str:
        line = self._phone.telephony
        match rest.split():
            case ["list"]:
                state = "held" if line.is_held else _CALL_STATES.get(line.state, "")
                return f"inbound from  {line.number:<10} : {state}\n" if line.number else ""
            case ["status"]:
                return "gsm voice state: home\ngsm data state:  home\n"
            case ["call", number]:
                if line.number:
                    raise RefusedError("the line is busy")
                line.receive_call(_check_number(number))
                return ""
            case ["accept" | "busy" | "cancel" | "hold" as verb, number]:
                if _check_number(number) != line.number:
                    raise RefusedError(f"no current call to/from number '{number}'")
                {"accept": line.answer, "hold": line.hold}.get(verb, line.end)()
                return ""
        raise RefusedError("usage: gsm call|accept|busy|cancel|hold <phonenumber>, gsm list|status")

    def _names(self, rest: str) -> str:
        """Replace the names that lead to the phone's own ports; not a command of emulators."""
        try:
            names = check_names(rest.split())
        except ValueError as exc:
            raise RefusedError(str(exc)) from exc
        with self._phone.event():
            self._phone.names = names
        return ""

    def _power(self, rest: str) -> str:
        match rest.split():
            case ["display"]:
                return self._describe_power()
            case ["ac", "on" | "off" as state]:
                return self._put_battery("ac", str(state == "on").lower())
            case ["present", "true" | "false" as state]:
                return self._put_battery("present", state)
            case ["status", state] if state in _STATUSES:
                return self._put_battery("status", str(_STATUSES[state]))
            case ["health", state] if state in _HEALTHS:
                return self._put_battery("health", str(_HEALTHS[state]))
            case ["capacity", level] if level.isascii() and level.isdigit() and int(level) <= 100:  # noqa: PLR2004
                return self._put_battery("level", str(int(level)))
        raise RefusedError(
            "usage: power display | ac on|off | status charging|discharging|full|not-charging|"
            "unknown | present true|false | health good|... | capacity <0 to 100>"
        )

    def _put_battery(self, key: str, value: str) -> str:
        with self._phone.event():
            put_battery(self._phone.store, key, value)
        return ""

    def _describe_power(self) -> str:
        now = battery(self._phone.store)
        status = next(name for name, n in _STATUSES.items() if str(n) == now["status"])
        health = next(name for name, n in _HEALTHS.items() if str(n) == now["health"])
        return (
            f"AC: {'online' if now['ac'] == 'true' else 'offline'}\nstatus: {status.title()}\n"
            f"health: {health.title()}\npresent: {now['present']}\ncapacity: {now['level']}\n"
        )

    def _rotate(self, rest: str) -> str:
        if rest:
            raise RefusedError("'rotate' takes no argument")
        self._phone.rotate()
        return ""


def _check_number(text: str) -> str:
    if not _NUMBER.fullmatch(text):
        raise RefusedError(f"bad phone number format '{text[:40]}', use digits, # and + only")
    return text


def _unescape(text: str) -> str:
    """Replace the escape sequences of a backslash with n, t, xHH or uHHHH."""

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        return _PLAIN_ESCAPES.get(name) or chr(int(name[1:], 16))

    return _ESCAPE.sub(replace, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _list(names: list[str]) -> str:
    """Return the table that the emulator prints."""
    if not names:
        return "There is no snapshot available.\n"
    head = "List of snapshots present on all disks:\nID        TAG                 VM SIZE\n"
    return head + "".join(f"--        {name}\n" for name in names)
