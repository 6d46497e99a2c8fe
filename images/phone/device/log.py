"""The phone's log: what ``logcat`` shows.

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
        number: grows by one with each entry.
        time_s: since the epoch.
        priority: one of `PRIORITIES`.
        tag: of the component that logs.
        message: one line.
        pid: of the process that logs.
    """

    number: int
    time_s: float
    priority: str
    tag: str
    message: str
    pid: int = 1


class LogBuffer:
    """The last entries; may be used from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # reentrant
        self._entries: deque[LogEntry] = deque(maxlen=MAX_ENTRIES)
        self._next = 1

    def write(self, priority: str, tag: str, message: str, pid: int = 1) -> None:
        """Add an entry for each line of a message; the oldest are dropped."""
        with self._changed:
            for line in message[:MAX_MESSAGE_CHARS].splitlines() or [""]:
                self._entries.append(
                    LogEntry(self._next, time.time(), priority, tag[:80], line, pid)
                )
                self._next += 1
            self._changed.notify_all()

    def entries(self, after: int = 0) -> list[LogEntry]:
        """Return the entries with a number above one."""
        with self._changed:
            return [entry for entry in self._entries if entry.number > after]

    def wait(self, after: int, timeout_s: float) -> list[LogEntry]:
        """Wait until there are entries above a number; empty when none came in time."""
        with self._changed:
            # Not by the next number: that of a cleared entry is above too, and never comes.
            self._changed.wait_for(
                lambda: bool(self._entries) and self._entries[-1].number > after, timeout_s
            )
            return self.entries(after)

    def clear(self) -> None:
        """Remove all entries; numbers continue to grow."""
        with self._changed:
            self._entries.clear()

    def to_list(self) -> list[dict[str, Any]]:
        """Return all entries as plain data."""
        return [asdict(entry) for entry in self.entries()]

    def replace(self, entries: list[dict[str, Any]]) -> None:
        """Replace all entries; they get new numbers, so that followers see them."""
        with self._changed:
            self._entries.clear()
            for entry in entries:
                self._entries.append(LogEntry(**{**entry, "number": self._next}))
                self._next += 1
            self._changed.notify_all()
