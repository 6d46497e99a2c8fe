"""Episodes over HTTP, on machines in memory."""

from __future__ import annotations

import base64
import gc
import os
import runpy
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from controller.service.api.app import make_app
from controller.service.api.server import Server, listen
from controller.service.episodes.session import End
from controller.service.episodes.sessions import KNOWN_S, EpisodeSessions
from controller.service.state.tokens import Role
from foundation.clock import FakeClock
from foundation.settings import REPOSITORY
from provisioning.fake import FakeFleet
from tests.tiers import IS_NIGHTLY
from tests.unit.controller.service.context import HOST, FakeFactory, make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI

    from controller.service.state.database import Database

BASE = "/api/v1/episodes"
EDITOR = {"suite": "smoke", "task": "desktop-editor", "ttl_s": 100}
TERMINAL = {"do": "open_app", "on": "desktop", "with": {"name": "Terminal"}}
WAIT = {"do": "wait", "with": {"seconds": 1}}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def fleet(clock: FakeClock) -> FakeFleet:
    return FakeFleet(clock)


@pytest.fixture
def sessions(fleet: FakeFleet, clock: FakeClock) -> Iterator[EpisodeSessions]:
    sessions = EpisodeSessions(FakeFactory(fleet, clock), clock, max_open=2)
    yield sessions
    sessions.close_all(30)


@pytest.fixture
def app(database: Database, tmp_path: Path, sessions: EpisodeSessions) -> FastAPI:
    return make_app(make_api_context(database, tmp_path, sessions), {HOST})


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    token = app.state.context.tokens.add("x", Role.OPERATE)
    headers = {"Authorization": f"Bearer {token}"}
    return TestClient(app, f"http://{HOST}", headers=headers)


def post(client: TestClient, path: str, status: int = 200, **body: object) -> dict[str, Any]:
    reply = client.post(f"{BASE}{path}", json=body)
    assert reply.status_code == status, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


def open_one(client: TestClient, **more: object) -> dict[str, Any]:
    return post(client, "", 201, **{**EDITOR, **more})


def step(client: TestClient, episode: str, request_id: str, *actions: object) -> dict[str, Any]:
    return post(client, f"/{episode}/step", request_id=request_id, actions=list(actions))


@pytest.mark.slow
def test_episode_is_opened_stepped_and_closed(client: TestClient, fleet: FakeFleet) -> None:
    opened = open_one(client, pictures="base64", trees=True)
    assert (opened["phase"], opened["outcome"]) == ("open", None)
    assert "packing.txt" in opened["instruction"]
    assert "complete" in {action["do"] for action in opened["actions"]}
    screen = opened["observation"]["screens"]["desktop"]
    assert base64.b64decode(screen["png"]).startswith(b"\x89PNG")
    assert client.get(screen["address"]).content == base64.b64decode(screen["png"])
    episode = opened["id"]
    refused = step(client, episode, "a", {"do": "fly"})
    assert "fly" in refused["observation"]["feedback"]
    done = step(client, episode, "b", TERMINAL)
    assert (done["observation"]["step"], done["reward"], done["terminated"]) == (1, 0.0, False)
    shown = client.get(f"{BASE}/{episode}").json()
    assert shown["observation"] == done["observation"]
    assert shown["observation"]["screens"]["desktop"]["png"] is None
    last = step(client, episode, "c", {"do": "complete"})
    assert (last["terminated"], last["truncated"], last["reward"]) == (True, False, 0.0)
    assert last["outcome"]["reason"] == "false_completion"
    assert last["outcome"]["fault"] == "none"
    assert fleet.leased == 0  # no longer needed
    assert step(client, episode, "c", {"do": "complete"}) == last
    standing = post(client, f"/{episode}/evaluate")
    assert (standing["verdict"], standing["is_final"], standing["nodes"]) == ("FAIL", True, 3)
    closed = post(client, f"/{episode}/close")
    assert (closed["phase"], closed["end"]) == ("over", "done")
    assert closed["observation"] is None
    assert post(client, f"/{episode}/close")["outcome"] == closed["outcome"]
    assert client.get(screen["address"]).status_code == 404
    over = post(client, f"/{episode}/step", 409, request_id="d", actions=[])
    assert over["error"]["code"] == "episode_over"


@pytest.mark.slow
def test_repeated_request_is_not_executed_again(client: TestClient) -> None:
    first = open_one(client, key="k")
    assert open_one(client, key="k")["id"] == first["id"]
    assert post(client, "", 409, **{**EDITOR, "key": "k", "seed": 1})["error"]["code"] == (
        "reused_id"
    )
    episode = first["id"]
    answer = step(client, episode, "1", TERMINAL)
    assert step(client, episode, "1", TERMINAL) == answer
    other = post(client, f"/{episode}/step", 409, request_id="1", actions=[WAIT])
    assert "used for another step" in other["error"]["brief"]
    later = [step(client, episode, str(number), WAIT) for number in range(2, 11)]
    assert later[-1]["observation"]["step"] == 10
    gone = post(client, f"/{episode}/step", 409, request_id="1", actions=[TERMINAL])
    assert "no longer kept" in gone["error"]["brief"]


def test_episode_can_be_evaluated_repeatedly(client: TestClient, fleet: FakeFleet) -> None:
    episode = open_one(client)["id"]
    standing = [post(client, f"/{episode}/evaluate") for _ in range(2)]
    assert standing[0] == standing[1]
    assert (standing[0]["verdict"], standing[0]["nodes_met"]) == ("FAIL", 0)
    assert [row["node"] for row in standing[0]["unmet"]] == [
        "file-open",
        "line-added",
        "file-right",
    ]
    assert step(client, episode, "1", TERMINAL)["observation"]["step"] == 1
    assert fleet.leased == 1


@pytest.mark.slow
def test_callers_queue_without_capacity(
    client: TestClient, sessions: EpisodeSessions, clock: FakeClock
) -> None:
    first, second = open_one(client), open_one(client)
    refused = client.post(BASE, json={**EDITOR, "key": "early"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "30")
    body = refused.json()
    assert (body["error"]["code"], body["reward"]) == ("no_capacity", None)
    assert (body["queue_length"], body["retry_after_s"]) == (1, 30)
    assert post(client, "", 429, **EDITOR, key="late")["queue_length"] == 2
    assert post(client, "", 429, **EDITOR)["queue_length"] == 3
    post(client, f"/{first['id']}/close")
    assert post(client, "", 429, **EDITOR, key="late")["queue_length"] == 2  # one is ahead
    assert open_one(client, key="early")["phase"] == "open"
    post(client, f"/{second['id']}/cancel")
    clock.advance(91)  # a caller that does not retry loses its place
    assert open_one(client)["phase"] == "open"


@pytest.mark.slow
def test_idle_episodes_expire_and_heartbeats_keep_them(
    client: TestClient, sessions: EpisodeSessions, fleet: FakeFleet, clock: FakeClock
) -> None:
    idle, kept = open_one(client)["id"], open_one(client)["id"]
    clock.advance(60)
    assert post(client, f"/{kept}/heartbeat", ttl_s=500)["expires_in_s"] == 500
    clock.advance(60)
    sessions.end_expired()
    shown = post(client, f"/{idle}/close")
    assert (shown["end"], shown["outcome"]["fault"]) == ("expired", "cancelled")
    assert client.get(f"{BASE}/{kept}").json()["phase"] == "open"
    assert fleet.leased == 1
    clock.advance(KNOWN_S + 101)
    sessions.end_expired()
    assert client.get(f"{BASE}/{idle}").status_code == 404


def test_task_limit_ends_an_episode_without_steps(
    client: TestClient, sessions: EpisodeSessions, fleet: FakeFleet, clock: FakeClock
) -> None:
    episode = open_one(client, ttl_s=3600)["id"]
    clock.advance(301)
    sessions.end_expired()
    shown = post(client, f"/{episode}/close")
    assert (shown["end"], shown["outcome"]["reason"]) == ("done", "time_limit")
    assert shown["outcome"]["verdict"] == "FAIL"
    assert fleet.leased == 0


def test_infrastructure_faults_return_no_reward(
    client: TestClient, fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_one(client)
    machine = next(iter(fleet.machines.values()))
    machine.power.stop()
    last = step(client, opened["id"], "1", TERMINAL)
    assert (last["reward"], last["truncated"]) == (None, True)
    assert last["outcome"]["fault"] == "infrastructure"
    assert (fleet.leased, last["outcome"]["verdict"]) == (0, "INCONCLUSIVE")

    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("the host is silent")

    monkeypatch.setattr(FakeFleet, "acquire", refuse)
    refused = post(client, "", 503, **EDITOR, key="again")
    assert (refused["error"]["code"], refused["reward"]) == ("infrastructure", None)
    assert "the host is silent" in refused["error"]["details"]
    monkeypatch.undo()
    assert open_one(client, key="again")["phase"] == "open"


def test_caller_with_a_short_deadline_asks_again(
    client: TestClient, fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, acquire = threading.Event(), fleet.acquire

    def wait(*args: Any, **named: Any) -> object:  # noqa: ANN401 - passed on
        free.wait(60)
        return acquire(*args, **named)

    monkeypatch.setattr(fleet, "acquire", wait)
    asked = {**EDITOR, "key": "k", "deadline_s": 0.01}
    late = post(client, "", 429, **asked)
    assert (late["queue_length"], late["retry_after_s"]) == (1, 5)
    (row,) = client.get(BASE).json()["episodes"]
    assert row["phase"] == "opening"
    assert post(client, f"/{row['id']}/step", 409, request_id="1", actions=[])["error"]["code"] == (
        "episode_busy"
    )
    assert post(client, f"/{row['id']}/close", 504, deadline_s=0.01)["error"]["code"] == "deadline"
    free.set()
    assert post(client, f"/{row['id']}/close")["end"] == "closed"
    assert open_one(client, key="k", deadline_s=0.01)["phase"] == "over"
    assert fleet.leased == 0


def test_cancellation_ends_a_running_step(
    client: TestClient, fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = open_one(client)["id"]
    machine = next(iter(fleet.machines.values()))
    begun, free, capture = threading.Event(), threading.Event(), machine.screen.capture

    def wait() -> object:
        begun.set()
        free.wait(60)
        return capture()

    monkeypatch.setattr(machine.screen, "capture", wait, raising=False)
    replies: list[dict[str, Any]] = []
    thread = threading.Thread(
        target=lambda: replies.append(step(client, episode, "1", TERMINAL, TERMINAL))
    )
    thread.start()
    begun.wait(60)
    busy = post(client, f"/{episode}/step", 409, request_id="2", actions=[WAIT])
    assert busy["error"]["code"] == "episode_busy"
    post(client, f"/{episode}/cancel", 504, deadline_s=0.01)
    free.set()
    thread.join()
    assert replies[0]["outcome"]["fault"] == "cancelled"
    assert (replies[0]["reward"], fleet.leased) == (None, 0)


def test_late_step_continues_and_is_answered_on_repetition(
    client: TestClient, fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = open_one(client)["id"]
    machine = next(iter(fleet.machines.values()))
    free, capture = threading.Event(), machine.screen.capture
    monkeypatch.setattr(
        machine.screen, "capture", lambda: free.wait(60) and capture(), raising=False
    )
    asked: dict[str, Any] = {"request_id": "1", "actions": [TERMINAL]}
    late = post(client, f"/{episode}/step", 504, **asked, deadline_s=0.01)
    assert (late["error"]["code"], "same id" in late["error"]["resolution"]) == ("deadline", True)
    free.set()
    assert post(client, f"/{episode}/step", **asked)["observation"]["step"] == 1
    assert step(client, episode, "2", WAIT)["observation"]["step"] == 2


@pytest.mark.slow
def test_service_shutdown_returns_all_machines(
    client: TestClient, sessions: EpisodeSessions, fleet: FakeFleet
) -> None:
    episodes = [open_one(client)["id"] for _ in range(2)]
    assert fleet.leased == 2
    stop = threading.Event()
    stop.set()
    sessions(stop)
    assert fleet.leased == 0
    shown = [client.get(f"{BASE}/{episode}").json() for episode in episodes]
    assert [(record["end"], record["outcome"]["fault"]) for record in shown] == [
        ("cancelled", "cancelled")
    ] * 2


def test_invalid_action_list_is_rejected(client: TestClient) -> None:
    reply = post(client, "/x/step", 422, request_id="1", actions="nonsense")["error"]
    assert "valid list" in reply["details"]
    assert "openapi" in reply["resolution"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"suite": "nothing", "task": "x"}, "nothing"),
        ({"suite": "smoke", "task": "desktop-editr"}, "desktop-editor"),
        ({"suite": "smoke", "task": "desktop-editor", "ttl_s": 0}, "ttl_s"),
        ({"suite": "smoke", "task": "desktop-editor", "shell": "rm"}, "shell"),
    ],
)
def test_wrong_episodes_are_rejected(
    client: TestClient, body: dict[str, object], message: str
) -> None:
    assert message in str(post(client, "", 422, **body))
    assert client.get(BASE).json() == {"episodes": []}


@pytest.mark.slow
def test_abandoned_episodes_leak_nothing(
    client: TestClient, sessions: EpisodeSessions, fleet: FakeFleet, clock: FakeClock
) -> None:
    """Bound machines, threads, file descriptors and memory: 100 episodes in `make test`, 1,000 in the nightly."""

    def abandon(count: int) -> None:
        for number in range(count):
            episode = open_one(client)["id"]
            if number % 3:
                step(client, episode, "1", WAIT)
            if number % 2:
                clock.advance(101)
                sessions.end_expired()
                for session in sessions.entries():
                    session.close().result(60)
        assert {closed.end for closed in sessions.entries()} == {End.EXPIRED}
        for thread in threads():
            thread.join(60)

    abandon(4)
    before = descriptors(), memory_mib()
    abandon(1000 if IS_NIGHTLY else 100)
    assert len(fleet.machines) == 2
    assert fleet.leased == 0
    assert threads() == []
    assert descriptors() <= before[0]
    assert memory_mib() - before[1] < 64
    clock.advance(KNOWN_S + 101)
    sessions.end_expired()
    assert sessions.entries() == []


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("episode-")]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def memory_mib() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.slow
def test_example_drives_an_episode(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sessions: EpisodeSessions,
) -> None:
    context = make_api_context(database, tmp_path, sessions)
    monkeypatch.setenv("MESOCOSM_TOKEN", context.tokens.add("example", Role.OPERATE))
    listener = listen("127.0.0.1", 0)
    name = f"127.0.0.1:{listener.getsockname()[1]}"
    thread = threading.Thread(
        target=Server(make_app(context, {name}), listener), args=(context.stop,)
    )
    thread.start()
    try:
        example = runpy.run_path(str(REPOSITORY / "examples/python/episode_http.py"))
        example["main"](f"http://{name}", "tiny", "write-file", "fake")
    finally:
        context.stop.set()
        thread.join()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Write the word hello")
    assert lines[-2:] == ["1/1 nodes, reward 1.0", "PASS: success"]
