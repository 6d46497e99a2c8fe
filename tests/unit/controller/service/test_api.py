from __future__ import annotations

import contextlib
import http.client
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings, strategies
from hypothesis.errors import Unsatisfiable
from schemathesis.core.errors import InvalidSchema
from schemathesis.core.result import Ok
from starlette.testclient import TestClient

from controller.service.api.app import make_app
from controller.service.api.gate import COOKIE, MAX_BODY_BYTES
from controller.service.api.server import Server, listen
from controller.service.episodes.orders import EpisodeRequest
from controller.service.state.queued_run import Counts, Requester
from controller.service.state.tokens import Role, Tokens
from foundation.clock import FakeClock
from foundation.errors import RequirementError
from tests.tiers import IS_NIGHTLY
from tests.unit.controller.service.context import HOST, carry_out, make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI
    from httpx2 import Response

    from controller.service.api.context import ApiContext
    from controller.service.episodes.session import EpisodeSession
    from controller.service.state.database import Database
    from controller.service.state.queue import RunQueue
    from controller.specification.request import RunRequest

EXAMPLES = 100 if IS_NIGHTLY else 2
MODES = list(schemathesis.GenerationMode) if IS_NIGHTLY else [schemathesis.GenerationMode.POSITIVE]


def is_no_server_error(context: Any, reply: Any, case: Any) -> bool | None:  # noqa: ANN401
    """Check as Schemathesis does, except for 504: the caller's own deadline has passed."""
    if reply.status_code == 504:
        return None
    checked: bool | None = schemathesis.checks.not_a_server_error(context, reply, case)
    return checked


CHECKS = [
    is_no_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


@pytest.fixture
def context(database: Database, tmp_path: Path) -> ApiContext:
    return make_api_context(database, tmp_path)


@pytest.fixture
def app(context: ApiContext) -> FastAPI:
    return make_app(context, {HOST})


@pytest.fixture
def tokens(context: ApiContext) -> dict[str, dict[str, str]]:
    """Return the headers of each role."""
    return {
        role.value: {"Authorization": f"Bearer {context.tokens.add(role.value, role)}"}
        for role in Role
    }


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return TestClient(app, base_url=f"http://{HOST}", raise_server_exceptions=False)


def paths(app: FastAPI) -> list[tuple[str, str]]:
    """Return method and path of every route, with parameters filled in."""
    document = app.openapi()["paths"]
    values = {"repeat": "0", "digest": "0" * 64, "sha256": "0" * 64}
    return [
        (
            method.upper(),
            path.format_map({**dict.fromkeys(("run", "name", "task", "episode"), "x"), **values}),
        )
        for path, methods in document.items()
        for method in methods
    ]


@pytest.mark.slow
def test_only_health_and_metrics_answer_without_a_token(app: FastAPI, client: TestClient) -> None:
    answers = {(method, path): client.request(method, path) for method, path in paths(app)}
    answers["GET", "/api/v1/openapi.json"] = client.get("/api/v1/openapi.json")
    answered = {key for key, answer in answers.items() if answer.status_code == 200}
    assert answered == {("GET", "/healthz"), ("GET", "/metrics")}
    refused = [answer for key, answer in answers.items() if key not in answered]
    assert len(refused) > 15
    assert {answer.status_code for answer in refused} == {401}
    assert {answer.headers["www-authenticate"] for answer in refused} == {"Bearer"}
    wrong = client.get("/api/v1/queue", headers={"Authorization": "Bearer x"})
    assert wrong.status_code == 401
    assert "invalid or was removed" in wrong.text
    assert "A token is required" in client.get("/api/v1/queue").text
    for answer in [*answers.values(), wrong]:
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.slow
def test_read_only_token_changes_nothing(
    app: FastAPI, client: TestClient, tokens: dict[str, dict[str, str]]
) -> None:
    statuses: dict[str, set[int]] = {}
    for method, path in paths(app):
        if path != "/api/v1/events":
            answer = client.request(method, path, headers=tokens["read"])
            statuses.setdefault("GET" if method == "GET" else "other", set()).add(
                answer.status_code
            )
    assert statuses["other"] == {403}
    assert statuses["GET"] == {200, 404}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost:9465"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": f"http://{HOST}"}, 409),
        ({"Origin": f"http://{HOST}.evil.example"}, 403),
        ({"Content-Length": str(MAX_BODY_BYTES + 1)}, 413),
    ],
)
def test_foreign_hosts_origins_and_large_bodies_are_rejected(
    *,
    client: TestClient,
    tokens: dict[str, dict[str, str]],
    queue: RunQueue,
    request_of_tiny: RunRequest,
    headers: dict[str, str],
    status: int,
) -> None:
    run = queue.add(request_of_tiny, Requester("api")).run
    queue.cancel(run)
    path = f"/api/v1/queue/{run}/cancel"
    answer = client.post(path, headers={**tokens["operate"], **headers})
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "brief", "details", "resolution"}


def test_cookie_is_accepted_from_own_pages_only(
    client: TestClient, tokens: dict[str, dict[str, str]]
) -> None:
    token = tokens["operate"]["Authorization"].removeprefix("Bearer ")
    cookie = {"Cookie": f"{COOKIE}={token}"}
    assert client.get("/api/v1/schedules", headers=cookie).status_code == 200
    path = "/api/v1/schedules/x/pause"
    assert client.post(path, headers=cookie).status_code == 403
    own = client.post(path, headers={**cookie, "Origin": f"http://{HOST}"})
    assert own.status_code == 404


@pytest.mark.slow
def test_run_is_queued_followed_and_viewed(
    client: TestClient,
    tokens: dict[str, dict[str, str]],
    context: ApiContext,
    request_of_tiny: RunRequest,
) -> None:
    headers = tokens["operate"]
    body = {"request": {"suite": "smoke", "agent": "noop"}, "priority": 2, "key": "k"}
    first = client.post("/api/v1/queue", json=body, headers=headers)
    assert first.status_code == 201
    assert client.post("/api/v1/queue", json=body, headers=headers).json() == first.json()
    run = first.json()["run"]
    assert client.post(f"/api/v1/queue/{run}/pause", headers=headers).json()["state"] == "paused"
    listed = client.get("/api/v1/queue?state=paused&limit=1", headers=headers).json()
    assert (listed["runs"][0]["run"], listed["before"]) == (run, 1)

    recorded = carry_out(context, request_of_tiny)
    assert context.queue.get(recorded).counts == Counts(1, 1, 0, 0)
    rows = client.get("/api/v1/runs", headers=headers).json()["runs"]
    assert [(row["run"], row["passed"]) for row in rows] == [(recorded, 1)]
    report = client.get(f"/api/v1/runs/{recorded}", headers=headers).json()
    assert report["trials"][0]["verdict"] == "PASS"
    path = f"/api/v1/runs/{recorded}/trials/dark-style/0"
    trial = client.get(path, params={"limit": 1, "after": 1}, headers=headers).json()
    assert (len(trial["events"]), trial["next"], trial["attempts"]) == (1, 2, 1)
    events = client.get(path, headers=headers).json()["events"]
    digest = next(d for event in events for d in event.get("screens", {}).values())
    picture = client.get(f"/api/v1/runs/{recorded}/pictures/{digest}", headers=headers)
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    for missing in (f"{path}?attempt=2", f"/api/v1/runs/{recorded}/trials/dark-style/1"):
        assert client.get(missing, headers=headers).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_body", "status", "message"),
    [
        ({"suite": "smoke", "agent": "nobody"}, 422, "nobody"),
        ({"suite": "nothing", "agent": "noop"}, 422, "nothing"),
        ({"suite": "/tmp/suite", "agent": "noop"}, 422, "mesocosm queue add"),
        ({"suite": "smoke", "agent": "/tmp/a.py:Agent"}, 422, "mesocosm queue add"),
        ({"suite": "smoke", "agent": "script", "script": "/etc/passwd"}, 422, "queue add"),
        ({"suite": "smoke", "command": "rm", "folder": "/"}, 422, "queue add"),
        ({"suite": "smoke", "agent": "model", "key": "MY_TOKEN"}, 422, "Omit `key`"),
        ({"suite": "smoke", "agent": "sitecustomize:Agent", "folder": "/"}, 422, "queue add"),
        ({"suite": "smoke", "agent": "noop", "repeats": 10**6}, 422, "repeats"),
        ({"suite": "smoke", "agent": "noop", "shell": "rm"}, 422, "shell"),
    ],
)
def test_wrong_runs_are_rejected(
    client: TestClient,
    tokens: dict[str, dict[str, str]],
    request_body: dict[str, Any],
    status: int,
    message: str,
) -> None:
    answer = client.post("/api/v1/queue", json={"request": request_body}, headers=tokens["operate"])
    assert answer.status_code == status
    assert message in answer.text
    assert client.get("/api/v1/queue", headers=tokens["read"]).json()["runs"] == []


@pytest.mark.slow
def test_schedules_are_managed(client: TestClient, tokens: dict[str, dict[str, str]]) -> None:
    headers = tokens["operate"]
    schedule = {
        "name": "nightly",
        "trigger": {"kind": "cron", "line": "0 2 * * *"},
        "request": {"suite": "smoke", "agent": "noop"},
    }
    added = client.post("/api/v1/schedules", json=schedule, headers=headers)
    assert added.status_code == 201
    never = {**schedule, "trigger": {"kind": "cron", "line": "0 0 30 2 *"}}
    assert client.post("/api/v1/schedules", json=never, headers=headers).status_code == 422
    other = {**schedule, "priority": 1}
    assert client.post("/api/v1/schedules", json=other, headers=headers).status_code == 409
    base = "/api/v1/schedules/nightly"
    assert client.post(f"{base}/pause", headers=headers).json()["is_paused"] is True
    assert client.post(f"{base}/resume", headers=headers).json() == added.json()
    run = client.post(f"{base}/run-now", headers=headers).json()["run"]
    slots = client.get(f"{base}/history", headers=headers).json()["slots"]
    assert [(slot["outcome"], slot["run"]) for slot in slots] == [("by_hand", run)]
    text = client.get("/metrics").text
    assert 'mesocosm_queue_runs{state="queued"} 1.0' in text
    assert 'mesocosm_schedule_slots{outcome="by_hand"} 1.0' in text
    assert client.delete(base, headers=headers).status_code == 204
    assert client.get(base, headers=headers).status_code == 404


def test_own_token_survives_restarts_and_is_recreated_when_lost(
    database: Database, tmp_path: Path
) -> None:
    tokens, path = Tokens(database, FakeClock()), tmp_path / "token"
    token = tokens.ensure_own(path)
    assert tokens.ensure_own(path) == token == path.read_text().strip()
    assert path.stat().st_mode & 0o077 == 0
    path.unlink()
    assert tokens.ensure_own(path) != token
    assert tokens.role_of(token) is None


@pytest.mark.slow
def test_too_frequent_requests_get_a_retry_after_header(
    database: Database, tmp_path: Path, clock: FakeClock
) -> None:
    context = make_api_context(database, tmp_path, rate=1, clock=clock)
    first, other = (context.tokens.add(name, Role.READ) for name in ("one", "other"))
    client = TestClient(make_app(context, {HOST}), f"http://{HOST}")

    def ask(token: str) -> Response:
        return client.get("/api/v1/episodes", headers={"Authorization": f"Bearer {token}"})

    assert [ask(first).status_code for _ in range(6)] == [200] * 5 + [429]
    refused = ask(first)
    assert refused.headers["Retry-After"] == "1"
    assert refused.json()["error"]["brief"] == "Too many requests with this token."
    assert ask(other).status_code == 200
    clock.advance(1)
    assert [ask(first).status_code for _ in range(2)] == [200, 429]
    statuses = [ask("guess").status_code for _ in range(20)]
    assert set(statuses) == {401, 429}  # guesses of tokens are limited by address
    assert ask(other).json()["error"]["brief"] == "Too many requests from this address."
    assert int(ask(other).headers["Retry-After"]) == 1
    clock.advance(10)
    assert ask(other).status_code == 200


@pytest.fixture
def port(app: FastAPI, context: ApiContext) -> Iterator[int]:
    """Start a real server; return its port."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    app = make_app(context, {f"127.0.0.1:{port}"})
    thread = threading.Thread(target=Server(app, listener), args=(context.stop,))
    thread.start()
    yield port
    context.stop.set()
    thread.join()


@pytest.mark.slow
def test_real_server_streams_events_and_limits_what_it_reads(
    port: int,
    context: ApiContext,
    tokens: dict[str, dict[str, str]],
    request_of_tiny: RunRequest,
) -> None:
    with pytest.raises(RequirementError, match="Cannot listen on"):
        listen("127.0.0.1", port)
    runs = [context.queue.add(request_of_tiny, Requester("cli")).run for _ in range(2)]
    stream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    stream.request("GET", "/api/v1/events", headers={**tokens["read"], "Last-Event-ID": "1"})
    reply = stream.getresponse()
    assert reply.headers["Content-Type"].startswith("text/event-stream")
    assert read_event(reply) == (runs[1], "queued")
    context.queue.pause(runs[0])
    assert read_event(reply) == (runs[0], "paused")
    stream.close()

    declared = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    declared.putrequest("POST", "/api/v1/episodes")
    declared.putheader("Content-Length", str(100 << 20))
    declared.endheaders()
    refused = declared.getresponse()  # before a byte of the body is sent
    assert (refused.status, refused.headers["Connection"]) == (413, "close")
    declared.close()


@pytest.mark.parametrize("is_chunked", [True, False])
@pytest.mark.slow
def test_rejection_of_a_body_of_100_mib_arrives(
    port: int, tokens: dict[str, dict[str, str]], *, is_chunked: bool
) -> None:
    piece = b"x" * 65536
    pieces = (100 << 20) // len(piece)
    before_mib = memory_mib()
    upload = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    upload.putrequest("POST", "/api/v1/queue")
    size = ("Transfer-Encoding", "chunked") if is_chunked else ("Content-Length", str(100 << 20))
    for header in (size, *tokens["operate"].items()):
        upload.putheader(*header)
    upload.endheaders()
    for _ in range(pieces):
        upload.send(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
    if is_chunked:
        upload.send(b"0\r\n\r\n")
    reply = upload.getresponse()
    assert reply.status == 413
    assert "larger than 1048576 bytes" in json.loads(reply.read())["error"]["brief"]
    assert memory_mib() - before_mib < 50
    upload.close()
    other = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    other.request("GET", "/api/v1/queue", headers=tokens["read"])
    assert json.loads(other.getresponse().read())["runs"] == []
    other.close()


def memory_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def read_event(reply: http.client.HTTPResponse) -> tuple[str, str]:
    fields = {}
    while line := reply.readline().decode().strip():
        name, _, value = line.partition(": ")
        fields[name] = value
    data = json.loads(fields["data"])
    return data["run"], data["state"]


@pytest.mark.slow
@pytest.mark.timeout(3600 if IS_NIGHTLY else 300)
def test_api_matches_its_openapi_document(
    port: int,
    tokens: dict[str, dict[str, str]],
    context: ApiContext,
    request_of_tiny: RunRequest,
) -> None:
    known = {"run": context.queue.add(request_of_tiny, Requester("cli")).run}
    known["episode"] = open_episode(context).episode_id
    address = f"http://127.0.0.1:{port}/api/v1/openapi.json"
    schema = schemathesis.openapi.from_url(address, headers=tokens["operate"])
    results = list(schema.get_all_operations())
    operations = [result.ok() for result in results if isinstance(result, Ok)]
    assert len(operations) == len(results)
    tried = [candidate for candidate in operations if candidate.path != "/api/v1/events"]
    assert len(tried) == len(operations) - 1 > 20
    for operation in tried:
        for mode in MODES:
            cases = operation.as_strategy(generation_mode=mode)
            ask_at_random(cases, tokens["operate"], known)
    context.episodes.close_all(60)


def open_episode(context: ApiContext) -> EpisodeSession:
    request = EpisodeRequest(suite="smoke", task="desktop-editor", ttl_s=3600)
    session = context.episodes.open(request)
    session.opening.result(60)
    return session


def ask_at_random(
    cases: Any,  # noqa: ANN401 - schemathesis'
    headers: dict[str, str],
    known: dict[str, str],
) -> None:
    """Send random requests to one operation: replies conform to the document, without server errors."""

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None)
    @given(case=cases, is_unknown=strategies.booleans())
    def ask(case: Any, is_unknown: bool) -> None:  # noqa: ANN401 - schemathesis'
        if not is_unknown:
            names = case.path_parameters or {}
            case.path_parameters = {**names, **{key: known[key] for key in names if key in known}}
        case.call_and_validate(headers=headers, checks=CHECKS)

    # An operation without parameters has no invalid requests; some invalid values cannot be generated.
    with contextlib.suppress(Unsatisfiable, InvalidSchema):
        ask()
