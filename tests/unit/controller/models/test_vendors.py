"""All clients against the stand-in server over HTTP: what is sent, replied, refused, and counted."""

from __future__ import annotations

import gc
import io
import json
import warnings
from typing import Any

import pytest
from PIL import Image as Picture

from controller.model_server.server import serving
from controller.models.endpoint import ModelEndpoint
from controller.models.messages import Image, Message, Request, Role, Tool
from controller.models.usage import Usage
from foundation.clock import FakeClock
from foundation.errors import ModelRefusalError, ModelUnavailableError
from tests.unit.controller.models.vendors import ADAPTERS, KEY, script, settings

each = pytest.mark.parametrize("adapter", ADAPTERS)
TOOL = Tool(
    "desktop__click",
    "Click.",
    {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
)
SYSTEM = Message(Role.SYSTEM, ("You act.",))


def picture(colour: str = "red") -> Image:
    out = io.BytesIO()
    Picture.new("RGB", (40, 20), colour).save(out, "PNG")
    return Image(out.getvalue())


def ask(*messages: Message, tools: tuple[Tool, ...] = (TOOL,)) -> Request:
    return Request((SYSTEM, *messages), tools)


HELLO = Message(Role.USER, ("hello", picture()))


@pytest.mark.slow
@each
def test_text_tools_and_pictures_are_sent_and_calls_returned(adapter: str) -> None:
    rule = {
        "when": {"turn": 1, "system": "You act", "images": 1, "tool": "desktop__click"},
        "reply": {
            "text": "I click.",
            "reasoning": "It is red.",
            "calls": [{"name": "desktop__click", "with": {"x": "${x}"}}],
            "point": {"colour": [255, 0, 0]},
            "usage": {"input": 100, "output": 20, "cached": 60, "reasoning": 7},
        },
    }
    written: list[dict[str, Any]] = []
    with serving(script(rule, key=KEY)) as server:
        endpoint = ModelEndpoint(
            settings(server, adapter), write=lambda kind, **data: written.append({kind: data})
        )
        reply = endpoint.ask(ask(HELLO)).reply
    (call,) = reply.message.calls
    assert (reply.message.text, reply.message.reasoning) == ("I click.", "It is red.")
    assert (call.name, json.loads(call.arguments), call.malformed) == (
        "desktop__click",
        {"x": 20},
        "",
    )
    assert reply.usage == Usage(100, 20, 0.0, 60, 7)
    assert reply.warnings == ()
    assert [list(entry) for entry in written] == [["reply"]]
    assert "I click." in written[0]["reply"]["raw"]


@each
def test_conversation_returns_what_the_model_said_and_answers_its_calls(adapter: str) -> None:
    first = {
        "when": {"turn": 1},
        "reply": {
            "reasoning": "Two steps.",
            "calls": [
                {"name": "desktop__click", "with": {"x": 1}},
                {"name": "desktop__click", "with": {"x": 2}},
            ],
        },
    }
    second = {"when": {"turn": 2, "text": "Done.*It failed", "images": 2}, "reply": {"text": "ok"}}
    with serving(script(first, second)) as server:
        endpoint = ModelEndpoint(settings(server, adapter))
        reply = endpoint.ask(ask(HELLO)).reply
        one, two = (call.id for call in reply.message.calls)
        answers = (
            Message(Role.TOOL, ("Done.",), call_id=one),
            Message(Role.TOOL, ("It failed.",), call_id=two, is_error=True),
            Message(Role.USER, (picture("blue"),)),
        )
        last = endpoint.ask(ask(HELLO, reply.message, *answers)).reply
        assert last.message.text == "ok"
        assert server.responder.violations == []


@each
def test_usage_is_unknown_rather_than_wrong(adapter: str) -> None:
    rules: list[dict[str, Any]] = [
        {"times": 1, "reply": {"text": "a", "usage": "missing"}},
        {"times": 1, "reply": {"text": "a", "usage": "wrong"}},
        {"times": 1, "reply": {"text": "a", "usage": {"input": 9, "output": 4}}},
        {"reply": {"text": "a"}},
    ]
    with serving(script(*rules)) as server:
        endpoint = ModelEndpoint(settings(server, adapter))
        replies = [endpoint.ask(ask(HELLO)).reply for _ in rules]
    assert [reply.usage.tokens[:2] for reply in replies[:3]] == [(None, None), (None, None), (9, 4)]
    assert [bool(reply.warnings) for reply in replies] == [True, True, False, False]
    assert replies[3].usage.is_known


@pytest.mark.slow
@each
def test_outages_are_retried_and_others_are_final(adapter: str) -> None:
    rules: list[dict[str, Any]] = [
        {"times": 1, "status": 429, "message": "slow down", "retry_after_s": 0.25},
        {"times": 1, "status": 500},
        {"times": 1, "raw": "<html>"},
        {"reply": {"text": "a"}},
    ]
    clock = FakeClock()
    with serving(script(*rules)) as server:
        answer = ModelEndpoint(settings(server, adapter, outage_s=60.0), clock).ask(ask(HELLO))
    assert answer.reply.message.text == "a"
    assert answer.outage_s == pytest.approx(0.25 + 1 + 2, abs=0.1)
    for status in (401, 403, 404):
        with (
            serving(script({"status": status, "message": f"no {KEY}"})) as server,
            pytest.raises(ModelUnavailableError, match=str(status)) as caught,
        ):
            ModelEndpoint(settings(server, adapter), clock).ask(ask(HELLO))
        assert len(server.responder.records) == 1
        assert KEY not in str(caught.value)
    with serving(script({"reply": {"text": "a"}})) as server:
        dead = settings(server, adapter)
    with pytest.raises(ModelUnavailableError) as caught:
        ModelEndpoint(dead, clock).ask(ask(HELLO))
    assert "Check that a server listens" in caught.value.resolution


@each
def test_dropped_connections_and_slow_replies(adapter: str) -> None:
    rules: list[dict[str, Any]] = [
        {"times": 1, "drop": True, "reply": {"text": "a" * 50}},
        {"reply": {"text": "slow"}, "chunk_s": 0.01},
    ]
    with serving(script(*rules)) as server:
        answer = ModelEndpoint(settings(server, adapter, outage_s=60.0), FakeClock()).ask(
            ask(HELLO)
        )
    assert answer.reply.message.text == "slow"


@pytest.mark.slow
@each
def test_refusals_and_filters_are_refusals(adapter: str) -> None:
    rules: list[dict[str, Any]] = [
        {"reply": {"refusal": "I will not."}},
        {"reply": {"text": "a", "stop": "filtered"}},
        {"status": 400, "message": "prompt is too long"},
    ]
    for rule in rules:
        with serving(script(rule)) as server, pytest.raises(ModelRefusalError):
            ModelEndpoint(settings(server, adapter), FakeClock()).ask(ask(HELLO))
        assert len(server.responder.records) == 1


@each
def test_malformed_arguments_and_names_arrive_as_they_were_written(adapter: str) -> None:
    rule = {
        "reply": {
            "calls": [
                {"name": "desktop__click", "with": '{"x": 1'},
                {"name": "", "with": {}},
                {"name": "desktop__click", "with": "[1]"},
            ]
        }
    }
    with serving(script(rule)) as server:
        reply = ModelEndpoint(settings(server, adapter)).ask(ask(HELLO)).reply
    cut, nameless, listed = reply.message.calls
    assert json.loads(json.dumps(cut.arguments)) == '{"x": 1' or cut.arguments == '"{\\"x\\": 1"'
    assert nameless.malformed
    assert json.loads(listed.arguments) == [1]


@each
def test_keys_are_sent_as_the_vendor_wants_them(adapter: str) -> None:
    with serving(script({"reply": {"text": "a"}}, key="another")) as server:
        with pytest.raises(ModelUnavailableError, match="401"):
            ModelEndpoint(settings(server, adapter), FakeClock()).ask(ask(HELLO))
        assert [record["status"] for record in server.responder.records] == [401]


@each
def test_sampling_and_extra_fields_are_sent(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from controller.model_server.answering import Responder

    bodies: list[dict[str, Any]] = []
    answer = Responder.answer

    def spy(self: Responder, path: str, headers: dict[str, str], body: bytes) -> Any:  # noqa: ANN401
        bodies.append(json.loads(body))
        return answer(self, path, headers, body)

    monkeypatch.setattr(Responder, "answer", spy)
    with serving(script({"reply": {"text": "a"}})) as server:
        chosen = settings(
            server, adapter, temperature=0.0, max_tokens=77, extra={"service_tier": "flex"}
        )
        ModelEndpoint(chosen).ask(Request((HELLO,), (), seed=5))
    (body,) = bodies
    assert body["service_tier"] == "flex"
    flat = json.dumps(body)
    assert "77" in flat
    assert ('"seed": 5' in flat) is (adapter in {"openai", "google"})
    config = body.get("generationConfig", body)
    assert config["temperature"] == 0.0


@pytest.mark.slow
@each
def test_connections_are_closed_with_their_client(adapter: str) -> None:
    with serving(script({"reply": {"text": "Hello."}}, key=KEY)) as server:
        endpoint = ModelEndpoint(settings(server, adapter))
        endpoint.ask(ask(HELLO))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ResourceWarning)
            del endpoint
            gc.collect()
    assert [str(each.message) for each in caught] == []
