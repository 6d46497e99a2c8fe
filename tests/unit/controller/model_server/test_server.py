"""The server beside the clients' tests: matchers, forbidden content, places in pictures, streams."""

from __future__ import annotations

import base64
import io
import json
import re
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest
from PIL import Image, ImageDraw

from controller.model_server.script import parse_script
from controller.model_server.server import ModelServer, serving
from controller.models.anthropic.gateway import AnthropicGateway
from controller.models.google.gateway import GoogleGateway
from controller.models.openai.gateway import OpenAIGateway
from controller.models.usage import Usage
from foundation.errors import RequirementError

if TYPE_CHECKING:
    from controller.models.client import GatewayRules


def chat(server: ModelServer, *messages: dict[str, Any], model: str = "m") -> httpx2.Response:
    body = {"model": model, "messages": [*messages]}
    return httpx2.post(f"{server.address}/v1/chat/completions", json=body)


def user(text: str, *pictures: bytes) -> dict[str, Any]:
    urls = [f"data:image/png;base64,{base64.b64encode(data).decode()}" for data in pictures]
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return {"role": "user", "content": [{"type": "text", "text": text}, *parts]}


def square(at: tuple[int, int], size: tuple[int, int] = (200, 100)) -> bytes:
    picture = Image.new("RGB", size, "white")
    x, y = at
    ImageDraw.Draw(picture).rectangle((x - 5, y - 5, x + 4, y + 4), fill=(255, 0, 0))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def said(response: httpx2.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_replies_are_derived_from_what_each_member_was_sent() -> None:
    script = parse_script(
        {
            "members": {
                "planner": {
                    "must_not_see": ["secret-of-the-tool"],
                    "rules": [
                        {"when": {"text": "number (\\d+)"}, "reply": {"text": "It is ${1}."}},
                        {"times": 1, "reply": {"text": "once"}},
                        {"reply": {"text": "turn ${turn}"}},
                    ],
                },
                "grounder": {
                    "images": True,
                    "rules": [
                        {
                            "when": {"images": 1},
                            "reply": {"text": "(${x},${y})", "point": {"colour": [255, 0, 0]}},
                        }
                    ],
                },
            }
        }
    )
    with serving(script) as server:
        assert said(chat(server, user("the number 42"), model="planner")) == "It is 42."
        assert said(chat(server, user("a"), model="planner")) == "once"
        assert said(chat(server, user("a"), model="planner")) == "turn 1"
        history = [user("a"), {"role": "assistant", "content": "b"}, user("c")]
        assert said(chat(server, *history, model="planner")) == "turn 2"
        pointed = chat(server, user("where?", square((120, 30))), model="grounder")
        assert said(pointed) == "(120,30)"
        assert server.responder.violations == []
        forbidden = chat(server, user("secret-of-the-tool"), model="planner")
        assert forbidden.status_code == 400
        assert "must not see" in forbidden.json()["error"]["message"]
        unanswered = chat(server, user("no picture"), model="grounder")
        assert unanswered.status_code == 400
        assert len(server.responder.violations) == 2
        assert chat(server, user("a"), model="another").status_code == 404
        names = [row["id"] for row in httpx2.get(f"{server.address}/v1/models").json()["data"]]
        assert names == ["planner", "grounder"]
        sent = [record for record in server.responder.records if record["status"] == 200]
        assert [record["model"] for record in sent].count("planner") == 4


@pytest.mark.parametrize(
    ("unit", "place"), [("pixels", "(120,30)"), ("grid", "(600,300)"), ("ratio", "(0.6,0.3)")]
)
def test_places_have_the_unit_of_the_family(unit: str, place: str) -> None:
    point = {"colour": [255, 0, 0], "unit": unit}
    rules = [{"reply": {"text": "(${x},${y})", "point": point}}]
    with serving(parse_script({"members": {"m": {"rules": rules}}})) as server:
        assert said(chat(server, user("where?", square((120, 30))))) == place
        nothing = chat(server, user("where?", square((500, 500))))
        assert nothing.status_code == 400


def test_members_without_pictures_are_sent_none() -> None:
    script = parse_script({"members": {"m": {"images": False, "must_see": ["a"], "rules": [{}]}}})
    with serving(script) as server:
        assert chat(server, user("a")).status_code == 200
        assert chat(server, user("a", square((9, 9)))).status_code == 400
        assert chat(server, user("b")).status_code == 400


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", "[]"),
        ("/v1/chat/completions", '{"model": "m"}'),
        ("/v1/chat/completions", '{"model": "m", "messages": [{"role": "tool"}]}'),
        ("/v1/messages", '{"model": "m", "messages": []}'),
        ("/v1/responses", '{"model": "m", "input": [{"type": "function_call_output"}]}'),
        ("/v1beta/models/m:generateContent", '{"contents": [{"role": "user"}]}'),
        ("/v1beta/models/m:generateContent", '{"contents": [{"parts": [{"other": 1}]}]}'),
    ],
)
def test_requests_out_of_format_are_refused(path: str, body: str) -> None:
    with serving(parse_script({"members": {"m": {"rules": [{}]}}})) as server:
        response = httpx2.post(f"{server.address}{path}", content=body)
        assert response.status_code == 400
        assert "invalid request" in response.text
        assert httpx2.post(f"{server.address}/other", content=body).status_code == 404


COUNTED = {"text": "Some words in pieces.", "usage": {"input": 90, "output": 12, "cached": 40}}


@pytest.mark.slow
def test_streams_of_all_apis_report_their_usage() -> None:
    rules = [{"reply": COUNTED, "chunk_s": 0.001}]
    with serving(parse_script({"members": {"m": {"rules": rules}}})) as server:
        with openai.OpenAI(base_url=f"{server.address}/v1", api_key="none") as client:
            chunks = client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "a"}], stream=True
            )
            texts = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
            assert "".join(text or "" for text in texts) == COUNTED["text"]
            events = [*client.responses.create(model="m", input=[], stream=True)]
            assert [event.type for event in events] == ["response.created", "response.completed"]
        with (
            anthropic.Anthropic(base_url=server.address, api_key="none") as claude,
            claude.messages.stream(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "a"}]
            ) as stream,
        ):
            assert "".join(stream.text_stream) == COUNTED["text"]
        readers: dict[str, tuple[GatewayRules, dict[str, Any]]] = {
            "/v1/chat/completions": (OpenAIGateway(), {"messages": [user("a")]}),
            "/v1/responses": (OpenAIGateway(), {"input": []}),
            "/v1/messages": (AnthropicGateway(), {"messages": [], "max_tokens": 9}),
            "/v1beta/models/m:streamGenerateContent": (GoogleGateway(), {"contents": []}),
        }
        for path, (rules_of_gateway, fields) in readers.items():
            body = {"model": "m", "stream": True, **fields}
            response = httpx2.post(f"{server.address}{path}", json=body)
            reader = rules_of_gateway.read_usage(response.headers["content-type"])
            for byte in range(0, len(response.content), 7):
                reader.feed(response.content[byte : byte + 7])
            assert reader.usage().tokens[:3] == Usage(90, 12, cached_tokens=40).tokens[:3], path


def test_port_that_is_taken_is_named() -> None:
    with serving(parse_script({"members": {"m": {"rules": [{}]}}})) as server:
        port = int(server.address.rpartition(":")[2])
        with pytest.raises(RequirementError, match=str(port)):
            ModelServer(parse_script({"members": {"m": {"rules": [{}]}}}), port)


@pytest.mark.parametrize("adapter", ["openai", "anthropic"])
def test_system_prompt_in_parts_is_read_as_one_text(adapter: str) -> None:
    quoted = 'Say "yes".'
    rule = {"when": {"system": re.escape(f"{quoted} Now.")}, "reply": {"text": "yes"}}
    with serving(parse_script({"members": {"m": {"rules": [rule]}}})) as server:
        parts = [{"type": "text", "text": text} for text in (quoted, " Now.")]
        asked = [{"role": "user", "content": "?"}]
        if adapter == "openai":
            path = "/v1/chat/completions"
            body: dict[str, Any] = {"messages": [{"role": "system", "content": parts}, *asked]}
        else:
            path, body = "/v1/messages", {"system": parts, "messages": asked, "max_tokens": 9}
        answer = server.responder.answer(path, {}, json.dumps({"model": "m", **body}).encode())
    assert answer.status == 200, answer.content
    assert server.responder.records[0]["system"] == f"{quoted} Now."
