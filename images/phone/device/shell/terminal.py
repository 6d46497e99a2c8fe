"""A pseudo-terminal for interactive shells."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import struct
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from types import TracebackType

_SIZE = re.compile(rb"(\d{1,5})x(\d{1,5}),(\d{1,5})x(\d{1,5})")
_END_OF_INPUT = b"\x04"
_POLL_S = 0.1


class Terminal:
    """The master side of a pseudo-terminal; a context manager that closes it.

    Attributes:
        path: of the side that the command gets.
    """

    def __init__(self) -> None:
        self._master, slave = os.openpty()
        self.path = os.ttyname(slave)
        # Kept open: without any opener the master would read an error before the command starts.
        self._slave = slave
        self._child: subprocess.Popen[bytes] | None = None
        self._is_over: Callable[[], bool] = lambda: False

    def __enter__(self) -> Terminal:  # noqa: PYI034 - Self is of 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        master, self._master = self._master, -1
        os.close(master)
        os.close(self._slave)

    def watch(self, child: subprocess.Popen[bytes], is_over: Callable[[], bool]) -> None:
        """Let `read` end when this process has ended and all it wrote is read, or nobody listens.

        Args:
            child: the process.
            is_over: tells that nobody listens any more.
        """
        self._child = child
        self._is_over = is_over

    def read(self, size: int) -> bytes:
        """Wait for output; empty when the command has ended."""
        while True:
            # Asked before looking for output: what it wrote before it ended is still read.
            has_ended = self._child is not None and self._child.poll() is not None
            ready, _, _ = select.select([self._master], [], [], 0 if has_ended else _POLL_S)
            if ready:
                return os.read(self._master, size)
            if has_ended or self._is_over():
                return b""

    def write(self, data: bytes) -> None:
        """Type."""
        view = memoryview(data)
        while view and self._master >= 0:
            view = view[os.write(self._master, view) :]

    def close(self) -> None:
        """Type the character that ends the input."""
        if self._master >= 0:
            os.write(self._master, _END_OF_INPUT)

    def resize(self, words: bytes) -> None:
        """Set the size of the window, given as ``ROWSxCOLUMNS,WIDTHxHEIGHT``."""
        found = _SIZE.match(words)
        if found and self._master >= 0:
            rows, columns, width, height = (min(int(number), 0xFFFF) for number in found.groups())
            with contextlib.suppress(OSError):
                fcntl.ioctl(
                    self._master,
                    termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, width, height),
                )
