"""Agents behind HTTP endpoints: what they are sent, and what ends their trial."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from controller.agents.custom.http_endpoint import make_http_agent, specify_endpoint
from controller.agents.custom.messages import MAX_LINE_BYTES
from controller.episode.result import Reason
from controller.requests import require_shipped
from controller.specification.request import RunRequest
from evaluators.graph.outcome import Verdict
from foundation.errors import UsageError
from tests.unit.controller.bench import SET_DARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.model.task import Task
    from tests.unit.controller.bench import Bench

TURNS = [
    {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}},
    {"on": "desktop", "do": "type_text", "with": {"text": f"{SET_DARK}\n"}},
]
Answer = tuple[int, bytes] | None


class Endpoint(ThreadingHTTPServer):
    """Answers observations; records the messages."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = list(answers)
        self.messages: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/agent"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.messages.append(message | {"path": self.path})
        is_asked = message["type"] == "observation"
        answer = self.server.answers.pop(0) if is_asked else (204, b"")
        if answer is None:
            self.connection.close()
            return
        status, body = answer
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:9/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def endpoint(*answers: Answer) -> Iterator[Endpoint]:
    with Endpoint(*answers) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_endpoint_gets_the_messages_of_a_command(bench: Bench, dark_task: Task) -> None:
    answers = [(200, json.dumps(turn).encode()) for turn in TURNS]
    with endpoint(*answers) as server:
        result = bench.run(dark_task, make_http_agent(specify_endpoint(server.url)))
    assert (result.verdict, result.steps) == (Verdict.PASS, 2)
    start, first, second, end = server.messages
    assert [row["type"] for row in server.messages] == [
        "start",
        "observation",
        "observation",
        "end",
    ]
    assert {row["path"] for row in server.messages} == {"/agent"}
    assert len({row["session"] for row in server.messages}) == 1
    assert start["instruction"] == dark_task.instruction
    assert {"on", "do", "description", "parameters"} == start["actions"][0].keys()
    assert (first["step"], second["step"]) == (0, 1)
    assert first["screens"].keys() == {"desktop"}
    assert end.keys() == {"type", "session", "path"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((500, b"oh no"), "HTTP status 500"),
        ((302, b""), "HTTP status 302"),
        ((200, b"<html>"), "no JSON"),
        ((200, b"[" * 100_000), "no JSON"),
        ((204, b""), "no JSON"),
        ((200, b"7"), "invalid turn"),
        ((200, b"1" * (MAX_LINE_BYTES + 1)), "more than"),
        (None, "does not answer"),
    ],
)
def test_anything_but_a_turn_ends_the_trial(
    bench: Bench, dark_task: Task, answer: Answer, message: str
) -> None:
    with endpoint(answer) as server:
        result = bench.run(dark_task, make_http_agent(specify_endpoint(server.url)))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)
    assert message in result.detail


@pytest.mark.parametrize(
    "url", ["http://", "http://user:secret@host/", "http://host/?key=secret", "http://host:99999/"]
)
def test_wrong_addresses_are_refused_without_repeating_them(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        specify_endpoint(url)
    assert "secret" not in str(caught.value)


def test_requests_over_the_network_cannot_name_endpoints() -> None:
    request = RunRequest(suite="smoke", agent="http://127.0.0.1:8090/")
    with pytest.raises(UsageError, match="only use shipped"):
        require_shipped(request)
