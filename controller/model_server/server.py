"""Serve scripted models on loopback."""

from __future__ import annotations

import contextlib
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from controller.model_server.answering import Answer, Responder
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import RequirementError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.model_server.script import Script

_log = logging.getLogger(__name__)
_MAX_BYTES = 256 << 20
_PIECES = 10
HOST = "127.0.0.1"


class ModelServer:
    """A stand-in for models' servers.

    Args:
        script: what it replies.
        port: port on loopback; 0 for any.
        note: receives a record of each request, as JSON.

    Attributes:
        responder: answers requests; has the records and violations.

    Raises:
        RequirementError: the port is taken.
    """

    def __init__(
        self,
        script: Script,
        port: int = 0,
        note: Callable[[dict[str, Any]], object] = lambda _: None,
    ) -> None:
        self.responder = Responder(script, note)
        try:
            self._server = _Server(self.responder, port)
        except OSError as exc:
            raise RequirementError(
                f"Cannot listen on {HOST}:{port}.",
                details=str(exc),
                resolution="Choose another port with --port, or 0 for any.",
            ) from exc

    @property
    def address(self) -> str:
        """Its address; OpenAI's APIs are below ``/v1``."""
        return f"http://{HOST}:{self._server.server_address[1]}"

    def serve(self) -> None:
        """Serve until `stop` is called from another thread, or an interrupt."""
        self._server.serve_forever(poll_interval=0.02)

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()

    def close(self) -> None:
        """Close the port, and wait for requests in progress."""
        self._server.server_close()


@contextlib.contextmanager
def serving(script: Script) -> Iterator[ModelServer]:
    """Serve a script for the duration of a block."""
    server = ModelServer(script)
    thread = threading.Thread(target=server.serve, name="model-server", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()
        server.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, responder: Responder, port: int) -> None:
        super().__init__((HOST, port), _Handler)
        self.responder = responder


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer a request to a model."""
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(length, _MAX_BYTES))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.responder.answer(urlsplit(self.path).path, headers, body)
        if answer.rule is not None:
            SYSTEM_CLOCK.sleep(answer.rule.delay_s)
        self._send(answer)

    def do_GET(self) -> None:
        """Answer a request for the list of models."""
        is_list = urlsplit(self.path).path == "/v1/models"
        self._send(self.server.responder.models() if is_list else Answer(404, b"{}"))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Log a request."""
        _log.debug(format, *args)

    def _send(self, answer: Answer) -> None:
        rule = answer.rule
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.content)))
        if rule is not None and rule.retry_after_s is not None:
            self.send_header("Retry-After", f"{rule.retry_after_s:g}")
        self.end_headers()
        try:
            self._write(answer)
        except OSError:
            self.close_connection = True  # the client has given up

    def _write(self, answer: Answer) -> None:
        content, rule = answer.content, answer.rule
        if rule is not None and rule.drop:
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
        elif rule is not None and rule.chunk_s:
            size = max(1, len(content) // _PIECES)
            for begin in range(0, len(content), size):
                self.wfile.write(content[begin : begin + size])
                self.wfile.flush()
                SYSTEM_CLOCK.sleep(rule.chunk_s)
        else:
            self.wfile.write(content)
