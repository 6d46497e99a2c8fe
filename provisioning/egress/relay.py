"""Move bytes between a guest and a server until both are silent for too long."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from appliance.base.clock import Clock
    from provisioning.protocols import Stream

_CHUNK_BYTES = 16384
_JOIN_S = 5.0
_log = logging.getLogger(__name__)


class IdleTimer:
    """One timeout for both directions of a connection: each byte received resets it.

    Args:
        limit_s: how long both directions may be silent; also each stream's own timeout.
        clock: measures it.
    """

    def __init__(self, limit_s: float, clock: Clock) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._last_s = clock.monotonic_s()

    def receive(self, stream: Stream) -> bytes:
        """Wait for bytes; empty at the end.

        Raises:
            TimeoutError: both directions were silent for too long.
            OSError: the connection broke.
        """
        while True:
            try:
                data = stream.recv(_CHUNK_BYTES)
            except TimeoutError:
                if self._clock.monotonic_s() - self._last_s >= self._limit_s:
                    raise
                continue
            self._last_s = self._clock.monotonic_s()
            return data


def relay(
    client: Stream, server: socket.socket, timer: IdleTimer, upload: Callable[[], None]
) -> None:
    """Move bytes both ways until the server ends or the timer does; end both streams then.

    Args:
        client: what the server sends goes here as it is.
        server: a connected socket.
        timer: shared with the upload.
        upload: moves the bytes from client to server, in a thread of its own.
    """
    thread = threading.Thread(target=_guarded, args=(upload, server), daemon=True, name="egress-up")
    thread.start()
    with _logged("The answer of an egress connection ended early"):
        forward(server, client, timer)
    end(server)
    end(client)
    thread.join(_JOIN_S)


def tunnel(client: Stream, server: socket.socket, timer: IdleTimer, first: bytes) -> None:
    """Relay bytes of any protocol.

    Args:
        client: the guest's end.
        server: a connected socket.
        timer: of both directions.
        first: what the client has sent already.
    """

    def upload() -> None:
        server.sendall(first)
        forward(client, server, timer)
        server.shutdown(socket.SHUT_WR)

    relay(client, server, timer, upload)


def forward(source: Stream, sink: Stream, timer: IdleTimer) -> None:
    """Move bytes one way to their end.

    Raises:
        OSError: a connection broke or both directions were silent for too long.
    """
    while data := timer.receive(source):
        sink.sendall(data)


def end(stream: Stream) -> None:
    """Close a stream and wake whoever waits for its bytes; it may be gone already."""
    if isinstance(stream, socket.socket):
        with contextlib.suppress(OSError):  # not connected any more
            stream.shutdown(socket.SHUT_RDWR)
    with _logged("An egress connection could not be closed"):
        stream.close()


def _guarded(upload: Callable[[], None], server: socket.socket) -> None:
    try:
        upload()
    except (OSError, EOFError, ValueError) as exc:
        # An answer to half a request is none.
        _log.debug("The upload of an egress connection ended early: %r", exc)
        end(server)


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError) as exc:
        _log.debug("%s: %r", what, exc)
