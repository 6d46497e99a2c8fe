"""The lock that a run's process holds, and a way to look at it without taking it."""

from __future__ import annotations

import fcntl
import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# struct flock of 64-bit Linux: l_type, l_whence, l_start, l_len, l_pid (0 for OFD locks).
_FLOCK = struct.Struct("@hhqqi4x")


class RunLock:
    """A lock that the kernel releases when its holder dies, however it dies.

    Others ask the kernel who holds it (``F_OFD_GETLK``), so that no reader is ever in the way of a
    process that wants it.

    Args:
        path: the lock's file; it is made, and stays when the lock is released.

    Source: fcntl(2), "Open file description locks".
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it; return whether it was taken.

        Raises:
            OSError: the file cannot be made.
        """
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_WRLCK))
        except BlockingIOError:
            os.close(fd)
            return False
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return True

    def release(self) -> None:
        """Release the lock; harmless when it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def is_held(self) -> bool:
        """Return whether anybody holds the lock, this object included."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            reply = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _whole_file(fcntl.F_RDLCK))
        finally:
            os.close(fd)
        lock_type: int = _FLOCK.unpack(reply)[0]
        return lock_type != fcntl.F_UNLCK


def _whole_file(lock_type: int) -> bytes:
    return _FLOCK.pack(lock_type, os.SEEK_SET, 0, 0, 0)
