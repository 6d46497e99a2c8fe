"""Frames that wait to be written to a channel by a thread."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from provisioning.probe.streams.frames import MAX_STREAMS, WINDOW_BYTES, Frame, encode

if TYPE_CHECKING:
    from collections.abc import Callable

BUSY_BYTES = 512 << 10
"""While more wait, no more data of programs is read."""

# Data is limited by windows; a peer that requests more answers than this without reading is cut off.
_MAX_BYTES = MAX_STREAMS * WINDOW_BYTES + (1 << 20)
_WRITE_BYTES = 128 << 10


class Outgoing:
    """A queue of frames, and the thread that writes them in order.

    Args:
        write: sends bytes; may block; its OSError or EOFError ends the queue.
        on_drained: called when data may be read again.
        on_broken: called once with the reason if frames cannot be sent any more.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        on_drained: Callable[[], None],
        on_broken: Callable[[str], None],
    ) -> None:
        self._write = write
        self._on_drained = on_drained
        self._on_broken = on_broken
        self._pieces: deque[bytes] = deque()
        self._bytes = 0
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="streams-out", daemon=True)

    @property
    def is_busy(self) -> bool:
        """Return whether so much waits that no more data should be added."""
        return self._bytes > BUSY_BYTES

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, frame: Frame) -> None:
        """Add a frame; never blocks."""
        data = encode(frame)
        with self._changed:
            if self._is_closed:
                return
            is_full = self._bytes + len(data) > _MAX_BYTES
            if not is_full:
                self._pieces.append(data)
                self._bytes += len(data)
                self._changed.notify()
        if is_full:
            self._on_broken("the other end does not read")

    def close(self) -> None:
        """End the thread once its current write returns; frames that wait are dropped."""
        with self._changed:
            self._is_closed = True
            self._pieces.clear()
            self._bytes = 0
            self._changed.notify()

    def join(self, timeout_s: float) -> None:
        """Wait for the thread's end."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            data = self._take()
            if not data:
                return
            try:
                self._write(data)
            except (OSError, EOFError) as exc:
                self._on_broken(f"writing failed: {exc}")
                return
            was_busy = self.is_busy
            with self._changed:
                self._bytes = max(0, self._bytes - len(data))
            if was_busy and not self.is_busy:
                self._on_drained()

    def _take(self) -> bytes:
        """Wait for frames and return some; nothing once the queue is closed."""
        with self._changed:
            while not self._pieces and not self._is_closed:
                self._changed.wait()
            taken = bytearray()
            while self._pieces and len(taken) < _WRITE_BYTES:
                taken += self._pieces.popleft()
            return b"" if self._is_closed else bytes(taken)
