from __future__ import annotations

import base64
import socket
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr

from controller.models.endpoint import ModelEndpoint
from controller.models.failures import asked_pause_s
from controller.models.messages import Message, Request, Role
from controller.models.preflight import require_listening
from controller.models.settings import ModelSettings
from foundation.bounded import CallThread
from foundation.clock import SYSTEM_CLOCK, FakeClock
from foundation.errors import ModelRefusalError, ModelUnavailableError, RequirementError
from tests.unit.controller.stand_in import DROPPED, HUNG, completion, stand_in

DONE = completion(("session__complete", "{}"))
BUSY: dict[str, Any] = {"error": {"message": "slow down"}}
REQUEST = Request((Message(Role.USER, ("hello",)),))


class Watched(FakeClock):
    """A fake clock that records the waits."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        super().sleep(seconds)


def settings(base_url: str, **changes: object) -> ModelSettings:
    made = ModelSettings(base_url=base_url, api_key=SecretStr("key"), name="stand-in")
    return made.model_copy(update=changes)


def test_waiting_for_a_busy_endpoint_is_not_agent_time() -> None:
    clock = Watched()
    with stand_in((429, BUSY), (503, "down"), (200, DONE)) as server:
        endpoint = ModelEndpoint(settings(server.base_url), clock)
        answer = endpoint.ask(REQUEST)
    # The stand-in requests pauses of a millisecond.
    assert clock.pauses == [0.001, 0.001]
    assert answer.outage_s == pytest.approx(0.002)
    assert len(server.requests) == 3


def test_pauses_grow_without_a_retry_after_header() -> None:
    clock = Watched()
    with stand_in((200, "no JSON")) as server, pytest.raises(ModelUnavailableError):
        ModelEndpoint(settings(server.base_url, retries=5), clock).ask(REQUEST)
    assert clock.pauses == [0.5, 1, 2, 4, 8]


def test_trial_has_one_budget_for_all_outages() -> None:
    clock = Watched()
    with stand_in((200, "no JSON"), (200, DONE), (200, "no JSON")) as server:
        endpoint = ModelEndpoint(settings(server.base_url, retries=9, outage_s=3.0), clock)
        assert endpoint.ask(REQUEST).outage_s == 0.5
        with pytest.raises(ModelUnavailableError):
            endpoint.ask(REQUEST)
    assert sum(clock.pauses) == pytest.approx(3)
    assert endpoint.outage_s == pytest.approx(3)


def test_unreachable_server_is_retried_until_the_budget_is_spent() -> None:
    clock = Watched()
    with stand_in((200, DONE), asleep=True) as server:
        endpoint = ModelEndpoint(settings(server.base_url, retries=0, outage_s=60.0), clock)
        with pytest.raises(ModelUnavailableError) as caught:
            endpoint.ask(REQUEST)
    assert clock.pauses[:6] == [0.5, 1, 2, 4, 8, 8]
    assert sum(clock.pauses) == pytest.approx(60, abs=5)
    assert caught.value.outage_s == pytest.approx(60, abs=0.01)


def test_missing_endpoint_is_detected_before_a_run() -> None:
    with stand_in((200, DONE)) as server:
        require_listening(settings(server.base_url))
        assert server.requests == []
    with pytest.raises(RequirementError, match="No server answers at http://127"):
        require_listening(settings(server.base_url.replace("://", "://me:word-of-mouth@")))


@pytest.mark.parametrize("status", [401, 403, 404])
def test_wrong_key_or_name_is_not_retried(status: int) -> None:
    with stand_in((status, "no")) as server, pytest.raises(ModelUnavailableError):
        ModelEndpoint(settings(server.base_url), FakeClock()).ask(REQUEST)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "context_length_exceeded", "code": "context_length_exceeded"}}),
        (413, "Request Entity Too Large"),
        (422, "images are not supported"),
        (500, {"error": {"message": "the request exceeds the available context size"}}),
        (403, {"error": {"message": "Your input was flagged by moderation"}}),
        (200, {"choices": [{"message": {"refusal": "no"}}]}),
        (200, {"choices": [{"message": {}, "finish_reason": "content_filter"}]}),
    ],
)
def test_refusals_are_not_retried(status: int, body: dict[str, Any] | str) -> None:
    with stand_in((status, body)) as server, pytest.raises(ModelRefusalError):
        ModelEndpoint(settings(server.base_url), FakeClock()).ask(REQUEST)
    assert len(server.requests) == 1


@pytest.mark.parametrize("is_client_first", [False, True])
@pytest.mark.slow
def test_request_has_a_deadline_even_when_bytes_trickle_in(
    monkeypatch: pytest.MonkeyPatch, *, is_client_first: bool
) -> None:
    """The SDK's own timeout restarts with every byte; on a busy host it may still expire first."""
    if is_client_first:
        run = CallThread.run
        monkeypatch.setattr(
            CallThread,
            "run",
            lambda self, call, *, timeout_s: run(self, call, timeout_s=99 * timeout_s),
        )
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        endpoint = ModelEndpoint(settings(address, outage_s=0.1, timeout_s=0.3))
        start_s = SYSTEM_CLOCK.monotonic_s()
        with pytest.raises(ModelUnavailableError, match=r"within 0\.3 s"):
            endpoint.ask(REQUEST)
        assert SYSTEM_CLOCK.monotonic_s() - start_s < 20
    assert endpoint.outage_s == pytest.approx(0.3, abs=5)


@pytest.mark.parametrize(
    ("headers", "pause_s"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "86400"}, 60.0),
        ({"retry-after": "Mon, 23 Nov 2026 12:00:04 GMT"}, 4.0),
        ({"retry-after": "Mon, 23 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({}, None),
    ],
)
def test_retry_after_is_in_seconds_or_a_date(
    headers: dict[str, str], pause_s: float | None
) -> None:
    now_s = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
    assert asked_pause_s(headers, now_s) == pause_s


def test_error_reported_with_status_200_is_quoted() -> None:
    with (
        stand_in((200, {"error": {"message": "model is loading"}})) as server,
        pytest.raises(ModelUnavailableError) as caught,
    ):
        ModelEndpoint(settings(server.base_url, retries=0), FakeClock()).ask(REQUEST)
    assert caught.value.details.startswith("Server message: model is loading\nchoices: ")
    assert "errors.pydantic.dev" not in caught.value.details


def test_sampling_options_are_sent_only_where_set() -> None:
    with stand_in((200, DONE)) as server:
        ModelEndpoint(settings(server.base_url)).ask(REQUEST)
        sampled = settings(server.base_url, temperature=0.0, top_p=0.9, max_tokens=7)
        ModelEndpoint(sampled).ask(REQUEST)
    plain, full = server.requests
    assert not {"temperature", "top_p", "max_tokens"} & set(plain)
    assert (full["temperature"], full["top_p"], full["max_tokens"]) == (0.0, 0.9, 7)


def test_password_in_the_address_is_sent_and_never_shown() -> None:
    with stand_in((401, "wrong: me, word-of-mouth, tok-en-12345")) as server:
        address = server.base_url.replace("://", "://me:word-of-mouth@") + "?token=tok-en-12345"
        with pytest.raises(ModelUnavailableError) as caught:
            ModelEndpoint(settings(address), FakeClock()).ask(REQUEST)
    assert server.keys == [f"Basic {base64.b64encode(b'me:word-of-mouth').decode()}"]
    assert "wrong: me, ***, ***" in caught.value.details
    assert "word-of-mouth" not in str(caught.value)
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "warned"),
    [
        ((429, BUSY), "HTTP 429 (RateLimitError). slow down. Retrying in 0.001 s."),
        ((500, f"bad \x1b[31m{'x' * 999}"), "HTTP 500 (InternalServerError). bad [31mxxx"),
        ((503, "my key is key"), "HTTP 503 (InternalServerError). my key is ***. Retrying"),
        ((200, "<html>"), "not a chat completion. reply: Invalid JSON: expected value at line 1"),
        (DROPPED, "Retrying in 0.5 s."),
    ],
)
def test_warning_has_the_outcome_and_the_time_of_the_retry(
    caplog: pytest.LogCaptureFixture, answer: tuple[int, Any], warned: str
) -> None:
    with stand_in(answer, (200, DONE)) as server:
        ModelEndpoint(settings(server.base_url), FakeClock()).ask(REQUEST)
    (message,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warned in message
    assert "\x1b" not in message
    assert len(message) < 350


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        ((429, BUSY), "Run fewer trials in parallel"),
        ((500, "down"), "check its log"),
        ((200, "<html>"), "often end in /v1"),
        (HUNG, "increase MESOCOSM_MODEL_TIMEOUT_S (0.3 s)"),
        ((401, "no"), "the model's name and its key"),
    ],
)
def test_advice_fits_the_server_error(answer: tuple[int, Any], advice: str) -> None:
    timeout_s = 0.3 if answer == HUNG else 10.0  # on a busy host any answer may take 0.3 s
    with stand_in(answer) as server, pytest.raises(ModelUnavailableError) as caught:
        ModelEndpoint(settings(server.base_url, timeout_s=timeout_s, outage_s=0.5, retries=0)).ask(
            REQUEST
        )
    assert advice in caught.value.resolution
    assert ("key" in caught.value.resolution) is (answer[0] == 401)
    assert caught.value.details


@pytest.mark.slow
def test_hung_server_is_reported_whichever_clock_expires_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CallThread, "run", lambda _thread, act, timeout_s: act())  # noqa: ARG005
    with stand_in(HUNG) as server, pytest.raises(ModelUnavailableError) as caught:
        ModelEndpoint(settings(server.base_url, timeout_s=0.3, outage_s=0.5, retries=0)).ask(
            REQUEST
        )
    assert "increase MESOCOSM_MODEL_TIMEOUT_S (0.3 s)" in caught.value.resolution


def test_negative_usage_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    with stand_in((200, completion(("session__complete", "{}"), tokens=(-5, 1)))) as server:
        ModelEndpoint(settings(server.base_url)).ask(REQUEST)
    assert "prompt_tokens are not counted; the value was negative: -5" in caplog.text
