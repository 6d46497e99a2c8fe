"""The input and the result of a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from images.phone.device.config import DeviceConfig
    from images.phone.device.machine import PhoneMachine
    from images.phone.device.phone import Phone

EXIT_USAGE = 255

Write = Callable[[bytes], None]
"""Writes a part of a command's standard output."""


class CommandError(Exception):
    """A command failed.

    Args:
        message: for standard error, without the newline at the end.
        exit_code: 1 to 255.
    """

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Result:
    """Exit code and output of a command."""

    exit_code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""


@dataclass(frozen=True)
class Invocation:
    """One call of a command.

    Attributes:
        phone: what it works on.
        config: where the phone's files are.
        cwd: the folder it was called in.
        args: its arguments, without its name.
        machine: the phone as a whole; None when only its state is there.
        skip_input: reads so many bytes of its standard input, and drops them.
    """

    phone: Phone
    config: DeviceConfig
    cwd: Path
    args: list[str]
    machine: PhoneMachine | None = None
    skip_input: Callable[[int], None] = lambda _: None

    def resolve(self, path: str) -> Path:
        """Return the real path of a path as the caller wrote it."""
        return self.config.resolve(path) if path.startswith("/") else self.cwd / path


@dataclass(frozen=True)
class Running:
    """A command that runs until it is done or its caller ends it.

    Attributes:
        ended: set when the caller wants no more.
        write: takes standard output.
    """

    ended: threading.Event
    write: Write


def option_value(args: list[str], name: str, default: str = "") -> str:
    """Return the word after an option; the default when it is not there."""
    return args[args.index(name) + 1] if name in args[:-1] else default
