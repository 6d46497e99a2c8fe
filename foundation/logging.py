"""Configure logging, with context and redaction of secrets.

Modules log with ``logging.getLogger(__name__)``. Each line names the machine and the trial that it
concerns, which the code that works on them sets with `log_context`. Secrets that
`foundation.masking` hides never appear in a line.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

from foundation.masking import mask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

_PACKAGES = (
    "foundation",
    "appliance",
    "images",
    "provisioning",
    "evaluators",
    "monitoring",
    "controller",
)
_FORMAT = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s%(context)s: %(message)s"
_BRIEF_FORMAT = "%(levelname)s %(name)s%(context)s: %(message)s"

_context: ContextVar[Mapping[str, str] | None] = ContextVar("log_context", default=None)


@contextlib.contextmanager
def log_context(**names: str) -> Iterator[None]:
    """Add context to every line that a block logs.

    Args:
        names: such as ``machine="desktop-9c41be"`` or ``trial="dark-style.0"``; added to those of
            enclosing blocks.
    """
    token = _context.set({**(_context.get() or {}), **names})
    try:
        yield
    finally:
        _context.reset(token)


class suppress_logged:  # noqa: N801 - used like contextlib.suppress
    """Suppress errors of a block, and log each of them.

    Args:
        log: logger of the module.
        doing: what the block does, such as ``stop desktop-9c41be``.
        errors: classes of errors that do no harm here.
    """

    def __init__(self, log: logging.Logger, doing: str, *errors: type[BaseException]) -> None:
        self._log = log
        self._doing = doing
        self._errors = errors

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, self._errors):
            return False
        self._log.info("suppressed: could not %s: %s", self._doing, error)
        return True


class ContextFilter(logging.Filter):
    """Adds `log_context` to records, as ``context`` and ``names``, and masks secrets in messages."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Complete a record; return True to keep it."""
        names = _context.get() or {}
        text = " ".join(f"{name}={value}" for name, value in names.items())
        record.context = f" [{text}]" if text else ""
        record.names = dict(names)
        record.msg, record.args = mask(record.getMessage()), ()
        return True


class _Formatter(logging.Formatter):
    """Formats records, with secrets masked in tracebacks too."""

    def formatException(  # noqa: N802 - logging's own name
        self,
        ei: tuple[type[BaseException], BaseException, object] | tuple[None, None, None],
    ) -> str:
        return mask(super().formatException(ei))  # type: ignore[arg-type]


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to the current value of ``sys.stderr`` at the time of each record.

    Args:
        level: minimum level of the records that it accepts.
    """

    def __init__(self, level: int) -> None:
        super().__init__()
        self.setLevel(level)

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, unless it was already printed for people in another form."""
        if getattr(record, "is_printed", False):
            return
        self.stream = sys.stderr
        super().emit(record)


def configure_logging(*, verbose: bool = False) -> None:
    """Send this program's logs to standard error, replacing any previous configuration.

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


def is_verbose() -> bool:
    """Return whether `configure_logging` was called with ``verbose=True``."""
    handlers = logging.getLogger(_PACKAGES[0]).handlers
    return any(
        isinstance(handler, _StderrHandler) and handler.level == logging.DEBUG
        for handler in handlers
    )


@contextlib.contextmanager
def logging_to(handler: logging.Handler, *, level: str) -> Iterator[None]:
    """Also send this program's logs to a handler during a block.

    Args:
        handler: receives records with their context and without secrets.
        level: ``debug``, ``info`` or ``warning``; the output on standard error does not change.
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
