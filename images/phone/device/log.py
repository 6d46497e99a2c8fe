"""The phone's log, shown by ``logcat``.

Source: AOSP ``system/logging/liblog/logprint.cpp`` for the formats.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any

MAX_ENTRIES = 4096
MAX_MESSAGE_CHARS = 4000
PRIORITIES = "VDIWEF"


@dataclass(frozen=True)
class LogEntry:
    """One line of the log.

    Attributes:
        number: sequence number.
        time_s: time, s since the epoch.
        priority: one of `PRIORITIES`.
        tag: tag of the logging component.
        message: one line.
        pid: ID of the logging process.
    """

    number: int
    time_s: float
    priority: str
    tag: str
    message: str
    pid: int = 1


class LogBuffer:
    """The most recent entries; thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # reentrant
        self._entries: deque[LogEntry] = deque(maxlen=MAX_ENTRIES)
        self._next = 1

    def write(self, priority: str, tag: str, message: str, pid: int = 1) -> None:
        """Add an entry for each line of a message, and drop the oldest entries."""
        with self._changed:
            for line in message[:MAX_MESSAGE_CHARS].splitlines() or [""]:
                self._entries.append(
                    LogEntry(self._next, time.time(), priority, tag[:80], line, pid)
                )
                self._next += 1
            self._changed.notify_all()

    def entries(self, after: int = 0) -> list[LogEntry]:
        """Return the entries with a number greater than `after`."""
        with self._changed:
            return [entry for entry in self._entries if entry.number > after]

    def wait(self, after: int, timeout_s: float) -> list[LogEntry]:
        """Wait for entries with a greater number than `after`; return none on timeout."""
        with self._changed:
            # Do not wait for the next number: it may belong to a cleared entry and never arrive.
            self._changed.wait_for(
                lambda: bool(self._entries) and self._entries[-1].number > after, timeout_s
            )
            return self.entries(after)

    def clear(self) -> None:
        """Remove all entries; numbering continues."""
        with self._changed:
            self._entries.clear()

    def to_list(self) -> list[dict[str, Any]]:
        """Return all entries as JSON data."""
        return [asdict(entry) for entry in self.entries()]

    def replace(self, entries: list[dict[str, Any]]) -> None:
        """Replace all entries, with new numbers so that followers see them."""
        with self._changed:
            self._entries.clear()
            for entry in entries:
                self._entries.append(LogEntry(**{**entry, "number": self._next}))
                self._next += 1
            self._changed.notify_all()
