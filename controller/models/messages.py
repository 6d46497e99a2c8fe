"""What is said to a model and what it replies, without any vendor's wire format."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from controller.models.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue


class Role(StrEnum):
    """Who says a message."""

    SYSTEM = "system"
    USER = "user"
    MODEL = "model"
    TOOL = "tool"
    """The outcome of a call."""


class Stop(StrEnum):
    """Why a reply ended."""

    END = "end"
    LENGTH = "length"
    """It was cut off, because it was longer than allowed."""
    REFUSED = "refused"
    """The model refuses; the text of the message is its reason."""
    FILTERED = "filtered"
    """It was withheld by a filter of the vendor."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture.

    Attributes:
        data: the encoded picture.
        media_type: its format.
    """

    data: bytes
    media_type: str = "image/png"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call.

    Attributes:
        name: its name.
        description: what it does.
        parameters: JSON schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool.

    Attributes:
        id: id that its outcome names; may be empty or used twice in a reply.
        name: the tool's name as the model wrote it.
        arguments: its arguments as JSON text, as the model wrote them.
        malformed: what is malformed, in words for the model; empty if nothing is.
        opaque: what the vendor's adapter needs back unchanged in later requests.
    """

    id: str
    name: str
    arguments: str = "{}"
    malformed: str = ""
    opaque: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: who says it.
        parts: texts and pictures, in order.
        calls: tools that the model calls.
        call_id: the call whose outcome it is, in a message of a tool.
        reasoning: the model's reasoning, if it is disclosed.
        malformed: what is malformed outside single calls, in words for the model.
        opaque: what the vendor's adapter needs back unchanged in later requests.
    """

    role: Role
    parts: tuple[str | Image, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    reasoning: str = ""
    malformed: str = ""
    opaque: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Its texts, joined."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def has_pictures(self) -> bool:
        """Whether it has any picture."""
        return any(isinstance(part, Image) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model.

    Attributes:
        messages: the conversation.
        tools: tools that the model may call.
        seed: sampling seed; None sends none.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply.

    Attributes:
        message: what it says.
        stop: why it ended.
        usage: its tokens, without a price.
        finish_reason: why it ended in the vendor's words, for logs; None if it does not say.
        warnings: problems of a reply that is usable nevertheless.
    """

    message: Message
    stop: Stop = Stop.END
    usage: Usage = field(default_factory=Usage)
    finish_reason: str | None = None
    warnings: tuple[str, ...] = ()
