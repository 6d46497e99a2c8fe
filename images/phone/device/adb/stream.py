"""One of the many byte streams of a connection, with one message in flight each way."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from images.phone.device.adb.wire import CLSE, OKAY, WRTE, Message

if TYPE_CHECKING:
    from collections.abc import Callable


MAX_PENDING_BYTES = 4 << 20


class StreamClosedError(Exception):
    """The stream ended while bytes were wanted or waited to be sent."""


class Stream:
    """The device's end of a stream.

    A `write` waits until the host has acknowledged the one before; what the host sends is
    acknowledged when a service has read it, so neither side can fill the other's memory. Only a
    host that closes a stream sends what it still holds without waiting, as adb 29 does.

    Args:
        local_id: this end's id, not 0.
        remote_id: the host's id.
        send: sends a message.
        max_bytes: longest payload the host takes.
        forget: called once, when the stream has ended on both sides.
    """

    def __init__(
        self,
        local_id: int,
        remote_id: int,
        send: Callable[[Message], None],
        max_bytes: int,
        forget: Callable[[int], None],
    ) -> None:
        self.local_id = local_id
        self.remote_id = remote_id
        self._send = send
        self._max_bytes = max_bytes
        self._forget = forget
        self._changed = threading.Condition()
        self._pending = bytearray()
        self._unacknowledged = 0
        self._may_write = True
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Tell whether either side has closed it."""
        return self._is_closed

    def accept(self) -> None:
        """Tell the host that the service is there."""
        self._send(Message(OKAY, self.local_id, self.remote_id))

    def read(self) -> bytes:
        """Wait for bytes and give what there is; empty once the stream has ended."""
        with self._changed:
            while not self._pending and not self._is_closed:
                self._changed.wait()
            data = bytes(self._pending)
            self._pending.clear()
            count, self._unacknowledged = self._unacknowledged, 0
        for _ in range(0 if self._is_closed else count):
            self._send(Message(OKAY, self.local_id, self.remote_id))
        return data

    def write(self, data: bytes) -> None:
        """Send all bytes, each message once the one before was acknowledged.

        Raises:
            StreamClosedError: the stream has ended.
        """
        view = memoryview(data)
        while view:
            piece, view = bytes(view[: self._max_bytes]), view[self._max_bytes :]
            with self._changed:
                while not self._may_write and not self._is_closed:
                    self._changed.wait()
                if self._is_closed:
                    raise StreamClosedError
                self._may_write = False
            self._send(Message(WRTE, self.local_id, self.remote_id, piece))

    def close(self) -> None:
        """End the stream and tell the host; harmless twice."""
        if self._end():
            self._send(Message(CLSE, self.local_id, self.remote_id))

    def take_data(self, data: bytes) -> bool:
        """Take what the host sent; False when it sends much more than was acknowledged."""
        if not data:
            self._send(Message(OKAY, self.local_id, self.remote_id))
            return True
        with self._changed:
            if self._is_closed:
                return True
            if len(self._pending) + len(data) > MAX_PENDING_BYTES:
                return False
            self._pending += data
            self._unacknowledged += 1
            self._changed.notify_all()
        return True

    def take_okay(self) -> None:
        """Note that the host has taken the last message."""
        with self._changed:
            self._may_write = True
            self._changed.notify_all()

    def take_close(self) -> None:
        """Note that the host has ended the stream, and confirm it."""
        self.close()

    def drop(self) -> None:
        """Note that the connection has ended, and with it the stream."""
        self._end()

    def _end(self) -> bool:
        with self._changed:
            if self._is_closed:
                return False
            self._is_closed = True
            self._changed.notify_all()
        self._forget(self.local_id)
        return True
