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
"""A function that writes part of a command's standard output."""


class CommandError(Exception):
    """A command failed.

    Args:
        message: text for standard error, without a trailing newline.
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
        phone: state of the phone.
        config: paths of the phone's files.
        cwd: working directory of the caller.
        args: arguments, without the command's name.
        machine: the phone as a whole; None if only its state is available.
        skip_input: reads and discards a number of bytes of standard input.
    """

    phone: Phone
    config: DeviceConfig
    cwd: Path
    args: list[str]
    machine: PhoneMachine | None = None
    skip_input: Callable[[int], None] = lambda _: None

    def resolve(self, path: str) -> Path:
        """Return the real path of a path given by the caller."""
        return self.config.resolve(path) if path.startswith("/") else self.cwd / path


@dataclass(frozen=True)
class Running:
    """A command that runs until it is done or its caller ends it.

    Attributes:
        ended: set when the caller ends the command.
        write: receives standard output.
    """

    ended: threading.Event
    write: Write


def option_value(args: list[str], name: str, default: str = "") -> str:
    """Return the value after an option, or the default."""
    return args[args.index(name) + 1] if name in args[:-1] else default
