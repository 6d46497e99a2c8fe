"""A web server on the host's loopback interface."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from email.message import Message

    Answer = Callable[[str, Message], str | None]


@contextmanager
def website(answer: Answer) -> Iterator[int]:
    """Serve pages during a block; yield the port.

    Args:
        answer: returns the page for a path and the request's headers, or None for 404.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = answer(self.path, self.headers)
            body = (page or "").encode()
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
