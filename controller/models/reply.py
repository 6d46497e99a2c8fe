"""What an OpenAI-compatible endpoint replies, as far as it is used."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Function(BaseModel):
    """A tool and its arguments, as JSON text."""

    name: str
    arguments: str = "{}"


class ToolCall(BaseModel):
    """One tool that the model calls."""

    id: str
    function: Function


class Message(BaseModel):
    """What the model says, calls or refuses."""

    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    refusal: str | None = None


class Choice(BaseModel):
    """One completion."""

    message: Message
    finish_reason: str | None = None


class Tokens(BaseModel):
    """What a request used."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class Reply(BaseModel):
    """A chat completion."""

    choices: list[Choice] = Field(min_length=1)
    usage: Tokens | None = None
