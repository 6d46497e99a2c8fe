"""Requests in the format of OpenAI's chat completions."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from controller.models.messages import Image, Role
from controller.models.openai.reply import reasoning_name, signed_fields

if TYPE_CHECKING:
    from controller.models.messages import Message, Tool, ToolCall

_ROLES = {
    Role.SYSTEM: "system",
    Role.USER: "user",
    Role.MODEL: "assistant",
    Role.TOOL: "tool",
}


def chat_tool(tool: Tool) -> dict[str, Any]:
    """Return a tool as chat completions declare it."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def chat_message(message: Message, *, with_reasoning: bool) -> dict[str, Any]:
    """Return a message of a chat completion.

    Args:
        message: the message.
        with_reasoning: whether the model's reasoning is sent back.
    """
    row: dict[str, Any] = {"role": _ROLES[message.role]}
    if message.role is Role.TOOL:
        row["tool_call_id"] = message.call_id
    # Many compatible servers take a system prompt only as one text.
    is_single = len(message.parts) <= 1 or message.role is Role.SYSTEM
    is_plain = is_single and not message.has_pictures
    row["content"] = message.text if is_plain else [_part(part) for part in message.parts]
    row |= signed_fields(message)
    if with_reasoning and message.reasoning:
        row[reasoning_name(message)] = message.reasoning
    if message.calls:
        row["tool_calls"] = [_call(call) for call in message.calls]
    return row


def _part(part: str | Image) -> dict[str, Any]:
    if isinstance(part, Image):
        url = f"data:{part.media_type};base64,{base64.b64encode(part.data).decode()}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": part}


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function, **signed_fields(call)}
