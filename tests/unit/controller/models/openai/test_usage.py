"""The usage in replies of OpenAI-compatible endpoints, whole or streamed."""

from __future__ import annotations

import json

import pytest

from controller.models.openai.gateway import OpenAIGateway
from controller.models.openai.usage import count_tokens
from controller.models.usage import Usage

CHAT = {
    "prompt_tokens": 90,
    "completion_tokens": 20,
    "prompt_tokens_details": {"cached_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 12},
}
RESPONSE = {
    "input_tokens": 90,
    "output_tokens": 20,
    "input_tokens_details": {"cached_tokens": 64},
    "output_tokens_details": {"reasoning_tokens": 12},
}
ALL = Usage(90, 20, cached_tokens=64, reasoning_tokens=12)


@pytest.mark.parametrize("usage", [CHAT, RESPONSE])
def test_kinds_of_tokens_have_the_names_of_both_apis(usage: dict[str, object]) -> None:
    assert count_tokens(usage) == ALL


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 5}, Usage(0, 5)),
        ({"prompt_tokens": 5}, Usage(5)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": -1}}, Usage(5)),
        ({"prompt_tokens": 5, "prompt_tokens_details": None, "total_tokens": 9}, Usage(5, 4)),
        ({"total_tokens": 9}, Usage(9, 0)),
    ],
)
def test_unknown_is_not_zero(usage: object, expected: Usage) -> None:
    assert count_tokens(usage) == expected
    assert count_tokens(usage).is_known is (
        None not in {expected.input_tokens, expected.output_tokens}
    )


def events(*rows: object) -> bytes:
    return b"".join(b"data: " + json.dumps(row).encode() + b"\r\n\r\n" for row in rows)


@pytest.mark.parametrize(
    ("content_type", "reply", "expected"),
    [
        ("application/json", json.dumps({"choices": [], "usage": CHAT}).encode(), ALL),
        ("application/json", json.dumps({"output": [], "usage": RESPONSE}).encode(), ALL),
        ("application/json", b'{"usage": {"prompt_tokens": 9', Usage()),
        (
            "text/event-stream; charset=utf-8",
            events({"choices": [1], "usage": None}, {"choices": [], "usage": CHAT})
            + b"data: [DONE]\n\n",
            ALL,
        ),
        (
            "text/event-stream",
            b"event: response.completed\n"
            + events({"type": "response.completed", "response": {"usage": RESPONSE}}),
            ALL,
        ),
        ("text/event-stream", events({"choices": [{"delta": {"content": "hi"}}]}), Usage()),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_usage_is_read_from_bytes_as_they_pass(
    content_type: str, reply: bytes, expected: Usage, size: int
) -> None:
    reader = OpenAIGateway().read_usage(content_type)
    for begin in range(0, len(reply), size):
        reader.feed(reply[begin : begin + size])
    assert reader.usage() == expected
