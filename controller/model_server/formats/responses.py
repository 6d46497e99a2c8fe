"""OpenAI's Responses, with the tool ``computer``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.model_server.formats.api import as_object, as_text, bearer, present
from controller.model_server.script import UsageCounts
from controller.model_server.seen import BadRequestError, Seen, required, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.model_server.drafting import Draft, DraftCall

_COMPUTER = "computer"
_REASONS = {"length": "max_output_tokens", "filtered": "content_filter"}


class ResponsesApi:
    """See `controller.model_server.formats.api.Api`."""

    def match(self, path: str) -> str | None:
        """Return empty for the API's path."""
        return "" if path == "/v1/responses" else None

    def key(self, headers: Mapping[str, str]) -> str:
        """Return the bearer token."""
        return bearer(headers)

    def read(self, body: dict[str, Any], model: str, path: str) -> Seen:  # noqa: ARG002
        """Return what a request contains.

        Raises:
            BadRequestError: it is not a request for a response, or an outcome answers no call.
        """
        seen = Seen(model or str(required(body, "model")), is_streamed=bool(body.get("stream")))
        seen.system = str(body.get("instructions") or "")
        calls: dict[object, str] = {}
        was_reply = False
        for item in rows_of(required(body, "input"), "input"):
            kind = item.get("type", "message")
            is_reply = kind in {"reasoning", "function_call", "computer_call"} or (
                kind == "message" and item.get("role") == "assistant"
            )
            if was_reply and not is_reply:
                seen.replied()
            was_reply = is_reply
            if is_reply:
                calls[item.get("call_id")] = kind
            else:
                _add(seen, item, calls)
        if was_reply:
            seen.replied()
        for tool in rows_of(body.get("tools") or [], "tools"):
            seen.tools.append(str(tool.get("name") or tool.get("type")))
        return seen

    def write(self, draft: Draft, model: str) -> dict[str, Any]:
        """Return a response."""
        output: list[dict[str, Any]] = []
        if draft.reasoning:
            summary = [{"type": "summary_text", "text": draft.reasoning}]
            reasoning = {"type": "reasoning", "id": f"rs_{draft.number}", "summary": summary}
            output.append({**reasoning, "encrypted_content": f"sealed-{draft.number}"})
        if draft.text:
            part: dict[str, Any] = {"type": "output_text", "text": draft.text, "annotations": []}
            if draft.stop == "refused":
                part = {"type": "refusal", "refusal": draft.text}
            row = {"type": "message", "id": f"msg_{draft.number}", "status": "completed"}
            output.append({**row, "role": "assistant", "content": [part]})
        output += [_call(call, draft.number, index) for index, call in enumerate(draft.calls)]
        reason = _REASONS.get(draft.stop)
        reply = {
            "id": f"resp_{draft.number}",
            "object": "response",
            "created_at": 0,
            "model": model,
            "status": "incomplete" if reason else "completed",
            "incomplete_details": {"reason": reason} if reason else None,
            "output": output,
            "usage": _usage(draft.usage),
        }
        return present(reply)

    def events(self, reply: dict[str, Any]) -> list[tuple[str, dict[str, Any] | str]]:
        """Return the beginning and the end of a response."""
        begun = {**reply, "status": "in_progress", "output": [], "usage": None}
        kinds = (("response.created", begun), ("response.completed", reply))
        return [
            (kind, {"type": kind, "sequence_number": number, "response": response})
            for number, (kind, response) in enumerate(kinds)
        ]

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error."""
        return {"error": {"message": message, "type": "scripted", "code": str(status)}}


def _add(seen: Seen, item: dict[str, Any], calls: Mapping[object, str]) -> None:
    match item.get("type", "message"):
        case "message":
            content = item.get("content")
            if isinstance(content, str):
                seen.say(content)
                return
            for part in rows_of(content, "content"):
                if "image_url" in part:
                    seen.show(part["image_url"])
                else:
                    seen.say(part.get("text"))
        case "function_call_output" if calls.get(item.get("call_id")) == "function_call":
            seen.say(item.get("output"))
        case "computer_call_output" if calls.get(item.get("call_id")) == "computer_call":
            seen.show(required(required(item, "output"), "image_url"))
        case kind:
            raise BadRequestError(f"the item {kind!r} is unknown, or answers no call")


def _call(call: DraftCall, number: int, index: int) -> dict[str, Any]:
    identity = {"id": f"item_{number}_{index}", "call_id": f"call_{number}_{index}"}
    if call.name == _COMPUTER and isinstance(args := as_object(call), dict):
        row = {"type": "computer_call", **identity, "pending_safety_checks": []}
        return {**row, "status": "completed", **args}
    return {"type": "function_call", **identity, "name": call.name, "arguments": as_text(call)}


def _usage(usage: UsageCounts | str) -> dict[str, Any] | None:
    if not isinstance(usage, UsageCounts):
        return {"input_tokens": -5, "output_tokens": "many"} if usage == "wrong" else None
    total = (
        None if None in {usage.input, usage.output} else (usage.input or 0) + (usage.output or 0)
    )
    return present(
        {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": total,
            "input_tokens_details": present({"cached_tokens": usage.cached}),
            "output_tokens_details": present({"reasoning_tokens": usage.reasoning}),
        }
    )
