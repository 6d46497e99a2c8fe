"""Channels of sessions: standard streams, or a virtio-serial port while a host is connected."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import threading
import time

_READ_BYTES = 1 << 16
_HOST_TIMEOUT_S = 10.0
_EVERY_S = 0.01
_GONE = frozenset({errno.EIO, errno.ENODEV, errno.ENXIO, errno.EPIPE})


class StandardStreams:
    """Standard input and output; other prints go to standard error from now on."""

    def __init__(self) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)

    def read(self) -> bytes:
        """Wait for bytes; return empty bytes at the end of standard input."""
        return os.read(self._in, _READ_BYTES)

    def write(self, data: bytes) -> None:
        """Send all bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._out, view) :]


class SerialPort:
    """A virtio-serial port, from its opening until its host disconnects.

    While nothing arrives, it waits without waking up.

    Source: Linux, drivers/char/virtio_console.c: without a host, poll reports a hang-up.

    Args:
        path: such as ``/dev/virtio-ports/org.mesocosm.streams.0``.

    Raises:
        OSError: there is no such port, or another process has opened it.
    """

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        self._stop_in, self._stop_out = os.pipe()
        self._is_closed = False
        self._lock = threading.Lock()

    def wait_for_host(self) -> None:
        """Wait until the host's end is connected, which the guest learns on another path.

        Raises:
            TimeoutError: it is not connected in time.
        """
        deadline_s = time.monotonic() + _HOST_TIMEOUT_S
        poller = select.poll()
        poller.register(self._fd, 0)
        while any(mask & select.POLLHUP for _, mask in poller.poll(0)):
            if time.monotonic() > deadline_s:
                raise TimeoutError("no host is connected to the port")
            time.sleep(_EVERY_S)

    def read(self) -> bytes:
        """Wait for bytes; return empty bytes once the host is gone or `end` was called."""
        while self._wait(select.POLLIN):
            with contextlib.suppress(BlockingIOError):
                try:
                    return os.read(self._fd, _READ_BYTES)
                except OSError as exc:
                    if exc.errno in _GONE:
                        return b""
                    raise
        return b""

    def write(self, data: bytes) -> None:
        """Send all bytes; waits while the host does not read.

        Raises:
            BrokenPipeError: the host is gone, or `end` was called.
        """
        view = memoryview(data)
        while view:
            if not self._wait(select.POLLOUT):
                raise BrokenPipeError(errno.EPIPE, "the host is gone")
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(self._fd, view) :]

    def end(self) -> None:
        """Let `read` and `write` end."""
        with self._lock:
            if not self._is_closed:
                os.write(self._stop_out, b"\0")

    def close(self) -> None:
        """Close the port, which nothing may read or write any more."""
        with self._lock:
            self._is_closed = True
            for fd in (self._fd, self._stop_in, self._stop_out):
                os.close(fd)

    def _wait(self, events: int) -> bool:
        """Wait until the port is ready; return False once the host is gone."""
        poller = select.poll()
        poller.register(self._fd, events)
        poller.register(self._stop_in, select.POLLIN)
        for fd, mask in poller.poll():
            is_gone = mask & (select.POLLERR | select.POLLNVAL | select.POLLHUP)
            if fd == self._stop_in or (is_gone and not mask & events & select.POLLIN):
                return False
        return True
