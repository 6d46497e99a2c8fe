"""Requests to a model that a program without its address and key can and cannot make."""

from __future__ import annotations

import contextlib
import errno
import socket as unix
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from pydantic import SecretStr

from controller.models import reverse_proxy
from controller.models.gateway import ModelGateway
from controller.models.settings import ModelSettings
from foundation.clock import SYSTEM_CLOCK, FakeClock, wait_until
from foundation.errors import RequirementError
from tests.unit.controller.stand_in import DROPPED, HUNG, completion, stand_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from controller.models.outage import OutageMeter
    from foundation.clock import Clock

KEY = "sk-of-the-operator-0123456789"
DONE = completion(("session__complete", "{}"))
CHAT = "/v1/chat/completions"
ASKED: dict[str, Any] = {"model": "m", "messages": []}


@contextlib.contextmanager
def agent(path: Path, base_url: str, **changes: float) -> Iterator[httpx2.Client]:
    """Open a gateway to an endpoint and return its client."""
    with metered(path, base_url, SYSTEM_CLOCK, **changes) as (client, _):
        yield client


@contextlib.contextmanager
def metered(
    path: Path, base_url: str, clock: Clock, **changes: float
) -> Iterator[tuple[httpx2.Client, OutageMeter]]:
    """Open a gateway to an endpoint and return its client and its meter."""
    settings = ModelSettings(name="m", base_url=base_url, api_key=SecretStr(KEY), timeout_s=10)
    gateway = ModelGateway(settings.model_copy(update=changes), path, clock)
    try:
        transport = httpx2.HTTPTransport(uds=str(path))
        with httpx2.Client(base_url="http://127.0.0.1:8099", transport=transport) as client:
            yield client, gateway.meter
    finally:
        gateway.close()


@contextlib.contextmanager
def endpoint(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Serve the output of a function and return the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            answer(self)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/api/v3"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def socket(tmp_path: Path) -> Path:
    return tmp_path / "s"


def test_key_is_added_and_never_returned(socket: Path) -> None:
    with (
        stand_in((401, f"wrong key: {KEY}"), (200, DONE)) as server,
        agent(socket, server.base_url) as client,
    ):
        mine = {"Authorization": "Bearer mine", "Cookie": "a=b", "Host": "elsewhere"}
        refused = client.post(CHAT, json=ASKED, headers=mine)
        assert (refused.status_code, refused.text) == (401, "wrong key: ***")
        assert client.post(CHAT, json=ASKED).json() == DONE
        assert server.keys == [f"Bearer {KEY}"] * 2
        assert server.requests == [ASKED] * 2


def test_forwards_only_allowed_parts(socket: Path) -> None:
    seen: list[tuple[str, dict[str, str]]] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.append((handler.path, dict(handler.headers)))
        handler.send_response(200)
        for name, value in (("Set-Cookie", "a=b"), ("Retry-After", "1"), ("Content-Length", "2")):
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(b"{}")

    with endpoint(answer) as base_url, agent(socket, f"{base_url}/?version=1") as client:
        reply = client.get("/v1/models?limit=5", headers={"Cookie": "a=b", "X-Own": "c"})
    assert reply.json() == {}
    assert reply.headers["Retry-After"] == "1"
    assert "Set-Cookie" not in reply.headers
    ((path, headers),) = seen
    assert path == "/api/v3/models?version=1"
    assert headers["Host"] == base_url.split("/")[2]
    assert not headers.keys() & {"Cookie", "X-Own", "x-own", "cookie"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/v1/files", b"", 404),
        ("POST", "/v1/files", b"{}", 404),
        ("GET", "/models", b"", 404),
        ("GET", "/v1/models/../files", b"", 404),
        ("GET", "/v1/models%2f..%2ffiles", b"", 404),
        ("GET", "http://192.0.2.1/", b"", 404),
        ("GET", CHAT, b"", 405),
        ("DELETE", "/v1/models", b"", 405),
        ("POST", CHAT, b"model=m", 400),
        ("POST", CHAT, b'["model"]', 400),
        ("POST", CHAT, b'{"model": "m", "seed": NaN}', 400),
        ("POST", CHAT, b'{"model": "m", "x": ' + b"[" * 100_000, 400),
        ("POST", CHAT, b'{"messages": []}', 403),
        ("POST", CHAT, b'{"model": "m", "model": "dearer"}', 403),
        ("POST", CHAT, b'{"model": "m", "x": [' + b"[]," * 500_000 + b"[]]}", 413),
    ],
)
def test_requests_other_than_to_the_model_are_rejected(
    socket: Path, method: str, path: str, body: bytes, status: int
) -> None:
    with stand_in((200, DONE)) as server, agent(socket, server.base_url) as client:
        reply = client.request(method, path, content=body)
        assert reply.status_code == status
        assert reply.json()["error"]["message"]
        assert server.requests == []


def test_duplicate_key_is_sent_once(socket: Path) -> None:
    with stand_in((200, DONE)) as server, agent(socket, server.base_url) as client:
        client.post(CHAT, content=b'{"model": "dearer", "model": "m"}')
        assert server.requests == [{"model": "m"}]


def test_long_requests_are_rejected_and_long_replies_cut_off(
    socket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reverse_proxy, "MAX_BYTES", 1000)
    with (
        stand_in((200, "x" * 1000), (200, "x" * 1001)) as server,
        agent(socket, server.base_url) as client,
    ):
        assert client.post(CHAT, json={**ASKED, "x": "x" * 1000}).status_code == 413
        assert len(client.post(CHAT, json=ASKED).content) == 1000
        with pytest.raises(httpx2.RemoteProtocolError):
            client.post(CHAT, json=ASKED)
        assert len(server.requests) == 2


def test_reply_is_streamed(socket: Path) -> None:
    has_first = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(b"data: 1\n\n")
        handler.wfile.flush()
        assert has_first.wait(10)
        handler.wfile.write(b"data: 2\n\n")

    with (
        endpoint(answer) as base_url,
        agent(socket, base_url) as client,
        client.stream("POST", CHAT, json={**ASKED, "stream": True}) as reply,
    ):
        assert reply.headers["Content-Type"] == "text/event-stream"
        pieces = reply.iter_raw()
        assert next(pieces) == b"data: 1\n\n"
        has_first.set()
        assert b"".join(pieces) == b"data: 2\n\n"


@pytest.mark.slow
def test_missing_or_hung_model_is_a_plain_error(socket: Path) -> None:
    with stand_in(HUNG, asleep=True) as server, agent(socket, server.base_url) as client:
        assert client.post(CHAT, json=ASKED).status_code == 502
    socket.unlink()
    with (
        stand_in(HUNG) as server,
        agent(socket, server.base_url, timeout_s=0.2) as client,
    ):
        assert client.post(CHAT, json=ASKED).status_code == 504


def test_dropped_reply_is_detected_as_incomplete(socket: Path) -> None:
    with (
        stand_in(DROPPED) as server,
        agent(socket, server.base_url) as client,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        client.post(CHAT, json=ASKED)


@pytest.mark.parametrize(
    ("answer", "outage_s"),
    [
        ((200, DONE), 0),
        ((400, "too long"), 0),
        ((401, "wrong key"), 0),
        ((429, "slow down"), 7),
        ((503, "down"), 7),
        (DROPPED, 7),
    ],
)
@pytest.mark.slow
def test_time_of_unanswered_requests_is_measured(
    socket: Path, answer: tuple[int, str], outage_s: float
) -> None:
    clock = FakeClock()
    with (
        stand_in(answer) as server,
        metered(socket, server.base_url, clock) as (client, meter),
    ):
        server.on_request = lambda: clock.advance(7)
        with contextlib.suppress(httpx2.RemoteProtocolError):
            client.post(CHAT, json=ASKED)
        assert client.post(CHAT, json={"model": "dearer"}).status_code == 403
        assert meter.take_s() == pytest.approx(outage_s, abs=0.01)  # the server asks for 1 ms


@pytest.mark.parametrize("timeout_s", [0.2, 10.0], ids=["of the model", "of the client"])
@pytest.mark.slow
def test_time_of_a_hung_model_is_measured_unless_the_client_gave_up(
    socket: Path, timeout_s: float
) -> None:
    is_clients = timeout_s > 1
    with (
        stand_in(HUNG) as server,
        metered(socket, server.base_url, SYSTEM_CLOCK, timeout_s=min(timeout_s, 1.0)) as (
            client,
            meter,
        ),
    ):
        expected = pytest.raises(httpx2.ReadTimeout) if is_clients else contextlib.nullcontext()
        with expected:
            client.post(CHAT, json=ASKED, timeout=0.1 if is_clients else 30)
        assert wait_until(lambda: not meter.pending_s() or not is_clients, timeout_s=30)
        assert (meter.take_s() > 0) is not is_clients


def test_redirects_are_not_followed(socket: Path) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(307)
        handler.send_header("Location", "http://127.0.0.1:9/")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with endpoint(answer) as base_url, agent(socket, base_url) as client:
        reply = client.post(CHAT, json=ASKED)
    assert reply.status_code == 502
    assert "Location" not in reply.headers


def test_end_of_a_trial_ends_its_requests(socket: Path) -> None:
    with stand_in(HUNG) as server:
        has_come = threading.Event()
        server.on_request = has_come.set
        gateway = ModelGateway(ModelSettings(name="m", base_url=server.base_url), socket)
        transport = httpx2.HTTPTransport(uds=str(socket))
        with httpx2.Client(base_url="http://model", transport=transport, timeout=60) as client:
            ends: list[BaseException] = []

            def ask() -> None:
                try:
                    client.post(CHAT, json=ASKED)
                except httpx2.TransportError as exc:
                    ends.append(exc)

            thread = threading.Thread(target=ask)
            thread.start()
            assert has_come.wait(10)
            gateway.close()
            thread.join(10)
            assert len(ends) == 1
    with unix.socket(unix.AF_UNIX) as later:
        assert later.connect_ex(str(socket)) == errno.ECONNREFUSED


def test_too_long_socket_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RequirementError, match="Cannot listen on the socket"):
        ModelGateway(ModelSettings(name="m"), tmp_path / ("x" * 120))
