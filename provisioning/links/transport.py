"""The protocol of transports, which carry the bytes of a link."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Transport(Protocol):
    """A bidirectional byte stream to a probe.

    One thread reads while another writes; any thread may call `close`.
    """

    def read(self) -> bytes:
        """Wait for bytes and return at most 1 MiB; ``b""`` once the stream has ended.

        Raises:
            OSError, EOFError: the stream broke, which counts as its end.
        """
        ...

    def write(self, data: bytes) -> None:
        """Send all the data; may block while the other end does not read.

        Raises:
            OSError, EOFError: the stream broke.
        """
        ...

    def close(self) -> None:
        """Close the stream and unblock `read` and `write`; may be called more than once."""
        ...

    def read_error_tail(self) -> str:
        """Return any information on why the stream ended, such as the program's standard error."""
        ...
