"""The client against a service on loopback, with machines in memory."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import mesocosm
from foundation.clock import SYSTEM_CLOCK
from mesocosm import act
from mesocosm.client import errors
from mesocosm.client.models import Verdict
from tests.unit.mesocosm.live_service import LiveService, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

EDITOR = "smoke/desktop-editor"
TERMINAL = act("open_app", "desktop", name="Terminal")
HELLO = act("type_text", "desktop", text="echo hello > note.txt\n")

pytestmark = pytest.mark.slow


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(200):
        if is_so():
            return
        threading.Event().wait(0.1)
    raise TimeoutError


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with serving(tmp_path_factory.mktemp("service"), max_open=2) as live:
        yield live


@pytest.fixture
def client(service: LiveService) -> Iterator[mesocosm.Client]:
    with mesocosm.connect(service.url, service.token) as connected:
        yield connected
    assert service.fleet.leased == 0


def test_episode_is_driven_to_its_verdict(client: mesocosm.Client) -> None:
    with client.open("tiny/write-file", seed=7) as env:
        assert env.instruction.startswith("Write the word hello")
        assert "open_app" in {action.do for action in env.actions}
        assert env.observation is not None
        screen = env.observation.screen
        assert (screen.width, screen.height) == (320, 200)
        assert screen.png
        assert screen.png.startswith(b"\x89PNG")
        assert not env.step([TERMINAL]).done
        assert env.observe() == env.observation
        standing = env.evaluate()
        assert (standing.reward, standing.is_final) == (0.0, False)
        step = env.step([HELLO])
        assert (step.reward, step.terminated, step.truncated) == (1.0, True, False)
    assert env.outcome is not None
    assert (env.outcome.verdict, env.outcome.reason) == (Verdict.PASS, "success")
    assert env.close() == env.outcome


def test_async_client_does_the_same(service: LiveService) -> None:
    async def drive() -> tuple[list[str], mesocosm.AsyncEnv]:
        async with mesocosm.connect_async(service.url, service.token) as client:
            async with await client.open("tiny/write-file") as env:
                await env.step([TERMINAL])
                assert (await env.observe()).step == 1
                await env.step([HELLO])
                assert (await env.evaluate()).nodes_met == 1
            assert (await client.episodes())[0].id == env.episode_id
            return await client.suites(), env

    suites, env = asyncio.run(drive())
    assert env.outcome is not None
    assert env.outcome.verdict == Verdict.PASS
    assert "smoke" in suites
    assert service.fleet.leased == 0


def test_exception_cancels_the_episode(client: mesocosm.Client, service: LiveService) -> None:
    with pytest.raises(ZeroDivisionError), client.open(EDITOR) as env:
        raise ZeroDivisionError
    assert env.outcome is not None
    assert env.outcome.fault == "cancelled"
    assert service.fleet.leased == 0


def test_suites_and_tasks_are_listed(client: mesocosm.Client) -> None:
    assert "smoke" in client.suites()
    tasks = {task.id: task.roles for task in client.suite("smoke").tasks}
    assert tasks["desktop-editor"] == {"desktop": "desktop"}


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda client: client.open("smoke"), errors.RequestError, "SUITE/TASK"),
        (lambda client: client.open("smoke/desktop-editr"), errors.RequestError, "desktop-editor"),
        (lambda client: client.suite("smok"), errors.UnknownError, "smoke"),
        (lambda client: client.open(EDITOR, ttl_s=0), errors.RequestError, "ttl_s"),
        (lambda client: client.open(EDITOR).step([{"doo": 1}]), errors.RequestError, "doo"),
        (lambda client: client.open(EDITOR).step({"do": "x"}), errors.RequestError, "list"),
        (lambda client: client.open(EDITOR).step(["click"]), errors.RequestError, r"act\(NAME"),
        (lambda client: client.open(EDITOR).step("click"), errors.RequestError, "list"),
        (lambda client: client.open(EDITOR, tree=True), errors.RequestError, "trees"),
    ],
)
def test_wrong_requests_have_clear_errors(
    client: mesocosm.Client,
    call: Callable[[mesocosm.Client], object],
    kind: type[errors.ServiceError],
    message: str,
) -> None:
    with pytest.raises(kind, match=message):
        call(client)
    client.close()


def test_ended_episode_is_refused(client: mesocosm.Client) -> None:
    env = client.open(EDITOR)
    env.close()
    with pytest.raises(errors.EpisodeOverError, match="INCONCLUSIVE") as caught:
        env.step([TERMINAL])
    assert caught.value.code == "episode_over"
    with pytest.raises(errors.EpisodeOverError):
        env.observe()


def test_wrong_token_and_silent_service(service: LiveService, monkeypatch: Any) -> None:  # noqa: ANN401
    with (
        mesocosm.connect(service.url, "wrong") as client,
        pytest.raises(errors.TokenError, match="service token add"),
    ):
        client.suites()
    monkeypatch.setattr("mesocosm.client.exchange._FIRST_PAUSE_S", 0.0)
    with (
        mesocosm.connect("http://127.0.0.1:1", "x") as client,
        pytest.raises(errors.UnreachableError, match="service start"),
    ):
        client.suites()


def test_full_service_is_waited_for(client: mesocosm.Client, service: LiveService) -> None:
    first, second = client.open(EDITOR), client.open(EDITOR)
    with pytest.raises(errors.CapacityError, match="already open"):
        client.open(EDITOR, wait_s=0.0, key="later")
    threading.Timer(0.5, first.close).start()
    third = client.open(EDITOR, wait_s=60, key="later")
    assert service.fleet.leased == 2
    second.close()
    third.close()


def test_commands_run_if_the_episode_allows_them(client: mesocosm.Client) -> None:
    with client.open(EDITOR, commands="agent") as env:
        result = env.run("desktop", ["cat"], input=b"\x00\xff")
        assert (result.exit_code, result.stdout, result.fault) == (0, b"\x00\xff", "")
        assert env.run("desktop", ["nonsense"]).exit_code == 127
        with pytest.raises(errors.StateConflictError, match="'root'"):
            env.run("desktop", ["id", "-un"], user="root")
        with pytest.raises(errors.UnknownError, match="phone"):
            env.run("phone", ["id"])
    with client.open(EDITOR, commands="root") as env:
        assert env.run("desktop", ["id", "-un"], user="root").stdout == b"root\n"
    with client.open(EDITOR) as env, pytest.raises(errors.StateConflictError, match="opened with"):
        env.run("desktop", ["cat"])


def test_closed_client_says_so(service: LiveService) -> None:
    client = mesocosm.connect(service.url, service.token)
    env = client.open(EDITOR)
    client.close()
    assert service.fleet.leased == 0
    for call in (client.suites, env.observe, lambda: client.open(EDITOR)):
        with pytest.raises(errors.StateConflictError, match="client is closed"):
            call()


def test_pictures_are_not_in_the_representation(client: mesocosm.Client) -> None:
    with client.open(EDITOR) as env:
        assert len(repr(env.step([TERMINAL]))) < 1000


class Interrupting(httpx.HTTPTransport):
    """Ctrl-C after the service has executed a request, before its reply arrives."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        super().handle_request(request).read()
        raise KeyboardInterrupt


def test_interrupted_opening_keeps_no_machines(
    service: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mesocosm.connect(service.url, service.token) as client:
        with monkeypatch.context() as patch, Interrupting() as transport:
            patch.setattr(client._http, "_transport", transport)
            with pytest.raises(KeyboardInterrupt):
                client.open(EDITOR)
        wait_until(lambda: service.fleet.leased == 0)
        assert client.episodes()[0].end == "cancelled"


class Hanging(httpx.AsyncHTTPTransport):
    """A connection whose replies do not arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.has_sent = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await (await super().handle_async_request(request)).aread()
        self.has_sent.set()
        await asyncio.Event().wait()
        raise AssertionError


class Silent(Hanging):
    """A connection that sends nothing."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.has_sent.set()
        await asyncio.Event().wait()
        raise AssertionError


def test_cancelled_opening_keeps_no_machines(
    service: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drive() -> None:
        async with mesocosm.connect_async(service.url, service.token) as client:
            transport = Hanging()
            monkeypatch.setattr(client._http, "_transport", transport)
            opening = asyncio.create_task(client.open(EDITOR))
            await transport.has_sent.wait()
            assert service.fleet.leased == 1
            opening.cancel()
            await asyncio.wait({opening})

    asyncio.run(drive())
    wait_until(lambda: service.fleet.leased == 0)


def test_cancelled_closing_ends_the_episode(
    service: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drive() -> None:
        client = mesocosm.connect_async(service.url, service.token)
        env = await client.open(EDITOR)
        await client._http._transport.aclose()
        transport = Silent()
        monkeypatch.setattr(client._http, "_transport", transport)
        closing = asyncio.create_task(client.close())
        await transport.has_sent.wait()
        assert (env.outcome, service.fleet.leased) == (None, 1)
        closing.cancel()
        await asyncio.wait({closing})

    asyncio.run(drive())
    wait_until(lambda: service.fleet.leased == 0)


def test_key_that_was_given_up_opens_nothing_later(
    client: mesocosm.Client, service: LiveService
) -> None:
    assert service.sessions.give_up("early") is None
    with pytest.raises(errors.EpisodeOverError, match="cancelled"):
        client.open(EDITOR, key="early")
    assert service.fleet.leased == 0


class LosingReplies(httpx.HTTPTransport):
    """A connection that breaks after the service has executed a request."""

    lost = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        if request.method == "POST" and self.lost < 3:
            self.lost += 1
            response.read()
            raise httpx.ReadError("connection reset by peer")
        return response


def test_lost_replies_execute_nothing_twice(
    service: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.client.exchange._FIRST_PAUSE_S", 0.01)
    with mesocosm.connect(service.url, service.token) as client:
        transport = LosingReplies()
        monkeypatch.setattr(client._http, "_transport", transport)
        with client.open(EDITOR) as env:
            assert transport.lost == 3
            assert service.fleet.leased == 1
            transport.lost = 0
            assert env.step([TERMINAL]).observation.step == 1
            assert transport.lost == 3
        assert env.outcome is not None


def test_heartbeats_keep_what_is_used_and_nothing_else(tmp_path: Path) -> None:
    with (
        serving(tmp_path, SYSTEM_CLOCK, tends=True) as service,
        mesocosm.connect(service.url, service.token) as client,
    ):
        kept = client.open(EDITOR, ttl_s=5.0)
        dropped = client.open(EDITOR, ttl_s=6.0)
        assert service.fleet.leased == 2
        del dropped  # its program forgot it
        gc.collect()
        wait_until(lambda: service.fleet.leased == 1)
        assert [row.end for row in client.episodes()] == ["expired", None]
        assert not kept.step([TERMINAL]).done


def test_dead_client_loses_its_machines(tmp_path: Path) -> None:
    with serving(tmp_path, SYSTEM_CLOCK, tends=True) as service:
        client = mesocosm.connect(service.url, service.token)
        env = client.open(EDITOR, ttl_s=1.0)
        client._heart.stop()  # what the end of its process does
        client._http.close()
        wait_until(lambda: service.fleet.leased == 0)
        assert env.outcome is None
