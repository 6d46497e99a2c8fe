"""Relays bytes between a guest and a server until an end or an idle timeout."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foundation.clock import Clock
    from provisioning.protocols import Stream

_CHUNK_BYTES = 16384
_JOIN_S = 5.0
_log = logging.getLogger(__name__)


class IdleTimer:
    """One idle timeout for both directions of a connection: any received data resets it.

    Args:
        limit_s: how long both directions may be idle; also the timeout set on each stream.
        clock: clock used to measure it.
    """

    def __init__(self, limit_s: float, clock: Clock) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._last_s = clock.monotonic_s()

    def receive(self, stream: Stream) -> bytes:
        """Wait for bytes; return an empty string at the end.

        Raises:
            TimeoutError: both directions were idle for too long.
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
    """Relay bytes in both directions until the server or the timer ends; then close both streams.

    Args:
        client: receives the server's data unchanged.
        server: a connected socket.
        timer: idle timer, shared with the upload.
        upload: relays the client's data to the server; runs in a separate thread.
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
        timer: idle timer of both directions.
        first: data that the client has already sent.
    """

    def upload() -> None:
        server.sendall(first)
        forward(client, server, timer)
        server.shutdown(socket.SHUT_WR)

    relay(client, server, timer, upload)


def forward(source: Stream, sink: Stream, timer: IdleTimer) -> None:
    """Copy bytes in one direction until the end.

    Raises:
        OSError: a connection broke or both directions were idle for too long.
    """
    while data := timer.receive(source):
        sink.sendall(data)


def end(stream: Stream) -> None:
    """Close a stream and unblock its readers; the stream may be closed already."""
    if isinstance(stream, socket.socket):
        with contextlib.suppress(OSError):  # not connected any more
            stream.shutdown(socket.SHUT_RDWR)
    with _logged("An egress connection could not be closed"):
        stream.close()


def _guarded(upload: Callable[[], None], server: socket.socket) -> None:
    try:
        upload()
    except (OSError, EOFError, ValueError) as exc:
        # A response to an incomplete request is invalid, so close the server's side, too.
        _log.debug("The upload of an egress connection ended early: %r", exc)
        end(server)


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError) as exc:
        _log.debug("%s: %r", what, exc)
