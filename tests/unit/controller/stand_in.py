"""A small stand-in for an OpenAI-compatible endpoint, on loopback."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def completion(
    *calls: tuple[str, str], content: str | None = None, tokens: tuple[int, int] = (100, 10)
) -> dict[str, Any]:
    """Return a reply that calls tools, each given as name and arguments."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call-{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
    return {
        "id": "reply",
        "object": "chat.completion",
        "created": 0,
        "model": "stand-in",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        },
    }


DROPPED = (-1, "")
HUNG = (-2, "")


@dataclass
class StandIn:
    """Answers from a list; the last answer is repeated.

    Attributes:
        answers: status and body, as JSON or raw text; `DROPPED` and `HUNG` are no answers.
        on_request: called with each request, before it is answered.
        wake: begins to listen, where it did not from the start.
        requests: bodies received.
        keys: Authorization headers received.
    """

    answers: list[tuple[int, dict[str, Any] | str]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    base_url: str = ""
    on_request: Callable[[], object] = lambda: None
    wake: Callable[[], object] = lambda: None
    released: threading.Event = field(default_factory=threading.Event)

    def next(self) -> tuple[int, bytes]:
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return status, (body if isinstance(body, str) else json.dumps(body)).encode()


@contextlib.contextmanager
def stand_in(*answers: tuple[int, dict[str, Any] | str], asleep: bool = False) -> Iterator[StandIn]:
    """Serve answers for the duration of a block; if asleep, connections are refused until `wake`."""
    state = StandIn(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            state.requests.append(json.loads(self.rfile.read(length)))
            state.keys.append(self.headers["Authorization"])
            status, body = state.next()
            state.on_request()
            if status == HUNG[0]:
                state.released.wait()
            if status < 0:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Retry-After-Ms", "1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})

    def wake() -> None:
        if not thread.is_alive():
            server.server_activate()
            thread.start()

    server.server_bind()
    if not asleep:
        wake()
    state.wake = wake
    state.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        state.released.set()
        if thread.is_alive():
            server.shutdown()
            thread.join()
        server.server_close()
