"""Requests and replies in the format of Google's ``generateContent``.

What a model said goes back verbatim, because thoughts are signed. Source: Google, "Gemini API:
generateContent", "Function calling", "Thought signatures" and "Computer use".
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from controller.models.google.usage import count_tokens, usage_warnings
from controller.models.json_replies import arguments_of, is_as_sent, objects, text_of
from controller.models.messages import Image, Message, Reply, Role, Stop, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.models.messages import Request, Tool

_PARTS = "parts"
_ID = "id"
_SAFETY = "safety_decision"
_STOPS = {
    "MAX_TOKENS": Stop.LENGTH,
    **dict.fromkeys(
        ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "IMAGE_SAFETY"),
        Stop.FILTERED,
    ),
}
NAME = "each functionCall must have the function's name, as text"
CALL = "the function call could not be parsed by the server"
MALFORMED = (NAME, CALL)
"""What can be malformed in a message."""


def request_body(request: Request) -> dict[str, Any]:
    """Return contents, system instruction and tools of a request."""
    calls = {call.id: call for row in request.messages for call in row.calls}
    contents: list[dict[str, Any]] = []
    for message in request.messages:
        if message.role is Role.SYSTEM:
            continue
        role = "model" if message.role is Role.MODEL else "user"
        parts = _parts(message, calls)
        if contents and contents[-1]["role"] == role:
            contents[-1][_PARTS] += parts
        else:
            contents.append({"role": role, _PARTS: parts})
    body: dict[str, Any] = {"contents": contents}
    if system := "\n\n".join(row.text for row in request.messages if row.role is Role.SYSTEM):
        body["systemInstruction"] = {_PARTS: [{"text": system}]}
    if request.tools:
        body["tools"] = _tools(request.tools)
    return body


def _tools(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    rows = [dict(tool.native) for tool in tools if tool.native]
    if own := [_declared(tool) for tool in tools if not tool.native]:
        rows.append({"functionDeclarations": own})
    return rows


def _declared(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": dict(tool.parameters),
    }


def _parts(message: Message, calls: Mapping[str, ToolCall]) -> list[dict[str, Any]]:
    if message.role is Role.MODEL:
        return _said(message)
    if message.role is Role.TOOL and (call := calls.get(message.call_id)):
        return [_response(message, call)]
    return [_part(part) for part in message.parts if part] or [{"text": " "}]


def _response(message: Message, call: ToolCall) -> dict[str, Any]:
    """Return the outcome of a call; pictures are parts of it, and safety questions are acknowledged."""
    values: dict[str, Any] = {"error" if message.is_error else "output": message.text}
    if _is_asked(call):
        values["safety_acknowledgement"] = "true"
    response: dict[str, Any] = {"name": call.name, "response": values}
    if identity := call.opaque.get(_ID):
        response[_ID] = identity
    pictures = [part for part in message.parts if isinstance(part, Image)]
    if pictures:
        response[_PARTS] = [_part(part) for part in pictures]
    return {"functionResponse": response}


def _is_asked(call: ToolCall) -> bool:
    try:
        args = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return False
    decision = args.get(_SAFETY) if isinstance(args, dict) else None
    return isinstance(decision, dict) and decision.get("decision") == "require_confirmation"


def _said(message: Message) -> list[dict[str, Any]]:
    raw = objects(message.opaque.get(_PARTS))
    if raw and is_as_sent(message, _text(raw), _calls(raw)):
        return raw
    parts = [_part(message.text)] if message.text else []
    for call in message.calls:
        row: dict[str, Any] = {"name": call.name, "args": json.loads(call.arguments)}
        if identity := call.opaque.get(_ID):
            row[_ID] = identity
        parts.append({"functionCall": row})
    return parts or [{"text": " "}]


def _part(part: str | Image) -> dict[str, Any]:
    if isinstance(part, Image):
        data = base64.b64encode(part.png).decode()
        return {"inlineData": {"mimeType": "image/png", "data": data}}
    return {"text": part}


def read_reply(data: dict[str, Any], number: int = 0) -> Reply:
    """Return a reply without the wire format.

    Args:
        data: the reply, with ``candidates``, a list.
        number: number of the request, for the ids of calls that have none.
    """
    candidates = objects(data["candidates"])
    candidate = candidates[0] if candidates else {}
    content = candidate.get("content")
    parts = objects(content.get(_PARTS)) if isinstance(content, dict) else []
    finish = candidate.get("finishReason")
    usage = data.get("usageMetadata")
    text = _text(parts)
    thoughts = (text_of(part.get("text")) for part in parts if part.get("thought") is True)
    opaque: dict[str, Any] = {_PARTS: parts}
    message = Message(
        Role.MODEL,
        (text,) if text else (),
        tuple(_call(f"call_{number}_{place}", row) for place, row in enumerate(_called(parts))),
        reasoning="".join(thoughts),
        malformed=CALL if finish == "MALFORMED_FUNCTION_CALL" else "",
        opaque=opaque,
    )
    return Reply(
        message,
        _stop(data, finish),
        count_tokens(usage),
        finish if isinstance(finish, str) else None,
        usage_warnings(usage),
    )


def _stop(data: dict[str, Any], finish: object) -> Stop:
    feedback = data.get("promptFeedback")
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        return Stop.FILTERED
    return _STOPS.get(finish, Stop.END) if isinstance(finish, str) else Stop.END


def _called(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return objects([part["functionCall"] for part in parts if "functionCall" in part])


def _call(default_id: str, row: dict[str, Any]) -> ToolCall:
    identity, name = row.get(_ID), row.get("name")
    has_id = isinstance(identity, str) and identity
    return ToolCall(
        text_of(identity) or default_id,
        text_of(name),
        arguments_of(row.get("args")),
        "" if isinstance(name, str) and name else NAME,
        {_ID: identity} if has_id else {},
    )


def _text(parts: Iterable[dict[str, Any]]) -> str:
    return "".join(text_of(part.get("text")) for part in parts if part.get("thought") is not True)


def _calls(parts: Iterable[dict[str, Any]]) -> list[tuple[str | None, str]]:
    return [
        (text_of(row.get(_ID)) or None, arguments_of(row.get("args"))) for row in _called(parts)
    ]
