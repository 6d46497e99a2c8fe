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
        png: the encoded picture.
    """

    png: bytes


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call.

    Attributes:
        name: its name.
        description: what it does.
        parameters: JSON schema of its arguments, an object.
        native: declaration of a tool that the vendor defines, in the vendor's format, which is sent
            instead of the others; empty for ours.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    native: Mapping[str, Any] = field(default_factory=dict)


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
        is_error: whether that outcome is that the call failed.
        reasoning: the model's reasoning, if it is disclosed.
        malformed: what is malformed outside single calls, in words for the model.
        opaque: what the vendor's adapter needs back unchanged in later requests.
    """

    role: Role
    parts: tuple[str | Image, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    is_error: bool = False
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
class TokenTrace:
    """The tokens of a request and its reply, as far as a server reports them; for training.

    Attributes:
        prompt_ids: token ids of the request, empty if they are unknown.
        output_ids: token ids of the reply, empty if they are unknown.
        log_probs: natural logarithm of the probability of each token of the reply, empty if unknown.
    """

    prompt_ids: tuple[int, ...] = ()
    output_ids: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply.

    Attributes:
        message: what it says.
        stop: why it ended.
        usage: its tokens, without a price.
        finish_reason: why it ended in the vendor's words, for logs; None if it does not say.
        warnings: problems of a reply that is usable nevertheless.
        trace: its tokens; None if the server reports none.
    """

    message: Message
    stop: Stop = Stop.END
    usage: Usage = field(default_factory=Usage)
    finish_reason: str | None = None
    warnings: tuple[str, ...] = ()
    trace: TokenTrace | None = None
