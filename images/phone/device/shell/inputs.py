"""Forward a host's input to a process without blocking after its session has ended."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from typing import TYPE_CHECKING

from images.phone.device.shell.wakeup import Wakeup
from images.phone.device.streams.shell_protocol import (
    CLOSE_STDIN,
    STDIN,
    WINDOW_SIZE,
    PacketReader,
)

if TYPE_CHECKING:
    from typing import IO, Protocol

    from images.phone.device.streams.stream import Stream

    class Input(Protocol):
        """Destination of the host's bytes."""

        def write(self, data: bytes) -> None:
            """Write all bytes, or discard them once the session is over."""

        def end_input(self) -> None:
            """Signal the end of input to the process."""

        def resize(self, size: bytes) -> None:
            """Set the size of the window, if there is one."""


def write_all(fd: int, data: bytes, over: Wakeup) -> None:
    """Write to a non-blocking descriptor until all bytes are written or an event is set.

    Raises:
        OSError: the reader is gone.
    """
    view = memoryview(data)
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    poll.register(over.fileno(), select.POLLIN)
    while view and not over.is_set:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            poll.poll()


class PipeInput:
    """The standard input of a process without a terminal.

    Args:
        pipe: write end; this object takes ownership.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._over = Wakeup()
        self._lock = threading.Lock()
        os.set_blocking(pipe.fileno(), False)

    def write(self, data: bytes) -> None:
        """Write all bytes, or discard them once the session is over."""
        with self._lock:
            if not self._pipe.closed:
                write_all(self._pipe.fileno(), data, self._over)

    def end_input(self) -> None:
        """Close the pipe."""
        with self._lock:
            self._pipe.close()

    def resize(self, size: bytes) -> None:
        """Do nothing: there is no window."""

    def close(self) -> None:
        """Interrupt a pending write, and close the pipe."""
        self._over.set()
        with self._lock:
            self._pipe.close()
            self._over.close()


class Feeder:
    """A thread that forwards a host's data to a process until the stream ends.

    Args:
        stream: stream from the host.
        sink: input of the process.
        has_packets: whether the host uses shell protocol v2.

    Attributes:
        has_input: whether the host has sent any input.
    """

    def __init__(self, stream: Stream, sink: Input, *, has_packets: bool) -> None:
        self._stream = stream
        self._sink = sink
        self._reader = PacketReader() if has_packets else None
        self.has_input = False
        self._thread = threading.Thread(target=self._run, name="shell-feeder", daemon=True)

    def start(self) -> None:
        """Start forwarding input."""
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Return whether input may still arrive or is waiting to be written."""
        return self._thread.is_alive()

    def _run(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := self._stream.read():
                self._pass_on(data)
        with contextlib.suppress(OSError, ValueError):
            self._sink.end_input()

    def _pass_on(self, data: bytes) -> None:
        if self._reader is None:
            self._write(data)
            return
        for packet in self._reader.feed(data):
            if packet.kind == STDIN:
                self._write(packet.data)
            elif packet.kind == CLOSE_STDIN:
                self._sink.end_input()
            elif packet.kind == WINDOW_SIZE:
                self._sink.resize(packet.data)

    def _write(self, data: bytes) -> None:
        self.has_input = True
        self._sink.write(data)
