"""Log the commands that were run, how they ended, and their errors."""

from __future__ import annotations

import contextlib
import logging
import os
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import SettingsError, UsageError
from foundation.log_file import LogFileHandler
from foundation.logging import logging_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foundation.errors import MesocosmError
    from foundation.settings import Settings

HELP = frozenset({"--help", "-h", "--version"})
"""Arguments that make a command only describe itself."""

_REMOVER = "down"
"""Command that must not leave a log behind."""

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def logged(arguments: Sequence[str], *, verbose: bool) -> Iterator[Callable[[int], None]]:
    """Write a command's log records to the appliance's log; yield a callback for its exit code.

    Nothing is written if there is no appliance yet, nor by the command that shows the log. The
    command that may remove the appliance does not create a log.

    Args:
        arguments: of the program.
        verbose: log every host command and QMP exchange, regardless of the settings.
    """
    settings = _settings(arguments)
    if settings is None:
        yield lambda _code: None
        return
    command = _command_path(arguments)
    handler = LogFileHandler(settings.logs_dir, command[0], makes_folder=command[0] != _REMOVER)
    start_s = SYSTEM_CLOCK.monotonic_s()

    def log_end(code: int) -> None:
        if code in {0, UsageError.exit_code} and not _has_log():
            return
        seconds = SYSTEM_CLOCK.monotonic_s() - start_s
        text = "mesocosm %s ended with exit code %d after %.1f s"
        _log.info(text, " ".join(command), code, seconds)

    with logging_to(handler, level="debug" if verbose else settings.log_level):
        _log.debug("mesocosm %s began", " ".join(command))
        yield log_end


def log_error(error: MesocosmError, *, with_traceback: bool) -> None:
    """Log an error that was printed; wrong usage is not logged as an error of the appliance.

    Args:
        error: of the command.
        with_traceback: include the traceback of the exception that is being handled.
    """
    level = logging.INFO if error.exit_code == UsageError.exit_code else logging.ERROR
    if level == logging.INFO and not _has_log():
        return
    text = " ".join(part for part in (error.brief, error.details) if part)
    _log.log(level, "%s: %s", error.code, text, exc_info=with_traceback, extra={"is_printed": True})


def _has_log() -> bool:
    """Return whether the log exists: records unrelated to the appliance do not create it."""
    from foundation.settings import get_settings

    try:
        return get_settings().logs_dir.is_dir()
    except (SettingsError, PermissionError):
        return False


def _settings(arguments: Sequence[str]) -> Settings | None:
    """Return the settings of the appliance to log to; None if nothing is to be logged."""
    is_help = "_MESOCOSM_COMPLETE" in os.environ or HELP.intersection(arguments)
    if is_help or not arguments or arguments[0].startswith("-") or arguments[0] == "logs":
        return None
    from foundation.settings import get_settings

    try:
        settings = get_settings()
    except SettingsError:  # the command reports what is wrong with the environment
        return None
    is_writable = os.access(settings.state_dir, os.W_OK | os.X_OK)
    return settings if is_writable else None


def _command_path(arguments: Sequence[str]) -> list[str]:
    """Return the arguments before the first option: options may hold secrets."""
    first = next((at for at, text in enumerate(arguments) if text.startswith("-")), None)
    return list(arguments[:first])
