"""All commands by name."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from images.phone.device.commands.account import run_account
from images.phone.device.commands.activity import run_am
from images.phone.device.commands.base import CommandError, Invocation, Result, Running
from images.phone.device.commands.content import run_content
from images.phone.device.commands.dumpsys import run_dumpsys
from images.phone.device.commands.input import run_input
from images.phone.device.commands.keyboards import run_ime
from images.phone.device.commands.logcat import follow_log, follows, run_log, run_logcat
from images.phone.device.commands.monkey import run_monkey
from images.phone.device.commands.network import run_ifconfig, run_ip
from images.phone.device.commands.package import run_pm
from images.phone.device.commands.power import run_reboot, run_svc
from images.phone.device.commands.record import run_screenrecord
from images.phone.device.commands.screen import run_screencap, run_uiautomator, run_wm
from images.phone.device.commands.services import run_cmd, run_service
from images.phone.device.commands.settings import run_getprop, run_setprop, run_settings
from images.phone.device.commands.touchscreen import run_getevent, run_sendevent

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from images.phone.device.commands.base import Write
    from images.phone.device.config import DeviceConfig
    from images.phone.device.machine import PhoneMachine
    from images.phone.device.phone import Phone

COMMANDS: dict[str, Callable[[Invocation], str | bytes]] = {
    "account": run_account,
    "am": run_am,
    "cmd": run_cmd,
    "content": run_content,
    "dumpsys": run_dumpsys,
    "getevent": run_getevent,
    "getprop": run_getprop,
    "ifconfig": run_ifconfig,
    "ime": run_ime,
    "input": run_input,
    "ip": run_ip,
    "log": run_log,
    "logcat": run_logcat,
    "monkey": run_monkey,
    "pm": run_pm,
    "reboot": run_reboot,
    "screencap": run_screencap,
    "screenrecord": lambda call: run_screenrecord(call, None),
    "sendevent": run_sendevent,
    "service": run_service,
    "setprop": run_setprop,
    "settings": run_settings,
    "svc": run_svc,
    "uiautomator": run_uiautomator,
    "wm": run_wm,
}

LIVE: dict[str, Callable[[Invocation, Running], str | bytes]] = {
    "logcat": follow_log,
    "screenrecord": run_screenrecord,
}
"""Commands that can run until they are ended, which only the shell's executables support."""


class Commands:
    """Run commands on one phone.

    Args:
        phone: state of the phone.
        config: paths of its files.
        machine: the phone as a whole, for commands that reboot it.
    """

    def __init__(
        self, phone: Phone, config: DeviceConfig, machine: PhoneMachine | None = None
    ) -> None:
        self._phone = phone
        self._config = config
        self._machine = machine

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def is_live(self, argv: list[str]) -> bool:
        """Return whether a command runs until it is ended."""
        name, *args = argv or [""]
        return name in LIVE and (name != "logcat" or follows(args))

    def run(
        self, argv: list[str], cwd: Path, skip_input: Callable[[int], None] = lambda _: None
    ) -> Result:
        """Run one command line; never raises.

        Args:
            argv: name and arguments.
            cwd: working directory of the caller.
            skip_input: reads and discards a number of bytes of standard input.
        """
        name, *args = argv or [""]
        if name not in COMMANDS:
            return Result(127, b"", f"/system/bin/sh: {name}: inaccessible or not found\n".encode())
        call = Invocation(self._phone, self._config, cwd, args, self._machine, skip_input)
        return _carry_out(name, lambda: COMMANDS[name](call))

    def run_live(self, argv: list[str], cwd: Path, ended: threading.Event, write: Write) -> Result:
        """Run a command that continues until it is ended; never raises.

        Args:
            argv: name and arguments.
            cwd: working directory of the caller.
            ended: set when the caller ends the command.
            write: receives its output.
        """
        name, *args = argv
        call = Invocation(self._phone, self._config, cwd, args, self._machine)
        return _carry_out(name, lambda: LIVE[name](call, Running(ended, write)))


def _carry_out(name: str, work: Callable[[], str | bytes]) -> Result:
    try:
        output = work()
    except CommandError as exc:
        return _failed(str(exc), exc.exit_code)
    except OSError as exc:
        return _failed(f"{name}: {exc.filename or ''}: {exc.strerror or exc}", 1)
    except (ValueError, sqlite3.Error, OverflowError) as exc:
        return _failed(f"{name}: {exc}", 1)
    raw = output if isinstance(output, bytes) else output.encode(errors="surrogateescape")
    return Result(0, raw)


def _failed(args: str, exit_code: int) -> Result:
    return Result(exit_code, b"", f"{args}\n".encode(errors="replace") if args else b"")
