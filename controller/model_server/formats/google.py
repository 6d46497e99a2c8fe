"""Google's ``generateContent``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from controller.model_server.formats.api import as_object, present
from controller.model_server.script import UsageCounts
from controller.model_server.seen import BadRequestError, Seen, required, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.model_server.drafting import Draft

_PATH = re.compile(r"/v1(?:beta)?/models/([^/:]+):(generateContent|streamGenerateContent)")
_FINISH = {"end": "STOP", "refused": "SAFETY", "length": "MAX_TOKENS", "filtered": "SAFETY"}


class GoogleApi:
    """See `controller.model_server.formats.api.Api`."""

    def match(self, path: str) -> str | None:
        """Return the model that the path names."""
        found = _PATH.fullmatch(path)
        return found[1] if found else None

    def key(self, headers: Mapping[str, str]) -> str:
        """Return the key's header."""
        return headers.get("x-goog-api-key", "")

    def read(self, body: dict[str, Any], model: str, path: str) -> Seen:
        """Return what a request contains.

        Raises:
            BadRequestError: it is not a request for content, or an outcome answers no call.
        """
        seen = Seen(model, is_streamed="stream" in path)
        system = body.get("systemInstruction") or {}
        seen.system = "".join(str(part.get("text")) for part in system.get("parts", []))
        called: list[object] = []
        for content in rows_of(required(body, "contents"), "contents"):
            parts = rows_of(required(content, "parts"), "parts")
            if content.get("role") == "model":
                called = [
                    part["functionCall"].get("name") for part in parts if "functionCall" in part
                ]
                seen.replied(*(part.get("text") for part in parts))
                continue
            answered = [part["functionResponse"] for part in parts if "functionResponse" in part]
            if [row.get("name") for row in answered] != called:
                raise BadRequestError("function responses must equal the calls of the turn before")
            called = []
            for part in parts:
                _add(seen, part)
        for tool in rows_of(body.get("tools") or [], "tools"):
            declared = rows_of(tool.get("functionDeclarations") or [], "functionDeclarations")
            seen.tools += [str(row.get("name")) for row in declared]
            seen.tools += [name for name in tool if name != "functionDeclarations"]
        return seen

    def write(self, draft: Draft, model: str) -> dict[str, Any]:
        """Return a reply; one without the permission to speak has no content."""
        parts: list[dict[str, Any]] = []
        if draft.reasoning:
            parts.append({"text": draft.reasoning, "thought": True})
        if draft.text and draft.stop != "refused":
            parts.append({"text": draft.text})
        for index, call in enumerate(draft.calls):
            signature = {"thoughtSignature": "c2VhbGVk"} if index == 0 else {}
            parts.append(
                {"functionCall": {"name": call.name, "args": as_object(call)}, **signature}
            )
        candidate = {
            "content": {"role": "model", "parts": parts},
            "finishReason": _FINISH[draft.stop],
            "index": 0,
        }
        reply = {
            "candidates": [candidate],
            "usageMetadata": _usage(draft.usage),
            "modelVersion": model,
            "responseId": f"r{draft.number}",
        }
        return present(reply)

    def events(self, reply: dict[str, Any]) -> list[tuple[str, dict[str, Any] | str]]:
        """Return the reply in one piece."""
        return [("", reply)]

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error."""
        return {"error": {"code": status, "message": message, "status": "SCRIPTED"}}


def _add(seen: Seen, part: dict[str, Any]) -> None:
    if "functionResponse" in part:
        response = part["functionResponse"]
        for value in (response.get("response") or {}).values():
            seen.say(value)
        for inner in response.get("parts") or []:
            _add(seen, inner)
    elif "inlineData" in part:
        seen.show(part["inlineData"].get("data"))
    elif "text" in part:
        seen.say(part["text"])
    else:
        raise BadRequestError(f"unknown part {', '.join(part)}")


def _usage(usage: UsageCounts | str) -> dict[str, Any] | None:
    if not isinstance(usage, UsageCounts):
        wrong = {"promptTokenCount": -5, "candidatesTokenCount": "many"}
        return wrong if usage == "wrong" else None
    # The API reports thoughts apart from the answer, and leaves out counts that are 0.
    answer = None if usage.output is None else usage.output - (usage.reasoning or 0)
    total = (
        None if None in {usage.input, usage.output} else (usage.input or 0) + (usage.output or 0)
    )
    counts = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": answer,
        "thoughtsTokenCount": usage.reasoning or None,
        "cachedContentTokenCount": usage.cached or None,
        "totalTokenCount": total,
    }
    return present(counts)
