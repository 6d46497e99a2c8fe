"""Log a build's output, and forward its progress."""

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
    """Ignore progress."""


class BuildLog:
    """A `Report` that writes every line to a file and forwards it.

    Args:
        path: the log file; its folder is created.
        onward: the `Report` to forward to.
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
        # A full disk must not hide the build's own error.
        with suppress(OSError) if error is not None else nullcontext():
            if error is not None:
                file.write(f"FAILED: {error}\n" if str(error) else f"{_words(error)}\n")
        with suppress(OSError) if error is not None else nullcontext():
            file.close()

    def __call__(self, phase: str, fraction: float | None = None, line: str = "") -> None:
        """Write a line, with a heading at the start of each phase, and forward it."""
        with self._lock:
            if self._file is not None:
                if phase and phase != self._phase:
                    self._phase = phase
                    self._file.write(f"== {phase}\n")
                if line:
                    self._file.write(f"{line}\n")
        self._onward(phase, fraction, line)


def _words(error: BaseException) -> str:
    return "INTERRUPTED" if isinstance(error, KeyboardInterrupt) else f"FAILED: {error!r}"
