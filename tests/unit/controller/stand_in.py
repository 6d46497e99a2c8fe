"""A small stand-in for an OpenAI-compatible endpoint, on loopback."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def completion(
    *calls: tuple[str, str], content: str | None = None, tokens: tuple[int, int] = (100, 10)
) -> dict[str, Any]:
    """Make a reply that calls tools, each given as name and arguments."""
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


@dataclass
class StandIn:
    """Answers from a list; the last answer is repeated.

    Attributes:
        answers: status and body, as JSON or raw text.
        requests: bodies received.
        keys: Authorization headers received.
    """

    answers: list[tuple[int, dict[str, Any] | str]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    base_url: str = ""

    def next(self) -> tuple[int, bytes]:
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return status, (body if isinstance(body, str) else json.dumps(body)).encode()


@contextlib.contextmanager
def stand_in(*answers: tuple[int, dict[str, Any] | str]) -> Iterator[StandIn]:
    """Serve answers for the length of a block."""
    state = StandIn(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            state.requests.append(json.loads(self.rfile.read(length)))
            state.keys.append(self.headers["Authorization"])
            status, body = state.next()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Retry-After-Ms", "1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
