"""Anthropic's Messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.model_server.formats.api import as_object, bearer, present
from controller.model_server.script import UsageCounts
from controller.model_server.seen import BadRequestError, Seen, required, rows_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.model_server.drafting import Draft

_STOPS = {"length": "max_tokens", "filtered": "refusal", "refused": "refusal"}


class AnthropicApi:
    """See `controller.model_server.formats.api.Api`."""

    def match(self, path: str) -> str | None:
        """Return empty for the API's path."""
        return "" if path == "/v1/messages" else None

    def key(self, headers: Mapping[str, str]) -> str:
        """Return the bearer token, or the header of SDKs before 2.14."""
        return headers.get("x-api-key") or bearer(headers)

    def read(self, body: dict[str, Any], model: str, path: str) -> Seen:  # noqa: ARG002
        """Return what a request contains.

        Raises:
            BadRequestError: it is not a request for a message, its roles do not alternate, or a call
                has no result.
        """
        required(body, "max_tokens")
        seen = Seen(model or str(required(body, "model")), is_streamed=bool(body.get("stream")))
        seen.system = text_of(body.get("system"))
        open_calls: set[object] = set()
        role = ""
        for row in rows_of(required(body, "messages"), "messages"):
            if row.get("role") == role:
                raise BadRequestError("roles must alternate")
            role = str(row.get("role"))
            blocks = _blocks(row.get("content"))
            if role == "assistant":
                open_calls = {block["id"] for block in blocks if block.get("type") == "tool_use"}
                seen.replied(*(block.get("text") for block in blocks))
                continue
            answered = {
                block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"
            }
            if answered != open_calls:
                raise BadRequestError("each tool_use must have a tool_result in the next message")
            open_calls = set()
            _add(seen, blocks)
        for tool in rows_of(body.get("tools") or [], "tools"):
            seen.tools.append(str(tool.get("type") or tool.get("name")))
        return seen

    def write(self, draft: Draft, model: str) -> dict[str, Any]:
        """Return a message; calls of the toolset's members are marked by the server."""
        content: list[dict[str, Any]] = []
        if draft.reasoning:
            signed = {"thinking": draft.reasoning, "signature": f"sealed-{draft.number}"}
            content.append({"type": "thinking", **signed})
        if draft.text:
            content.append({"type": "text", "text": draft.text})
        for index, call in enumerate(draft.calls):
            use = {"type": "tool_use", "id": f"toolu_{draft.number}_{index}", "name": call.name}
            toolset = (
                {} if "__" in call.name or call.name == "computer" else {"toolset_name": "computer"}
            )
            content.append({**use, **toolset, "input": as_object(call)})
        stop = _STOPS.get(draft.stop) or ("tool_use" if draft.calls else "end_turn")
        return {
            "id": f"msg_{draft.number}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            **_usage(draft.usage),
        }

    def events(self, reply: dict[str, Any]) -> list[tuple[str, dict[str, Any] | str]]:
        """Return a message in pieces: the input's usage comes first, the output's last."""
        usage = reply.get("usage") or {}
        sent = {name: count for name, count in usage.items() if name != "output_tokens"}
        begun = {**reply, "content": [], "stop_reason": None, "usage": {**sent, "output_tokens": 0}}
        rows: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
        for index, block in enumerate(reply["content"]):
            if block["type"] != "text":
                rows.append({"type": "content_block_start", "index": index, "content_block": block})
            else:
                empty = {"type": "text", "text": ""}
                delta = {"type": "text_delta", "text": block["text"]}
                rows.append({"type": "content_block_start", "index": index, "content_block": empty})
                rows.append({"type": "content_block_delta", "index": index, "delta": delta})
            rows.append({"type": "content_block_stop", "index": index})
        end = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
        received = {"output_tokens": usage.get("output_tokens", 0)}
        rows += [
            {"type": "message_delta", "delta": end, "usage": received},
            {"type": "message_stop"},
        ]
        return [(row["type"], row) for row in rows]

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error."""
        kind = "rate_limit_error" if status == 429 else "api_error"  # noqa: PLR2004 - an HTTP status
        return {"type": "error", "error": {"type": kind, "message": message}}


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return rows_of(content, "content")


def _add(seen: Seen, blocks: list[dict[str, Any]]) -> None:
    for block in blocks:
        match block.get("type"):
            case "text":
                seen.say(block.get("text"))
            case "image":
                seen.show(required(required(block, "source"), "data"))
            case "tool_result":
                _add(seen, _blocks(block.get("content") or []))
            case kind:
                raise BadRequestError(f"unknown block {kind!r}")


def _usage(usage: UsageCounts | str) -> dict[str, Any]:
    if not isinstance(usage, UsageCounts):
        wrong = {"usage": {"input_tokens": -5, "output_tokens": "many"}}
        return wrong if usage == "wrong" else {}
    # The API reports cached tokens apart from the input.
    plain = None if usage.input is None else usage.input - (usage.cached or 0)
    details = None if usage.reasoning is None else {"thinking_tokens": usage.reasoning}
    counts = {
        "input_tokens": plain,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "output_tokens_details": details,
    }
    return {"usage": present(counts)}
