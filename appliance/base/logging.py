"""Logs for people who look for a cause: context, redaction, and one place that configures them.

Modules log by ``logging.getLogger(__name__)``. Each line names the machine and the trial that it is
about, which whoever works on them sets by `log_context`. What `appliance.base.masking` hides never
reaches a line.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

from appliance.base.masking import mask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PACKAGES = ("appliance", "images", "provisioning", "evaluators", "monitoring", "controller")
_FORMAT = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s%(context)s: %(message)s"
_BRIEF_FORMAT = "%(levelname)s %(name)s%(context)s: %(message)s"

_context: ContextVar[Mapping[str, str] | None] = ContextVar("log_context", default=None)


@contextlib.contextmanager
def log_context(**names: str) -> Iterator[None]:
    """Name what a block works on in every line that it logs.

    Args:
        names: such as ``machine="desktop-9c41be"`` or ``trial="dark-style.0"``; added to those of
            the blocks around.
    """
    token = _context.set({**(_context.get() or {}), **names})
    try:
        yield
    finally:
        _context.reset(token)


class ContextFilter(logging.Filter):
    """Adds `log_context` to records, as ``context`` and ``names``, and takes secrets out of messages."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Complete a record; never drop it."""
        names = _context.get() or {}
        text = " ".join(f"{name}={value}" for name, value in names.items())
        record.context = f" [{text}]" if text else ""
        record.names = dict(names)
        record.msg, record.args = mask(record.getMessage()), ()
        return True


class _Formatter(logging.Formatter):
    """Formats records; tracebacks lose their secrets, too."""

    def formatException(  # noqa: N802 - logging's own name
        self,
        ei: tuple[type[BaseException], BaseException, object] | tuple[None, None, None],
    ) -> str:
        return mask(super().formatException(ei))  # type: ignore[arg-type]


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to whatever standard error is when a record comes.

    Args:
        level: of the records that it takes.
    """

    def __init__(self, level: int) -> None:
        super().__init__()
        self.setLevel(level)

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, unless people were told in another form."""
        if getattr(record, "is_printed", False):
            return
        self.stream = sys.stderr
        super().emit(record)


def configure_logging(*, verbose: bool = False) -> None:
    """Send this program's logs to standard error, instead of what was configured before.

    Args:
        verbose: include every host command and QMP exchange; else warnings and errors only.
    """
    handler = _StderrHandler(level=logging.DEBUG if verbose else logging.WARNING)
    handler.addFilter(ContextFilter())
    handler.setFormatter(_Formatter(_FORMAT if verbose else _BRIEF_FORMAT, "%H:%M:%S"))
    for name in _PACKAGES:
        logger = logging.getLogger(name)
        for previous in logger.handlers[:]:
            if isinstance(previous, _StderrHandler):
                logger.removeHandler(previous)
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG if verbose else logging.NOTSET)


@contextlib.contextmanager
def logging_to(handler: logging.Handler, *, level: str) -> Iterator[None]:
    """Send this program's logs to a handler, too, for the length of a block.

    Args:
        handler: takes records that have their context, and no secrets.
        level: ``debug``, ``info`` or ``warning``; standard error gets what it gets without.
    """
    handler.setLevel(level.upper())
    handler.addFilter(ContextFilter())
    loggers = [logging.getLogger(name) for name in _PACKAGES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(min(logger.getEffectiveLevel(), handler.level))
    try:
        yield
    finally:
        for logger, before in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(before)
