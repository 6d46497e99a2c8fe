from __future__ import annotations

import json
from typing import Any

from controller.diary import MAX_ENTRY_CHARS, Diary
from controller.models.conversation import Conversation
from controller.models.messages import (
    Image,
    Message,
    Reply,
    Request,
    Role,
    TokenTrace,
    Tool,
    ToolCall,
)
from controller.models.usage import Usage

PICTURE = Image(b"picture")
SYSTEM = Message(Role.SYSTEM, ("Rules.",))
SHOWN = Message(Role.USER, ("Look:", PICTURE))
TOOL = Tool("click", "Clicks.", {"type": "object"})
CALL = Message(Role.MODEL, ("I click.",), (ToolCall("1", "click", '{"x": 1}'),))


def record(*requests: Request, reply: Reply | None = None) -> list[tuple[str, dict[str, Any], int]]:
    diary = Diary()
    conversation = Conversation(diary.write, diary.keep)
    for request in requests:
        conversation.ask(request)
        if reply is not None:
            conversation.answer(reply, 0.25)
    return [(entry.kind, dict(entry.data), len(entry.pictures)) for entry in diary.take()]


def test_messages_and_pictures_are_recorded_once() -> None:
    reply = Reply(CALL, usage=Usage(1, 1))
    first, second = (
        Request((SYSTEM, SHOWN), (TOOL,)),
        Request((SYSTEM, SHOWN, CALL, SHOWN), (TOOL,)),
    )
    entries = record(first, second, reply=reply)
    kinds = [kind for kind, _, _ in entries]
    assert kinds == [
        *("content", "content", "content", "asked", "content", "answered", "asked", "answered")
    ]
    contents = {data["digest"]: data["content"] for kind, data, _ in entries if kind == "content"}
    asked = [data for kind, data, _ in entries if kind == "asked"]
    assert [contents[digest]["role"] for digest in asked[1]["messages"]] == [
        *("system", "user", "model", "user")
    ]
    assert contents[asked[0]["tools"]][0]["name"] == "click"
    assert sum(count for _, _, count in entries) == 1
    answered = next(data for kind, data, _ in entries if kind == "answered")
    assert contents[answered["reply"]]["calls"] == [
        {"id": "1", "name": "click", "arguments": '{"x": 1}'}
    ]
    assert answered["seconds"] == 0.25


def test_long_messages_come_in_parts_that_fit_into_entries() -> None:
    text = '\u00e4"\n' * 150_000
    entries = record(Request((Message(Role.USER, (text,)),)))
    parts = [data for kind, data, _ in entries if kind == "content" and "part" in data]
    assert [part["part"] for part in parts] == list(range(1, parts[0]["parts"] + 1))
    assert max(len(json.dumps(part)) for part in parts) < MAX_ENTRY_CHARS
    whole = json.loads("".join(part["text"] for part in parts))
    assert whole["parts"] == [{"text": text}]


def test_token_ids_come_in_parts_and_unknown_ones_are_absent() -> None:
    trace = TokenTrace(tuple(range(45_000)), (7, 8), (-0.5, -0.25))
    entries = record(Request((SYSTEM,)), reply=Reply(CALL, trace=trace))
    tokens = [data for kind, data, _ in entries if kind.startswith("tokens")]
    assert [len(row["prompt_ids"]) for row in tokens] == [20_000, 20_000, 5_000]
    assert tokens[0]["output_ids"] == [7, 8]
    assert tokens[1]["log_probs"] == []
    entries = record(Request((SYSTEM,)), reply=Reply(CALL))
    assert [kind for kind, _, _ in entries if kind.startswith("tokens")] == []
