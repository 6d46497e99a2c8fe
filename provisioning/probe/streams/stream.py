"""One stream of a channel: a socket on this side, and what it may still send and receive."""

from __future__ import annotations

import contextlib
import socket
import struct

from provisioning.probe.streams.frames import (
    CREDIT,
    DATA,
    END,
    MAX_PAYLOAD_BYTES,
    RESET,
    WINDOW_BYTES,
    Frame,
    FrameError,
    pack_count,
)

_CREDIT_BYTES = WINDOW_BYTES // 4
_NO_LINGER = struct.pack("ii", 1, 0)


class Stream:
    """The state of one stream; its owner locks it.

    Args:
        number: its number on the channel.
        listener: name of the listener that the guest's program connected to.
        sock: connected socket, owned by the stream; None while it is being connected.
    """

    def __init__(self, number: int, listener: str, sock: socket.socket | None = None) -> None:
        self.number = number
        self.listener = listener
        self.sock = sock
        self._credit_bytes = WINDOW_BYTES
        self._unwritten = bytearray()
        self._ungranted_bytes = 0
        self._is_read_to_end = False
        self._is_end_received = False
        self._is_end_written = False

    @property
    def wants_read(self) -> bool:
        """Return whether data of the socket can be sent."""
        return self.sock is not None and not self._is_read_to_end and self._credit_bytes > 0

    @property
    def wants_write(self) -> bool:
        """Return whether data, or its end, waits to be written to the socket."""
        is_end_due = self._is_end_received and not self._is_end_written
        return self.sock is not None and (bool(self._unwritten) or is_end_due)

    @property
    def is_done(self) -> bool:
        """Return whether both directions have ended."""
        return self._is_read_to_end and self._is_end_written

    def take_data(self, data: bytes) -> None:
        """Take data of the other end.

        Raises:
            FrameError: it has ended its direction, or exceeds the window.
        """
        if self._is_end_received:
            raise FrameError("data after its end")
        if len(self._unwritten) + self._ungranted_bytes + len(data) > WINDOW_BYTES:
            raise FrameError("more data than was granted")
        self._unwritten += data

    def take_credit(self, count: int) -> None:
        """Take the other end's permission to send more.

        Raises:
            FrameError: it exceeds a window.
        """
        if self._credit_bytes + count > WINDOW_BYTES:
            raise FrameError("more credit than a window")
        self._credit_bytes += count

    def take_end(self) -> None:
        """Take the end of the other end's direction.

        Raises:
            FrameError: it had ended already.
        """
        if self._is_end_received:
            raise FrameError("a second end")
        self._is_end_received = True

    def read(self) -> Frame | None:
        """Read from the socket and return the frame to send; None if there is nothing yet.

        Raises:
            OSError: the connection broke.
        """
        assert self.sock is not None  # noqa: S101 - it is connected
        try:
            data = self.sock.recv(min(MAX_PAYLOAD_BYTES, self._credit_bytes))
        except (BlockingIOError, InterruptedError):
            return None
        if not data:
            self._is_read_to_end = True
            return Frame(END, self.number)
        self._credit_bytes -= len(data)
        return Frame(DATA, self.number, data)

    def write(self) -> Frame | None:
        """Write to the socket what waits; return the frame that grants more, if one is due.

        Raises:
            OSError: the connection broke.
        """
        assert self.sock is not None  # noqa: S101 - it is connected
        if self._unwritten:
            with contextlib.suppress(BlockingIOError, InterruptedError):
                count = self.sock.send(self._unwritten)
                del self._unwritten[:count]
                self._ungranted_bytes += count
        if self._is_end_received and not self._unwritten and not self._is_end_written:
            self._is_end_written = True
            self.sock.shutdown(socket.SHUT_WR)
        if self._is_end_received or self._ungranted_bytes < _CREDIT_BYTES:
            return None
        count, self._ungranted_bytes = self._ungranted_bytes, 0
        return Frame(CREDIT, self.number, pack_count(count))

    def reset(self) -> Frame:
        """Close the socket so that its program notices an error; return the frame that says so."""
        if self.sock is not None:
            with contextlib.suppress(OSError):
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self.sock.close()
            self.sock = None
        return Frame(RESET, self.number)

    def close(self) -> None:
        """Close the socket."""
        if self.sock is not None:
            self.sock.close()
            self.sock = None
