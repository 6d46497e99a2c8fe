"""OpenAI's chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.model_server.formats.api import as_text, bearer, present
from controller.model_server.script import UsageCounts
from controller.model_server.seen import BadRequestError, Seen, required, rows_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.model_server.drafting import Draft

_FINISH = {"end": "stop", "length": "length", "filtered": "content_filter", "refused": "stop"}


class ChatApi:
    """See `controller.model_server.formats.api.Api`."""

    def match(self, path: str) -> str | None:
        """Return empty for the API's path."""
        return "" if path == "/v1/chat/completions" else None

    def key(self, headers: Mapping[str, str]) -> str:
        """Return the bearer token."""
        return bearer(headers)

    def read(self, body: dict[str, Any], model: str, path: str) -> Seen:  # noqa: ARG002
        """Return what a request contains.

        Raises:
            BadRequestError: it is not a request for a chat completion.
        """
        seen = Seen(model or str(required(body, "model")), is_streamed=bool(body.get("stream")))
        called: set[object] = set()
        for row in rows_of(required(body, "messages"), "messages"):
            match row.get("role"):
                case "system" | "developer":
                    seen.system += text_of(row.get("content"))
                case "assistant":
                    calls = rows_of(row.get("tool_calls") or [], "tool_calls")
                    called = {call.get("id") for call in calls}
                    seen.replied(text_of(row.get("content")))
                case "tool":
                    if row.get("tool_call_id") not in called:
                        raise BadRequestError("a tool message answers no call")
                    seen.say(text_of(row.get("content")))
                case "user":
                    _add(seen, row.get("content"))
                case role:
                    raise BadRequestError(f"unknown role {role!r}")
        for tool in rows_of(body.get("tools") or [], "tools"):
            seen.tools.append(str(tool.get("function", {}).get("name")))
        return seen

    def write(self, draft: Draft, model: str) -> dict[str, Any]:
        """Return a completion."""
        message: dict[str, Any] = {"role": "assistant", "content": draft.text or None}
        if draft.stop == "refused":
            message |= {"content": None, "refusal": draft.text}
        if draft.reasoning:
            message["reasoning_content"] = draft.reasoning
        if draft.calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{draft.number}_{index}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": as_text(call)},
                }
                for index, call in enumerate(draft.calls)
            ]
        finish = "tool_calls" if draft.calls and draft.stop == "end" else _FINISH[draft.stop]
        choice = {"index": 0, "message": message, "finish_reason": finish}
        reply = {
            "id": f"chatcmpl-{draft.number}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [choice],
            "usage": _usage(draft.usage),
        }
        return present(reply)

    def events(self, reply: dict[str, Any]) -> list[tuple[str, dict[str, Any] | str]]:
        """Return chunks: the text in pieces, the calls, the usage and the end."""
        choice = reply["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": text[at : at + 8]} for at in range(0, len(text), 8)]
        if calls := message.get("tool_calls"):
            rows = [{"index": index, **call} for index, call in enumerate(calls)]
            deltas.append({"tool_calls": rows})
        head = {**reply, "object": "chat.completion.chunk"}
        usage = head.pop("usage", None)
        rows = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in deltas
        ]
        last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        rows += [{**head, "choices": [last]}, {**head, "choices": [], "usage": usage}]
        return [*(("", row) for row in rows), ("", "[DONE]")]

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error."""
        return {"error": {"message": message, "type": "scripted", "code": status}}


def _add(seen: Seen, content: object) -> None:
    if isinstance(content, str):
        seen.say(content)
        return
    for part in rows_of(content, "content"):
        if part.get("type") == "text":
            seen.say(part.get("text"))
        elif part.get("type") == "image_url":
            seen.show(part.get("image_url", {}).get("url"))
        else:
            raise BadRequestError(f"unknown part {part.get('type')!r}")


def _usage(usage: UsageCounts | str) -> dict[str, Any] | None:
    if not isinstance(usage, UsageCounts):
        wrong = {"prompt_tokens": -5, "completion_tokens": "many"}
        return wrong if usage == "wrong" else None
    total = (
        None if None in {usage.input, usage.output} else (usage.input or 0) + (usage.output or 0)
    )
    return present(
        {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": total,
            "prompt_tokens_details": present({"cached_tokens": usage.cached}),
            "completion_tokens_details": present({"reasoning_tokens": usage.reasoning}),
        }
    )
