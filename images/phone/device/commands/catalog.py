"""All commands by name."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from images.phone.device.commands.activity import run_am, run_monkey
from images.phone.device.commands.base import CommandError, Invocation, Result
from images.phone.device.commands.content import run_content
from images.phone.device.commands.dumpsys import run_dumpsys
from images.phone.device.commands.input import run_input
from images.phone.device.commands.screen import run_screencap, run_uiautomator, run_wm
from images.phone.device.commands.settings import run_getprop, run_setprop, run_settings
from images.phone.device.commands.system import run_cmd, run_pm, run_svc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from images.phone.device.config import DeviceConfig
    from images.phone.device.phone import Phone

COMMANDS: dict[str, Callable[[Invocation], str | bytes]] = {
    "am": run_am,
    "cmd": run_cmd,
    "content": run_content,
    "dumpsys": run_dumpsys,
    "getprop": run_getprop,
    "input": run_input,
    "monkey": run_monkey,
    "pm": run_pm,
    "screencap": run_screencap,
    "setprop": run_setprop,
    "settings": run_settings,
    "svc": run_svc,
    "uiautomator": run_uiautomator,
    "wm": run_wm,
}


class Commands:
    """Carry out commands on one phone.

    Args:
        phone: what they work on.
        config: where its files are.
    """

    def __init__(self, phone: Phone, config: DeviceConfig) -> None:
        self._phone = phone
        self._config = config

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def run(self, argv: list[str], cwd: Path) -> Result:
        """Carry out one command line; never raises.

        Args:
            argv: name and arguments.
            cwd: the folder it was called in.
        """
        name, *words = argv or [""]
        if name not in COMMANDS:
            return Result(127, b"", f"/system/bin/sh: {name}: inaccessible or not found\n".encode())
        try:
            said = COMMANDS[name](Invocation(self._phone, self._config, cwd, words))
        except CommandError as exc:
            return _failed(str(exc), exc.exit_code)
        except OSError as exc:
            return _failed(f"{name}: {exc.filename or ''}: {exc.strerror or exc}", 1)
        except (ValueError, sqlite3.Error, OverflowError) as exc:
            return _failed(f"{name}: {exc}", 1)
        raw = said if isinstance(said, bytes) else said.encode(errors="surrogateescape")
        return Result(0, raw)


def _failed(words: str, exit_code: int) -> Result:
    return Result(exit_code, b"", f"{words}\n".encode(errors="replace"))
