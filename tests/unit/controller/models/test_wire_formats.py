"""Details of the vendors' formats that the stand-in server does not check."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from controller.models.anthropic import messages as anthropic
from controller.models.anthropic.usage import count_tokens as count_anthropic
from controller.models.google import messages as google
from controller.models.google.usage import count_tokens as count_google
from controller.models.messages import Image, Message, Request, Role, Stop, TokenTrace, Tool
from controller.models.openai.reply import read_reply as read_chat
from controller.models.openai_responses import items as responses
from controller.models.usage import Usage

PICTURE = Image(b"picture")
USER = Message(Role.USER, ("hello",))
CHECK = {"id": "c1", "code": "malicious", "message": "Sure?"}
RESPONSE: dict[str, Any] = {
    "output": [
        {"type": "reasoning", "id": "r", "encrypted_content": "sealed", "summary": []},
        {
            "type": "computer_call",
            "id": "i",
            "call_id": "c",
            "actions": [{"type": "wait"}],
            "pending_safety_checks": [CHECK],
            "status": "completed",
        },
    ],
    "usage": {"input_tokens": 5, "output_tokens": 2},
}
MESSAGE: dict[str, Any] = {
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "sealed"},
        {
            "type": "tool_use",
            "id": "t",
            "name": "left_click",
            "toolset_name": "computer",
            "input": {"coordinate": [1, 2]},
        },
    ],
    "stop_reason": "tool_use",
}
CONTENT: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {
                            "name": "click",
                            "args": {
                                "x": 1,
                                "y": 2,
                                "safety_decision": {"decision": "require_confirmation"},
                            },
                        },
                        "thoughtSignature": "sealed",
                    }
                ],
            },
            "finishReason": "STOP",
        }
    ]
}


def answered(message: Message, *, is_error: bool = False) -> Request:
    """Return a request with a model's message and the outcome of its call, which is a picture."""
    text = "It failed." if is_error else "Done."
    outcome = Message(Role.TOOL, (text, PICTURE), call_id=message.calls[0].id, is_error=is_error)
    return Request((USER, message, outcome))


def test_responses_return_reasoning_and_acknowledge_safety_checks() -> None:
    message = responses.read_reply(RESPONSE).message
    body = responses.request_body(answered(message))
    assert body["input"][1:3] == RESPONSE["output"]
    output = body["input"][3]
    assert output["acknowledged_safety_checks"] == [CHECK]
    assert output["output"]["image_url"].startswith("data:image/png;base64,")
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    failed = responses.request_body(answered(message, is_error=True))["input"]
    assert failed[4]["content"] == [{"type": "input_text", "text": "It failed."}]
    without_picture = replace(answered(message).messages[2], parts=("Done.",))
    blank = responses.request_body(Request((USER, message, without_picture)))["input"][3]
    assert blank["output"]["image_url"] == f"data:image/png;base64,{_base64(responses.BLANK)}"


def _base64(image: Image) -> str:
    import base64

    return base64.b64encode(image.data).decode()


def test_calls_that_were_shortened_are_not_sent_verbatim() -> None:
    message = responses.read_reply(RESPONSE).message
    (call,) = message.calls
    short = replace(message, calls=(replace(call, arguments='{"actions": []}'),))
    rebuilt = responses.request_body(answered(short))["input"][1]
    assert (rebuilt["type"], rebuilt["actions"], rebuilt["call_id"]) == ("computer_call", [], "c")
    said = anthropic.read_reply(MESSAGE).message
    short = replace(said, calls=(replace(said.calls[0], arguments="{}"),))
    blocks = anthropic.request_body(answered(short))["messages"][1]["content"]
    assert blocks == [
        {
            "type": "tool_use",
            "id": "t",
            "name": "left_click",
            "toolset_name": "computer",
            "input": {},
        }
    ]


def test_anthropic_returns_thinking_and_echoes_the_toolset() -> None:
    message = anthropic.read_reply(MESSAGE).message
    assert message.reasoning == "Hm."
    rows = anthropic.request_body(answered(message))["messages"]
    assert rows[1]["content"] == MESSAGE["content"]
    (result,) = rows[2]["content"]
    assert (result["tool_use_id"], result["toolset_name"]) == ("t", "computer")
    assert [block["type"] for block in result["content"]] == ["text", "image"]
    failed = anthropic.request_body(answered(message, is_error=True))["messages"][2]["content"]
    assert [block["type"] for block in failed] == ["tool_result", "image"]
    assert failed[0]["is_error"] is True


@pytest.mark.parametrize(
    ("kind", "beta"),
    [
        ("computer_20250124", "computer-use-2025-01-24"),
        ("computer_20251124", "computer-use-2025-11-24"),
        ("computer_toolset_20260801", None),
    ],
)
def test_anthropic_versions_need_their_header(kind: str, beta: str | None) -> None:
    request = Request((USER,), (Tool("computer", "", {}, {"type": kind}),))
    assert anthropic.beta_headers(request) == ({"anthropic-beta": beta} if beta else {})


def test_google_returns_signatures_and_acknowledges_safety_questions() -> None:
    message = google.read_reply(CONTENT, 3).message
    assert message.calls[0].id == "call_3_0"
    contents = google.request_body(answered(message))["contents"]
    assert contents[1]["parts"] == CONTENT["candidates"][0]["content"]["parts"]
    response = contents[2]["parts"][0]["functionResponse"]
    assert response["response"] == {"output": "Done.", "safety_acknowledgement": "true"}
    assert response["parts"][0]["inlineData"]["mimeType"] == "image/png"
    assert "id" not in response


@pytest.mark.parametrize(
    ("data", "stop"),
    [
        ({"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}, Stop.FILTERED),
        ({"candidates": [{"finishReason": "SAFETY"}]}, Stop.FILTERED),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, Stop.LENGTH),
        ({"candidates": [{"finishReason": ["x"]}]}, Stop.END),
        ({"candidates": [None, 5]}, Stop.END),
    ],
)
def test_google_ends(data: dict[str, Any], stop: Stop) -> None:
    assert google.read_reply(data).stop is stop


def test_google_says_that_it_could_not_parse_a_call() -> None:
    data = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}
    assert google.read_reply(data).message.malformed == google.CALL


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (
            {
                "input_tokens": 10,
                "cache_creation_input_tokens": 200,
                "cache_read_input_tokens": 3000,
                "output_tokens": 50,
                "output_tokens_details": {"thinking_tokens": 20},
            },
            Usage(3210, 50, cached_tokens=3000, reasoning_tokens=20),
        ),
        ({"input_tokens": 10, "output_tokens": 50}, Usage(10, 50)),
        ({"input_tokens": True, "output_tokens": "5"}, Usage()),
        (None, Usage()),
    ],
)
def test_anthropic_counts_cached_tokens_once(usage: object, counted: Usage) -> None:
    assert count_anthropic(usage) == counted


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (
            {
                "promptTokenCount": 3210,
                "toolUsePromptTokenCount": 5,
                "cachedContentTokenCount": 3000,
                "candidatesTokenCount": 30,
                "thoughtsTokenCount": 20,
                "totalTokenCount": 3265,
            },
            Usage(3215, 50, cached_tokens=3000, reasoning_tokens=20),
        ),
        # Counts that are 0 are left out.
        ({"promptTokenCount": 10, "totalTokenCount": 10}, Usage(10, 0, 0.0, 0, 0)),
        (
            {"promptTokenCount": 10, "thoughtsTokenCount": 7, "totalTokenCount": 17},
            Usage(10, 7, 0.0, 0, 7),
        ),
        ({"promptTokenCount": 10}, Usage(10, None, 0.0, 0, None)),
        ({"candidatesTokenCount": 10}, Usage()),
        ("many", Usage()),
    ],
)
def test_google_counts_thoughts_once(usage: object, counted: Usage) -> None:
    assert count_google(usage) == counted


@pytest.mark.parametrize(
    ("choice", "extra", "trace"),
    [
        (
            {
                "token_ids": [5, 6],
                "logprobs": {"content": [{"logprob": -0.5}, {"logprob": -1.5}]},
            },
            {"prompt_token_ids": [1, 2, 3]},
            TokenTrace((1, 2, 3), (5, 6), (-0.5, -1.5)),
        ),
        ({"logprobs": {"content": [{"logprob": -0.5}]}}, {}, TokenTrace((), (), (-0.5,))),
        ({"logprobs": {"content": [{"logprob": "x"}]}}, {"prompt_token_ids": "no"}, None),
        ({"token_ids": [1, None], "logprobs": None}, {}, None),
        ({}, {}, None),
    ],
)
def test_tokens_are_kept_where_the_server_reports_them(
    choice: dict[str, Any], extra: dict[str, Any], trace: TokenTrace | None
) -> None:
    body = {"choices": [{"message": {"content": "a"}, **choice}], **extra}
    assert read_chat(json.dumps(body)).neutral().trace == trace


JUNK: tuple[Any, ...] = (None, 5, "x", [], [None], [[]], {}, {"a": []}, [{"type": 5}], True)


@pytest.mark.parametrize("value", JUNK)
def test_readers_take_any_json(value: Any) -> None:  # noqa: ANN401
    for name in ("content", "stop_reason", "usage"):
        anthropic.read_reply({"content": [], name: value if name != "content" else [value]})
    for kind in ("text", "tool_use", "thinking"):
        fields = ("text", "id", "name", "input", "thinking", "toolset_name")
        block = {"type": kind, **dict.fromkeys(fields, value)}
        reply = anthropic.read_reply({"content": [block]})
        anthropic.request_body(Request((USER, Message(Role.MODEL, opaque=reply.message.opaque))))
    for kind in ("message", "function_call", "computer_call", "reasoning"):
        keys = ("id", "call_id", "name", "arguments", "actions", "content", "summary")
        item = {"type": kind, "pending_safety_checks": value, **dict.fromkeys(keys, value)}
        responses.read_reply({"output": [item, value], "incomplete_details": value, "usage": value})
    part = {"text": value, "functionCall": value, "thought": value}
    named = {"functionCall": {"name": value, "args": value, "id": value}}
    for parts in (value, [part], [named, value]):
        candidate = {"content": {"parts": parts}, "finishReason": value}
        google.read_reply({"candidates": [candidate, value], "usageMetadata": value})
        google.read_reply({"candidates": [{"content": value}], "promptFeedback": value})
