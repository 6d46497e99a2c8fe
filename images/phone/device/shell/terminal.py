"""A pseudo-terminal for interactive shells."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import struct
import termios
import threading
from typing import TYPE_CHECKING

from images.phone.device.shell.inputs import write_all
from images.phone.device.shell.wakeup import Wakeup

if TYPE_CHECKING:
    import subprocess
    from types import TracebackType

_SIZE = re.compile(rb"(\d{1,5})x(\d{1,5}),(\d{1,5})x(\d{1,5})")
_END_OF_INPUT = b"\x04"
_POLL_MS = 100


class Terminal:
    """The master side of a pseudo-terminal; a context manager that closes it.

    Attributes:
        path: path of the command's side.
    """

    def __init__(self) -> None:
        self._master, slave = os.openpty()
        os.set_blocking(self._master, False)
        self.path = os.ttyname(slave)
        # Kept open: otherwise the master would read an error before the command starts.
        self._slave = slave
        self._over = Wakeup()
        self._lock = threading.Lock()

    def __enter__(self) -> Terminal:  # noqa: PYI034 - Self is of 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        with self._lock:
            master, self._master = self._master, -1
            os.close(master)
            os.close(self._slave)
            self._over.close()

    def read(self, size: int, child: subprocess.Popen[bytes], ended: Wakeup) -> bytes:
        """Wait for output; empty once the stream, or the command with its output, has ended.

        Args:
            size: maximum number of bytes.
            child: the command.
            ended: set when the stream has ended.
        """
        poll = select.poll()
        poll.register(self._master, select.POLLIN)
        poll.register(ended.fileno(), select.POLLIN)
        while not ended.is_set:
            # Checked before reading, so that output written before the end is still read.
            has_ended = child.poll() is not None
            ready = dict(poll.poll(0 if has_ended else _POLL_MS))
            if self._master in ready:
                with contextlib.suppress(BlockingIOError):
                    return os.read(self._master, size)
            if has_ended:
                break
        return b""

    def write(self, data: bytes) -> None:
        """Write to the terminal as if typed."""
        with self._lock:
            if self._master >= 0:
                write_all(self._master, data, self._over)

    def end_input(self) -> None:
        """Type the end-of-input character."""
        self.write(_END_OF_INPUT)

    def resize(self, size: bytes) -> None:
        """Set the size of the window, given as ``ROWSxCOLUMNS,WIDTHxHEIGHT``."""
        match = _SIZE.match(size)
        if match is None:
            return
        rows, columns, width, height = (min(int(number), 0xFFFF) for number in match.groups())
        with self._lock, contextlib.suppress(OSError):
            if self._master >= 0:
                fcntl.ioctl(
                    self._master,
                    termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, width, height),
                )
