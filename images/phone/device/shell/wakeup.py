"""An event that threads can wait for together with file descriptors."""

from __future__ import annotations

import os
import threading


class Wakeup:
    """An event with a descriptor that becomes readable for all waiters once the event is set."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._is_set = False

    def fileno(self) -> int:
        """Return the descriptor to poll for reading."""
        return self._fd

    @property
    def is_set(self) -> bool:
        """Return whether the event is set."""
        return self._is_set

    def set(self) -> None:
        """Set the event; may be called repeatedly, and after `close`."""
        with self._lock:
            if not self._is_set and self._fd >= 0:
                self._is_set = True
                os.eventfd_write(self._fd, 1)

    def close(self) -> None:
        """Close the descriptor; there must be no waiters left."""
        with self._lock:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                os.close(fd)
