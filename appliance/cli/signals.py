"""Interrupt a command by SIGINT or SIGTERM, no matter how it was started."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

INTERRUPTED = 130
"""Exit code of a command that was interrupted."""


@contextlib.contextmanager
def interruptible(*, ends_process: bool = False) -> Iterator[None]:
    """Raise `KeyboardInterrupt` in a block when SIGINT or SIGTERM arrives.

    A command that a non-interactive shell starts in the background inherits an ignored SIGINT,
    for which Python does not install a handler. Outside the main thread, where handlers cannot be
    installed, this does nothing.

    Args:
        ends_process: after the block, a signal ends the process at once, without a traceback. At
            that point Python only waits for threads that release machines; the next sweep removes
            what they leave behind, as for a killed process.

    Source: POSIX.1-2024, Shell Command Language, 2.11 Signals and Error Handling.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, _interrupt) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, _end if ends_process else handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
