"""Calls of tools as JSON in the text of messages, for models whose API has no tools."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from controller.models.endpoint import Answer
from controller.models.messages import Message, Role, ToolCall

if TYPE_CHECKING:
    from controller.models.messages import Reply, Request, Tool

_FORMAT = """\
You call tools by JSON. Your whole reply is one JSON object, without anything around it: {{"thought": "...", \
"calls": [{{"name": "...", "arguments": {{...}}}}]}}. The tools, with the JSON schema of their arguments:
{tools}"""
_OUTCOME = "Outcome of {name}: {text}"
_NO_JSON = 'it is not one JSON object with "calls", a list of objects with "name" and "arguments"'
TEXTS = (_FORMAT, _OUTCOME, _NO_JSON)
"""All texts that a model may receive, for the digest of prompts."""
_FENCE = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_MAX_CHARS = 200_000


class Endpoint(Protocol):
    """What is asked."""

    def ask(self, request: Request) -> Answer:
        """Send a request until it is answered."""
        ...


class JsonEndpoint:
    """Asks an endpoint without tools; its user sees calls of tools, as from any other endpoint.

    Args:
        endpoint: the endpoint.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._count = 0

    @property
    def outage_s(self) -> float:
        """Seconds that its endpoint did not answer."""
        return float(getattr(self._endpoint, "outage_s", 0.0))

    def ask(self, request: Request) -> Answer:
        """Send a request, and read the calls in the text of its reply; raises like its endpoint."""
        answer = self._endpoint.ask(without_tools(request))
        return Answer(self._with_calls(answer.reply), answer.outage_s)

    def _with_calls(self, reply: Reply) -> Reply:
        calls, malformed = read_calls(reply.message.text)
        named = []
        for call in calls:
            self._count += 1
            named.append(replace(call, id=f"json_{self._count}"))
        message = replace(
            reply.message, calls=tuple(named), malformed=malformed or reply.message.malformed
        )
        return replace(reply, message=message)


def without_tools(request: Request) -> Request:
    """Return a request that says in its texts what its tools, calls and outcomes are."""
    names: dict[str, str] = {}
    messages = []
    for message in request.messages:
        names |= {call.id: call.name for call in message.calls}
        messages.append(_as_text(message, names))
    rules = _FORMAT.format(tools="\n".join(map(_declaration, request.tools)))
    if messages and messages[0].role is Role.SYSTEM:
        messages[0] = replace(messages[0], parts=(*messages[0].parts, f"\n\n{rules}"))
    else:
        messages.insert(0, Message(Role.SYSTEM, (rules,)))
    return replace(request, messages=tuple(messages), tools=())


def read_calls(text: str) -> tuple[tuple[ToolCall, ...], str]:
    """Return the calls in a reply, and what is malformed in it; never raises.

    Args:
        text: the whole reply, also in a Markdown fence.
    """
    if match := _FENCE.match(text[:_MAX_CHARS]):
        text = match[1]
    try:
        value = json.loads(text) if len(text) <= _MAX_CHARS else None
    except (ValueError, RecursionError):
        return (), _NO_JSON
    rows = value.get("calls") if isinstance(value, dict) else None
    if not isinstance(rows, list) or not all(map(_is_call, rows)):
        return (), _NO_JSON
    return tuple(
        ToolCall("", row["name"], json.dumps(row.get("arguments", {}))) for row in rows
    ), ""


def _is_call(row: object) -> bool:
    return isinstance(row, dict) and isinstance(row.get("name"), str)


def _declaration(tool: Tool) -> str:
    row = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps(row, ensure_ascii=False)


def _as_text(message: Message, names: dict[str, str]) -> Message:
    if message.role is Role.TOOL:
        text = _OUTCOME.format(name=names.get(message.call_id, "the call"), text=message.text)
        pictures = tuple(part for part in message.parts if not isinstance(part, str))
        return Message(Role.USER, (text, *pictures))
    if message.role is Role.MODEL and message.calls:
        calls: list[dict[str, Any]] = [
            {"name": call.name, "arguments": json.loads(call.arguments)} for call in message.calls
        ]
        text = message.text or json.dumps({"calls": calls}, ensure_ascii=False)
        return replace(message, parts=(text,), calls=())
    return message
