"""Keep what a build said, and pass its progress on."""

from __future__ import annotations

import threading
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self, TextIO

    from images.recipe import Report


def ignore_progress(phase: str, fraction: float | None = None, line: str = "") -> None:
    """Take progress and do nothing with it."""


class BuildLog:
    """A `Report` that writes every line to a file and hands it on.

    Args:
        path: the log; its folder is made.
        onward: who else is told.
    """

    def __init__(self, path: Path, onward: Report) -> None:
        self.path = path
        self._onward = onward
        self._phase = ""
        self._file: TextIO | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("w", encoding="utf-8", errors="replace", buffering=1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        # A disk too full for the log must not hide the build's own error.
        with suppress(OSError) if error is not None else nullcontext():
            if error is not None:
                file.write(f"FAILED: {error}\n")
        with suppress(OSError) if error is not None else nullcontext():
            file.close()

    def __call__(self, phase: str, fraction: float | None = None, line: str = "") -> None:
        """Write a line, with a heading where a new phase begins, and hand it on."""
        with self._lock:
            if self._file is not None:
                if phase and phase != self._phase:
                    self._phase = phase
                    self._file.write(f"== {phase}\n")
                if line:
                    self._file.write(f"{line}\n")
        self._onward(phase, fraction, line)
