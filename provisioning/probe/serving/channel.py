"""Channels for requests and replies: standard streams, or a virtio-serial port."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import threading
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_READ_BYTES = 1 << 16
_IDLE_S = 0.05
_WRITE_PATIENCE_S = 30.0


class Channel(Protocol):
    """A stream of bytes to a host."""

    def read(self) -> bytes:
        """Wait for bytes; return empty bytes at the end of the stream."""
        ...

    def write(self, data: bytes) -> None:
        """Send all bytes, or drop them if no host is there to read them."""
        ...


class StdioChannel:
    """Standard input and output; other prints go to standard error from now on."""

    def __init__(self) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def read(self) -> bytes:
        """Wait for bytes; return empty bytes at the end of standard input."""
        return os.read(self._in, _READ_BYTES)

    def write(self, data: bytes) -> None:
        """Send all bytes; `read` detects a host that is gone."""
        with self._lock, contextlib.suppress(OSError):
            view = memoryview(data)
            while view:
                view = view[os.write(self._out, view) :]


class PortChannel:
    """A character device that outlives its host end: reopened and read until the probe exits.

    Without a host at the other end, a virtio-serial port immediately returns end of file from read
    and hang-up from poll, so the loop pauses instead of spinning.
    Source: Linux, drivers/char/virtio_console.c, port_fops_read and port_fops_poll.

    Args:
        path: such as ``/dev/virtio-ports/org.mesocosm.probe.0``.
        on_connect: called whenever a host (re)connects, to greet it.
    """

    def __init__(self, path: str, on_connect: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self.on_connect = on_connect
        self._fd = -1
        self._is_connected = False
        self._is_cut = False
        self._write_lock = threading.Lock()

    def read(self) -> bytes:
        """Wait for bytes, across disconnections and missing devices."""
        while True:
            if self._fd < 0 and not self._open():
                time.sleep(_IDLE_S)
                continue
            try:
                data = self._read_once()
            except OSError as exc:
                if exc.errno not in (errno.EIO, errno.ENODEV, errno.ENXIO, errno.EPIPE):
                    raise
                self._reopen()
                continue
            if data:
                return data

    def write(self, data: bytes) -> None:
        """Send all bytes; drop them if the host does not read for 30 s or is absent."""
        with self._write_lock:
            deadline_s = time.monotonic() + _WRITE_PATIENCE_S
            # A truncated line must not swallow the next one.
            view = memoryview(b"\n" + data if self._is_cut else data)
            while view and time.monotonic() < deadline_s:
                sent = self._write_once(view)
                if sent < 0:
                    break
                view = view[sent:]
            self._is_cut = bool(view)

    def _open(self) -> bool:
        try:
            self._fd = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            return False
        return True

    def _reopen(self) -> None:
        with self._write_lock:
            os.close(self._fd)
            self._fd = -1
        self._is_connected = False
        time.sleep(_IDLE_S)

    def _read_once(self) -> bytes:
        poller = select.poll()
        poller.register(self._fd, select.POLLIN)
        events = poller.poll(1000 if self._is_connected else 0)
        if not events:
            self._notice(is_connected=True)
            return b""
        mask = events[0][1]
        if mask & (select.POLLERR | select.POLLNVAL):
            raise OSError(errno.EIO, "the device is gone")
        data = b""
        if mask & select.POLLIN:
            with contextlib.suppress(BlockingIOError):
                data = os.read(self._fd, _READ_BYTES)
        if not data:
            self._notice(is_connected=not mask & select.POLLHUP)
            time.sleep(_IDLE_S)
        elif not self._is_connected:
            self._notice(is_connected=True)
        return data

    def _notice(self, *, is_connected: bool) -> None:
        was_connected, self._is_connected = self._is_connected, is_connected
        if is_connected and not was_connected:
            self.on_connect()

    def _write_once(self, view: memoryview) -> int:
        """Write some bytes; return their number, or -1 if no host is there."""
        poller = select.poll()
        poller.register(self._fd, select.POLLOUT)
        try:
            events = poller.poll(1000)
            if not events:
                return 0
            if events[0][1] & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
                return -1
            return os.write(self._fd, view)
        except BlockingIOError:
            return 0
        except (OSError, ValueError):
            return -1
