"""A byte stream of a connection, with flow control.

Source: AOSP ``packages/modules/adb/protocol.txt``, *delayed acks*: with them each side grants the
    other a credit in bytes and renews it for processed data; without them one message is in flight
    in each direction.
"""

from __future__ import annotations

import struct
import threading
from typing import TYPE_CHECKING

from images.phone.device.streams.wire import CLSE, OKAY, WRTE, Message

if TYPE_CHECKING:
    from collections.abc import Callable


MAX_PENDING_BYTES = 4 << 20
"""Maximum unread bytes of a stream: the amount that adb 29 still sends when closing it."""

WINDOW_BYTES = 1 << 20
"""Initial credit of a host for a stream with delayed acknowledgements."""

_COUNT = struct.Struct("<i")


class StreamClosedError(Exception):
    """The stream ended during a read or a write."""


class Budget:
    """Memory shared by all streams of a phone for unread data.

    Args:
        size_bytes: size of the memory.
    """

    def __init__(self, size_bytes: int) -> None:
        self._left_bytes = size_bytes
        self._lock = threading.Lock()

    @property
    def left_bytes(self) -> int:
        """Number of unreserved bytes."""
        return self._left_bytes

    def take(self, count: int) -> bool:
        """Reserve bytes; if there are not enough, reserve nothing and return False."""
        with self._lock:
            if count > self._left_bytes:
                return False
            self._left_bytes -= count
        return True

    def release(self, count: int) -> None:
        """Return bytes to the budget."""
        with self._lock:
            self._left_bytes += count


class Stream:
    """The device's end of a stream.

    A `write` waits until the host accepts more data; the host's data is acknowledged once a service
    has read it, so neither side can fill the other's memory. Only when closing a stream does a host
    send its remaining data without waiting, as adb 29 does.

    Args:
        local_id: this end's ID, not 0.
        remote_id: the host's ID; 0 until the host has answered a stream opened by the device.
        send: sends a message.
        max_bytes: longest payload that the host accepts.
        forget: called once, when the stream has ended on both sides.
        credit_bytes: credit from the host with delayed acknowledgements; None without them.
        budget: memory for unread bytes.
    """

    def __init__(  # noqa: PLR0917 - called in only two places
        self,
        local_id: int,
        remote_id: int,
        send: Callable[[Message], None],
        max_bytes: int,
        forget: Callable[[int], None],
        credit_bytes: int | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.local_id = local_id
        self.remote_id = remote_id
        self._send = send
        self._max_bytes = max_bytes
        self._forget = forget
        self._credit_bytes = credit_bytes
        self._budget = budget or Budget(MAX_PENDING_BYTES)
        self._changed = threading.Condition()
        self._pending = bytearray()
        self._unacknowledged = 0
        self._may_write = remote_id != 0
        self._is_closed = False
        self._at_end: list[Callable[[], None]] = []

    @property
    def is_closed(self) -> bool:
        """Return whether either side has closed the stream."""
        return self._is_closed

    def accept(self) -> None:
        """Accept the host's request for the service."""
        self._acknowledge(1, WINDOW_BYTES)

    def refuse(self) -> None:
        """Refuse the host's request for the service, instead of `accept`."""
        if self._end():
            self._send(Message(CLSE, 0, self.remote_id))

    def read(self) -> bytes:
        """Wait for data; return empty bytes once the stream has ended."""
        with self._changed:
            while not self._pending and not self._is_closed:
                self._changed.wait()
            data = bytes(self._pending)
            self._pending.clear()
            count, self._unacknowledged = self._unacknowledged, 0
        self._budget.release(len(data))
        if data and not self._is_closed:
            self._acknowledge(count, len(data))
        return data

    def write(self, data: bytes) -> None:
        """Send all bytes, waiting until the host accepts each message.

        Raises:
            StreamClosedError: the stream has ended.
        """
        view = memoryview(data)
        while view:
            piece, view = bytes(view[: self._max_bytes]), view[self._max_bytes :]
            with self._changed:
                while not self._is_free() and not self._is_closed:
                    self._changed.wait()
                if self._is_closed:
                    raise StreamClosedError
                if self._credit_bytes is None:
                    self._may_write = False
                else:
                    self._credit_bytes -= len(piece)
            self._send(Message(WRTE, self.local_id, self.remote_id, piece))

    def close(self) -> None:
        """Close the stream to the host and drop unread data; idempotent."""
        self.take_close()
        with self._changed:
            count = len(self._pending)
            self._pending.clear()
        self._budget.release(count)

    def take_data(self, data: bytes) -> bool:
        """Store data from the host; return False if it exceeds the acknowledged amount by far."""
        if not data:
            if self._credit_bytes is None:
                self._acknowledge(1, 0)
            return True
        with self._changed:
            if self._is_closed:
                return True
            if len(self._pending) + len(data) > MAX_PENDING_BYTES:
                return False
            if not self._budget.take(len(data)):
                return False
            self._pending += data
            self._unacknowledged += 1
            self._changed.notify_all()
        return True

    def take_okay(self, payload: bytes = b"", remote_id: int = 0) -> None:
        """Handle the host's acknowledgement.

        Args:
            payload: number of bytes, with delayed acknowledgements.
            remote_id: the host's ID, from its first reply.
        """
        with self._changed:
            self.remote_id = self.remote_id or remote_id
            if self._credit_bytes is None:
                self._may_write = True
            elif len(payload) == _COUNT.size:
                self._credit_bytes += _COUNT.unpack(payload)[0]
                self._may_write = True
            self._changed.notify_all()

    def take_close(self) -> None:
        """Handle and confirm the host's close; data received before can still be read."""
        if self._end():
            self._send(Message(CLSE, self.local_id, self.remote_id))

    def drop(self) -> None:
        """End the stream because the connection has ended."""
        self._end()

    def call_at_end(self, act: Callable[[], None]) -> None:
        """Call a function once when the stream ends, or now if it has ended; thread-safe."""
        with self._changed:
            if not self._is_closed:
                self._at_end.append(act)
                return
        act()

    def _is_free(self) -> bool:
        return self._may_write and (self._credit_bytes is None or self._credit_bytes > 0)

    def _acknowledge(self, messages: int, count: int) -> None:
        if self._credit_bytes is not None:
            self._send(Message(OKAY, self.local_id, self.remote_id, _COUNT.pack(count)))
            return
        for _ in range(messages):
            self._send(Message(OKAY, self.local_id, self.remote_id))

    def _end(self) -> bool:
        with self._changed:
            if self._is_closed:
                return False
            self._is_closed = True
            acts, self._at_end = self._at_end, []
            self._changed.notify_all()
        self._forget(self.local_id)
        for act in acts:
            act()
        return True
