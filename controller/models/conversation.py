"""Record what a model was sent and what it replied, each message once, for exports of trajectories.

Entries of the trial's log: ``content`` (a message or a list of tools by its digest; long ones in parts),
``asked`` (the request as digests of its contents), ``answered`` (the reply, with the time it took), ``tokens`` and
``tokens_continued`` (token ids and log-probabilities, if the server reports them).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.models.messages import Image
from foundation.files import digest_bytes, digest_json
from foundation.masking import mask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.models.messages import Message, Reply, Request, TokenTrace, Tool

_PART_CHARS = 100_000
"""Maximum length of an entry's text: as JSON, it may have ten times as many."""
_MOST_CHARS = 10_000_000
_TOKENS_EACH = 20_000
"""Maximum number of tokens in an entry."""


class Conversation:
    """Records the requests of one model in one trial.

    Args:
        write: receives entries.
        keep: receives each new picture with its media type.
    """

    def __init__(
        self,
        write: Callable[..., object],
        keep: Callable[[bytes, str], object],
    ) -> None:
        self._write = write
        self._keep = keep
        self._known: set[str] = set()

    def ask(self, request: Request) -> None:
        """Record a request."""
        messages = [self._content(self._describe(message)) for message in request.messages]
        tools = self._content([describe_tool(tool) for tool in request.tools])
        self._write("asked", messages=messages, tools=tools if request.tools else None)

    def answer(self, reply: Reply, seconds: float) -> None:
        """Record the reply to the last request.

        Args:
            reply: the reply.
            seconds: how long the answered request took.
        """
        self._write(
            "answered",
            reply=self._content(self._describe(reply.message)),
            stop=reply.stop.value,
            seconds=round(seconds, 4),
        )
        if reply.trace is not None:
            self._write_tokens(reply.trace)

    def _describe(self, message: Message) -> dict[str, Any]:
        """Return a message as JSON, with pictures by digest; what is empty is left out."""
        fields: dict[str, Any] = {
            "parts": [self._part(part) for part in message.parts],
            "calls": [
                {"id": call.id, "name": call.name, "arguments": call.arguments}
                for call in message.calls
            ],
            "call_id": message.call_id,
            "is_error": message.is_error,
            "reasoning": message.reasoning,
        }
        kept = {name: value for name, value in fields.items() if value}
        return {"role": message.role.value, **kept}

    def _part(self, part: str | Image) -> dict[str, str]:
        if not isinstance(part, Image):
            return {"text": part}
        digest = digest_bytes(part.data)
        if digest not in self._known:
            self._known.add(digest)
            self._keep(part.data, part.media_type)
        return {"image": digest, "media_type": part.media_type}

    def _content(self, content: Any) -> str:  # noqa: ANN401 - any JSON
        """Record a content that is new, and return its digest."""
        digest = digest_json(content)
        if digest in self._known:
            return digest
        self._known.add(digest)
        text = json.dumps(content)
        if len(text) <= _PART_CHARS:
            self._write("content", digest=digest, content=content)
            return digest
        text = mask(text)[:_MOST_CHARS]  # before it is split, as a secret may be, too
        parts = range(0, len(text), _PART_CHARS)
        for number, begin in enumerate(parts, 1):
            piece = text[begin : begin + _PART_CHARS]
            self._write("content", digest=digest, part=number, parts=len(parts), text=piece)
        return digest

    def _write_tokens(self, trace: TokenTrace) -> None:
        fields: dict[str, Sequence[float]] = {
            "prompt_ids": trace.prompt_ids,
            "output_ids": trace.output_ids,
            "log_probs": trace.log_probs,
        }
        most = max(len(values) for values in fields.values())
        for begin in range(0, max(most, 1), _TOKENS_EACH):
            end = begin + _TOKENS_EACH
            self._write(
                "tokens_continued" if begin else "tokens",
                **{name: list(values[begin:end]) for name, values in fields.items()},
            )


def describe_tool(tool: Tool) -> dict[str, Any]:
    """Return the declaration of a tool as JSON."""
    if tool.native:
        return {"name": tool.name, "native": dict(tool.native)}
    parameters = dict(tool.parameters)
    return {"name": tool.name, "description": tool.description, "parameters": parameters}
