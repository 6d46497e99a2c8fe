"""Replies of OpenAI-compatible endpoints, as far as they are used; parsed leniently.

Servers differ in what they omit and in how they write empty values. Unambiguous deviations are
accepted: arguments as an object, content in parts, missing identifiers. Anything else is not a chat
completion.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Iterator

# Fields that servers require unchanged in the next request. Sources: OpenRouter "Preserving
# reasoning", Gemini "OpenAI compatibility: thought signatures".
_SIGNED = frozenset({"reasoning_details", "extra_content", "thought_signature", "signature"})
REASONING = ("reasoning_content", "reasoning")


def _as_arguments(value: object) -> object:
    if value is None:
        return "{}"
    return json.dumps(value) if isinstance(value, dict) else value


def _as_text(value: object) -> object:
    """Join the text parts of multi-part content."""
    if not isinstance(value, list):
        return value
    texts = (part.get("text") for part in value if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _as_id(value: object) -> object:
    return "" if value is None else str(value) if isinstance(value, int) else value


MAX_TOKENS = 10**9
"""Limit per request and direction; larger counts are ignored as invalid."""


class _ExtensibleModel(BaseModel):
    """Keeps unknown fields, to send them back."""

    model_config = ConfigDict(extra="allow")

    @property
    def signed(self) -> dict[str, Any]:
        """The fields that the server requires back."""
        return {key: value for key, value in (self.model_extra or {}).items() if key in _SIGNED}


class Function(BaseModel):
    """A tool and its arguments, as JSON text."""

    name: str
    arguments: Annotated[str, BeforeValidator(_as_arguments)] = "{}"


class ToolCall(_ExtensibleModel):
    """One tool that the model calls."""

    id: Annotated[str, BeforeValidator(_as_id)] = ""
    function: Function


class Message(_ExtensibleModel):
    """The model's text, tool calls or refusal."""

    content: Annotated[str | None, BeforeValidator(_as_text)] = None
    tool_calls: list[ToolCall] | None = None
    refusal: str | None = None

    @property
    def reasoning(self) -> tuple[str, str] | None:
        """Name and text of the field with the model's reasoning; None if there is none."""
        for name in REASONING:
            text = (self.model_extra or {}).get(name)
            if isinstance(text, str) and text:
                return name, text
        return None


class Choice(BaseModel):
    """One completion."""

    message: Message
    finish_reason: str | None = None


class Tokens(BaseModel):
    """Token usage of a request."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Reply(BaseModel):
    """A chat completion.

    Attributes:
        choices: completions; only the first is used.
        usage: raw value; `tokens` parses it.
    """

    choices: list[Choice] = Field(min_length=1)
    usage: Any = None

    @property
    def tokens(self) -> Tokens:
        """Token usage of the request; invalid counts are 0."""
        counts = {name: self._count(name) for name in Tokens.model_fields}
        return Tokens(**{name: count or 0 for name, count in counts.items()})

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems of a reply that is usable nevertheless."""
        return tuple(self._warnings())

    def _count(self, name: str) -> int | None:
        count = self.usage.get(name, 0) if isinstance(self.usage, dict) else None
        if isinstance(count, bool) or not isinstance(count, (int, float)):
            return None
        return int(count) if 0 <= count <= MAX_TOKENS else None

    def _warnings(self) -> Iterator[str]:
        if self.usage is None:
            yield "usage is missing: tokens are not counted"
            return
        for name in Tokens.model_fields:
            if self._count(name) is None:
                yield f"usage is invalid: {name} are not counted{self._why_not(name)}"

    def _why_not(self, name: str) -> str:
        value = self.usage.get(name) if isinstance(self.usage, dict) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            return f"; the value was negative: {value:g}"
        return ""
