"""Real listeners for messages: an HTTP server and a mail server, on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from aiosmtpd.controller import Controller

if TYPE_CHECKING:
    from collections.abc import Iterator


class Web:
    """Receives POSTs and replies with the given statuses in turn, repeating the last one."""

    def __init__(self, statuses: list[int]) -> None:
        self.statuses = statuses
        self.bodies: list[dict[str, Any]] = []
        self.url = ""


@contextlib.contextmanager
def web(*statuses: int) -> Iterator[Web]:
    state = Web(list(statuses))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            state.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            status = state.statuses.pop(0) if len(state.statuses) > 1 else state.statuses[0]
            self.send_response(status)
            self.send_header("Location", state.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Mailbox:
    """Keeps every mail that it receives."""

    def __init__(self) -> None:
        self.mails: list[tuple[list[str], str]] = []
        self.port = 0

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: ANN401, N802 - aiosmtpd's
        self.mails.append((envelope.rcpt_tos, envelope.content.decode()))
        return "250 taken"


class _OnAnyPort(Controller):
    """Listens on a port that the kernel chooses."""

    def _trigger_server(self) -> None:
        assert isinstance(self.server, asyncio.Server)
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def mailbox() -> Iterator[Mailbox]:
    box = Mailbox()
    controller = _OnAnyPort(box, hostname="127.0.0.1", port=0)
    controller.start()
    box.port = controller.port
    try:
        yield box
    finally:
        controller.stop()
