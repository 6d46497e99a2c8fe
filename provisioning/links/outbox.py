"""A queue for sending from any thread without waiting for the other end to read."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_QUEUED_BYTES = 32 << 20


class Outbox:
    """A bounded queue of lines that one thread writes out in order.

    Args:
        write: sends bytes; may block; its OSError or EOFError ends the outbox.
        on_broken: called with the reason if `write` fails.
        name: name of the thread.
    """

    def __init__(
        self, write: Callable[[bytes], None], *, on_broken: Callable[[str], None], name: str
    ) -> None:
        self._write = write
        self._on_broken = on_broken
        self._lines: deque[bytes] = deque()
        self._queued_bytes = 0
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> bool:
        """Queue a line; return False if the queue is full, as when the other end does not read."""
        with self._changed:
            if self._queued_bytes + len(line) > MAX_QUEUED_BYTES:
                return False
            self._lines.append(line)
            self._queued_bytes += len(line)
            self._changed.notify()
        return True

    def clear(self) -> None:
        """Drop all lines not yet being sent."""
        with self._changed:
            self._lines.clear()
            self._queued_bytes = 0

    def close(self) -> None:
        """End the thread; unsent lines are dropped."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._lines and not self._is_closed:
                    self._changed.wait()
                if self._is_closed:
                    return
                line = self._lines.popleft()
                self._queued_bytes -= len(line)
            try:
                self._write(line)
            except (OSError, EOFError) as exc:
                self._on_broken(f"writing failed: {exc}")
                return
