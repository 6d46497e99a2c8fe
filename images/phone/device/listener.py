"""Accept TCP connections and serve each in its own thread."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_WAIT_AFTER_ERROR_S = 0.2


class Listener:
    """A listening port.

    Args:
        address: listen address.
        port: listen port; 0 for any free port.
        serve: handles one connection and closes it.
        max_connections: limit; further connections are closed immediately.
        name: name of its threads.
    """

    def __init__(
        self,
        address: str,
        port: int,
        serve: Callable[[socket.socket], None],
        *,
        max_connections: int,
        name: str,
    ) -> None:
        self._serve = serve
        self._name = name
        self._places = threading.BoundedSemaphore(max_connections)
        self._stopped = threading.Event()
        self._sock = socket.create_server((address, port), backlog=64)
        self.port = int(self._sock.getsockname()[1])
        self._thread = threading.Thread(target=self._accept, name=name, daemon=True)

    def start(self) -> None:
        """Start accepting connections."""
        self._thread.start()

    def stop(self) -> None:
        """Stop accepting connections."""
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                sock, _ = self._sock.accept()
            except OSError:
                # Out of descriptors, or stopped: do not spin in either case.
                self._stopped.wait(_WAIT_AFTER_ERROR_S)
                continue
            if not self._places.acquire(blocking=False):
                sock.close()
                continue
            try:
                threading.Thread(
                    target=self._run, args=(sock,), name=f"{self._name}-conn", daemon=True
                ).start()
            except RuntimeError:
                sock.close()
                self._places.release()

    def _run(self, sock: socket.socket) -> None:
        try:
            self._serve(sock)
        finally:
            sock.close()
            self._places.release()
