"""Lines of progress for steps that say nothing for minutes, such as the boot of an emulated desktop."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.recipe import Report

MINUTE_S = 60.0


@contextmanager
def telling_minutes(
    report: Report, phase: str, what: str, *, every_s: float = MINUTE_S
) -> Iterator[None]:
    """Report a line for every minute that a block takes.

    Args:
        report: receives the lines.
        phase: their phase.
        what: what is waited for, and how to watch it.
        every_s: seconds between the lines.
    """
    ended = threading.Event()

    def tell() -> None:
        number = 0
        while not ended.wait(every_s):
            number += 1
            report(phase, None, f"{number} min: {what}")

    thread = threading.Thread(target=tell, name="minutes", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
