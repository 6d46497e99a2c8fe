"""Requests and replies in the format of OpenAI's Responses API.

Nothing is stored at the vendor: each request has the whole conversation, and what a model said goes back
verbatim, its encrypted reasoning included. Source: OpenAI, "Responses", "Reasoning models: encrypted
reasoning items" and "Computer use".
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from controller.models.json_replies import arguments_of, is_as_sent, objects, text_of
from controller.models.messages import Image, Message, Reply, Role, Stop, TokenTrace, ToolCall
from controller.models.openai.usage import count_tokens, usage_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.models.messages import Request, Tool

COMPUTER = "computer"
_OUTPUT, _KIND, _CHECKS = "output", "kind", "pending_safety_checks"
_FUNCTION_CALL, _COMPUTER_CALL = "function_call", "computer_call"
_STOPS = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.FILTERED}
NAME = "each function_call must have the function's name, as text"
MALFORMED = (NAME,)
"""What can be malformed in a message."""


def request_body(request: Request) -> dict[str, Any]:
    """Return instructions, input items and tools of a request."""
    calls = {call.id: call for row in request.messages for call in row.calls}
    items: list[dict[str, Any]] = []
    for message in request.messages:
        if message.role is not Role.SYSTEM:
            items += _items(message, calls)
    body: dict[str, Any] = {
        "input": items,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if system := "\n\n".join(row.text for row in request.messages if row.role is Role.SYSTEM):
        body["instructions"] = system
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if any(tool.native for tool in request.tools):
            body["truncation"] = "auto"
    return body


def _tool(tool: Tool) -> dict[str, Any]:
    if tool.native:
        return dict(tool.native)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        "strict": False,
    }


def _items(message: Message, calls: Mapping[str, ToolCall]) -> list[dict[str, Any]]:
    if message.role is Role.MODEL:
        return _said(message)
    if message.role is Role.TOOL and (call := calls.get(message.call_id)):
        return _outcome(message, call)
    parts = [_part(part) for part in message.parts if part]
    return [{"type": "message", "role": "user", "content": parts}] if parts else []


def _outcome(message: Message, call: ToolCall) -> list[dict[str, Any]]:
    """Return the outcome of a call; that of the computer is a picture, and its text a message apart."""
    pictures = [part for part in message.parts if isinstance(part, Image)]
    if call.opaque.get(_KIND) != _COMPUTER_CALL:
        row = {"type": "function_call_output", "call_id": message.call_id}
        return [{**row, "output": message.text}, *_shown(pictures)]
    output: dict[str, Any] = {"type": "computer_screenshot"}
    output["image_url"] = _url(pictures[-1] if pictures else BLANK)
    result: dict[str, Any] = {
        "type": "computer_call_output",
        "call_id": message.call_id,
        "output": output,
    }
    if checks := objects(call.opaque.get(_CHECKS)):
        result["acknowledged_safety_checks"] = checks
    if not message.is_error and pictures:
        return [result]
    note = {"type": "input_text", "text": message.text}
    return [result, {"type": "message", "role": "user", "content": [note]}]


def _shown(pictures: Iterable[Image]) -> list[dict[str, Any]]:
    parts = [_part(picture) for picture in pictures]
    return [{"type": "message", "role": "user", "content": parts}] if parts else []


def _said(message: Message) -> list[dict[str, Any]]:
    raw = objects(message.opaque.get(_OUTPUT))
    if raw and is_as_sent(message, _text(raw), _calls(raw)):
        return raw
    items: list[dict[str, Any]] = []
    if message.text:
        content = [{"type": "output_text", "text": message.text}]
        items.append({"type": "message", "role": "assistant", "content": content})
    items += [_called(call) for call in message.calls]
    return items


def _called(call: ToolCall) -> dict[str, Any]:
    if call.opaque.get(_KIND) == _COMPUTER_CALL:
        row = {"type": _COMPUTER_CALL, "call_id": call.id, "status": "completed"}
        return {**row, _CHECKS: call.opaque.get(_CHECKS, []), **json.loads(call.arguments)}
    row = {"type": _FUNCTION_CALL, "call_id": call.id, "name": call.name}
    return {**row, "arguments": call.arguments}


def _part(part: str | Image) -> dict[str, Any]:
    if isinstance(part, Image):
        # Otherwise the vendor shrinks it, and coordinates refer to another picture.
        return {"type": "input_image", "image_url": _url(part), "detail": "original"}
    return {"type": "input_text", "text": part}


def _url(image: Image) -> str:
    return f"data:image/png;base64,{base64.b64encode(image.png).decode()}"


BLANK = Image(
    base64.b64decode(
        b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
    )
)
"""A picture of 1 px, in place of a screenshot that was left out: the API requires one."""


def read_reply(data: dict[str, Any]) -> Reply:
    """Return a reply without the wire format.

    Args:
        data: the reply, with ``output``, a list.
    """
    output = objects(data[_OUTPUT])
    refusal, text = _refusal(output), _text(output)
    details = data.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    stop = _STOPS.get(reason, Stop.END) if isinstance(reason, str) else Stop.END
    if refusal:
        stop, text = Stop.REFUSED, refusal
    opaque: dict[str, Any] = {_OUTPUT: output}
    message = Message(
        Role.MODEL,
        (text,) if text else (),
        tuple(call for item in output if (call := _call(item)) is not None),
        reasoning=_reasoning(output),
        opaque=opaque,
    )
    usage, status = data.get("usage"), data.get("status")
    finish = reason or status
    return Reply(
        message,
        stop,
        count_tokens(usage),
        finish if isinstance(finish, str) else None,
        tuple(usage_warnings(usage)),
        _trace(output),
    )


def _call(item: dict[str, Any]) -> ToolCall | None:
    identity = text_of(item.get("call_id")) or text_of(item.get("id"))
    if item.get("type") == _FUNCTION_CALL:
        name = item.get("name")
        wrong = "" if isinstance(name, str) and name else NAME
        return ToolCall(identity, text_of(name), arguments_of(item.get("arguments")), wrong)
    if item.get("type") == _COMPUTER_CALL:
        opaque: dict[str, Any] = {_KIND: _COMPUTER_CALL, _CHECKS: objects(item.get(_CHECKS))}
        return ToolCall(identity, COMPUTER, arguments_of(_actions(item)), opaque=opaque)
    return None


def _actions(item: dict[str, Any]) -> dict[str, Any]:
    """Return the actions of a call of the computer; the older tool has a single one."""
    if isinstance(item.get("actions"), list):
        return {"actions": item["actions"]}
    return {"action": item["action"]} if "action" in item else {"actions": item.get("actions")}


def _contents(output: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        part
        for item in output
        if item.get("type") == "message"
        for part in objects(item.get("content"))
    ]


def _text(output: Iterable[dict[str, Any]]) -> str:
    parts = _contents(output)
    return "".join(text_of(part.get("text")) for part in parts if part.get("type") == "output_text")


def _refusal(output: Iterable[dict[str, Any]]) -> str:
    parts = _contents(output)
    return "".join(text_of(part.get("refusal")) for part in parts if part.get("type") == "refusal")


def _reasoning(output: Iterable[dict[str, Any]]) -> str:
    return "\n".join(
        text_of(part.get("text"))
        for item in output
        if item.get("type") == "reasoning"
        for part in objects(item.get("summary"))
    )


def _calls(output: Iterable[dict[str, Any]]) -> list[tuple[str | None, str]]:
    calls = (_call(item) for item in output)
    return [(call.id or None, call.arguments) for call in calls if call is not None]


def _trace(output: Iterable[dict[str, Any]]) -> TokenTrace | None:
    """Return the log-probabilities of the text, if the request asked for them."""
    rows = [row for part in _contents(output) for row in objects(part.get("logprobs"))]
    values = [row.get("logprob") for row in rows]
    numbers = tuple(float(value) for value in values if isinstance(value, int | float))
    return TokenTrace(log_probs=numbers) if numbers and len(numbers) == len(values) else None
