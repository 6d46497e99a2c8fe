"""A mail server on the host's loopback interface that keeps what it is sent."""

from __future__ import annotations

import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPLIES = {b"DATA": b"354 go on", b"QUIT": b"221 bye"}


class MailServer(socketserver.ThreadingTCPServer):
    """Accepts every message.

    Attributes:
        messages: contents of the received messages, oldest first.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.messages: list[str] = []

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        return "127.0.0.1", int(self.server_address[1])


class _Talk(socketserver.StreamRequestHandler):
    """One session, as in RFC 5321."""

    server: MailServer

    def handle(self) -> None:
        self._say(b"220 mail ready")
        for line in iter(self.rfile.readline, b""):
            verb = line.split()[0].upper() if line.split() else b""
            self._say(_REPLIES.get(verb, b"250 fine"))
            if verb == b"DATA":
                lines = list(iter(self.rfile.readline, b".\r\n"))
                self.server.messages.append(b"".join(lines).decode())
                self._say(b"250 kept")
            elif verb == b"QUIT":
                return

    def _say(self, reply: bytes) -> None:
        self.wfile.write(reply + b"\r\n")


@contextmanager
def mailserver() -> Iterator[MailServer]:
    """Run a mail server during a block."""
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
