"""What carries the bytes of a link."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Transport(Protocol):
    """A stream of bytes both ways to a probe.

    One thread reads while another writes; `close` may come from any third one.
    """

    def read(self) -> bytes:
        """Wait for bytes and give what there is, at most 1 MiB; ``b""`` once the stream has ended.

        Raises:
            OSError, EOFError: the stream broke; taken as its end.
        """
        ...

    def write(self, data: bytes) -> None:
        """Send all of it; may block while the other end does not read.

        Raises:
            OSError, EOFError: the stream broke.
        """
        ...

    def close(self) -> None:
        """End the stream; a blocked `read` or `write` of another thread returns. Harmless twice."""
        ...

    def last_words(self) -> str:
        """Return what is known of why the stream ended, such as the far end's standard error."""
        ...
