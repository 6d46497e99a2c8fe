"""Requests and replies in the format of Anthropic's Messages API.

What a model said goes back verbatim, because thinking blocks are signed. Source: Anthropic, "Messages",
"Extended thinking" and "Computer use tool".
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from controller.models.anthropic.usage import count_tokens, usage_warnings
from controller.models.json_replies import arguments_of, is_as_sent, objects, text_of
from controller.models.messages import Image, Message, Reply, Role, Stop, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.models.messages import Request, Tool

_CONTENT, _TOOLSET = "content", "toolset_name"
_NO_TEXT = "(nothing)"
BETAS = {
    "computer_20241022": "computer-use-2024-10-22",
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
}
"""Values of the header ``anthropic-beta`` by type of a tool; others need none."""

_STOPS = {
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSED,
}
NAME = "each tool_use must have the tool's name, as text"
MALFORMED = (NAME,)
"""What can be malformed in a message."""


def request_body(request: Request) -> dict[str, Any]:
    """Return system prompt, messages and tools of a request."""
    system = "\n\n".join(row.text for row in request.messages if row.role is Role.SYSTEM)
    toolsets = {
        call.id: call.opaque[_TOOLSET]
        for row in request.messages
        for call in row.calls
        if _TOOLSET in call.opaque
    }
    rows: list[dict[str, Any]] = []
    for message in request.messages:
        if message.role is Role.SYSTEM:
            continue
        role = "assistant" if message.role is Role.MODEL else "user"
        blocks = _blocks(message, toolsets)
        if rows and rows[-1]["role"] == role:
            rows[-1]["content"] += blocks
        else:
            rows.append({"role": role, "content": blocks})
    for row in rows:
        # Results of tools must precede everything else.
        row["content"].sort(key=lambda block: block["type"] != "tool_result")
    body: dict[str, Any] = {"messages": rows}
    if system:
        body["system"] = system
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    return body


def beta_headers(request: Request) -> dict[str, str]:
    """Return the headers that a request's tools need."""
    kinds = (str(tool.native.get("type", "")) for tool in request.tools)
    betas = dict.fromkeys(BETAS[kind] for kind in kinds if kind in BETAS)
    return {"anthropic-beta": ",".join(betas)} if betas else {}


def _tool(tool: Tool) -> dict[str, Any]:
    if tool.native:
        return dict(tool.native)
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.parameters),
    }


def _blocks(message: Message, toolsets: Mapping[str, object]) -> list[dict[str, Any]]:
    if message.role is Role.MODEL:
        return _said(message)
    blocks = [_part(part) for part in message.parts if part]
    if message.role is not Role.TOOL:
        return blocks or [_part(_NO_TEXT)]
    result: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": message.call_id,
        "content": blocks,
    }
    if toolset := toolsets.get(message.call_id):
        result[_TOOLSET] = toolset
    if not message.is_error:
        return [result]
    # An error consists of text; what the screen shows now follows it.
    result |= {"is_error": True, "content": [row for row in blocks if row["type"] == "text"]}
    return [result, *(row for row in blocks if row["type"] != "text")]


def _said(message: Message) -> list[dict[str, Any]]:
    raw = objects(message.opaque.get(_CONTENT))
    if raw and is_as_sent(message, _text(raw), _calls(raw)):
        return raw
    blocks = [_part(message.text)] if message.text else []
    for call in message.calls:
        use = {"type": "tool_use", "id": call.id, "name": call.name, **dict(call.opaque)}
        blocks.append({**use, "input": json.loads(call.arguments)})
    return blocks or [_part(_NO_TEXT)]


def _part(part: str | Image) -> dict[str, Any]:
    if isinstance(part, Image):
        data = base64.b64encode(part.png).decode()
        return {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": data},
        }
    return {"type": "text", "text": part}


def read_reply(data: dict[str, Any]) -> Reply:
    """Return a reply without the wire format.

    Args:
        data: the reply, with ``content``, a list.
    """
    content = objects(data[_CONTENT])
    finish = data.get("stop_reason")
    text = _text(content)
    calls = tuple(_call(block) for block in content if block.get("type") == "tool_use")
    thinking = (text_of(row.get("thinking")) for row in content if row.get("type") == "thinking")
    opaque: dict[str, Any] = {_CONTENT: content}
    message = Message(
        Role.MODEL,
        (text,) if text else (),
        calls,
        reasoning="".join(thinking),
        opaque=opaque,
    )
    usage = data.get("usage")
    return Reply(
        message,
        _STOPS.get(finish, Stop.END) if isinstance(finish, str) else Stop.END,
        count_tokens(usage),
        finish if isinstance(finish, str) else None,
        usage_warnings(usage),
    )


def _call(block: dict[str, Any]) -> ToolCall:
    toolset = block.get(_TOOLSET)
    name = block.get("name")
    return ToolCall(
        text_of(block.get("id")),
        text_of(name),
        arguments_of(block.get("input")),
        "" if isinstance(name, str) and name else NAME,
        {_TOOLSET: toolset} if isinstance(toolset, str) else {},
    )


def _text(content: Iterable[dict[str, Any]]) -> str:
    return "".join(text_of(row.get("text")) for row in content if row.get("type") == "text")


def _calls(content: Iterable[dict[str, Any]]) -> list[tuple[str | None, str]]:
    return [
        (text_of(row.get("id")), arguments_of(row.get("input")))
        for row in content
        if row.get("type") == "tool_use"
    ]
