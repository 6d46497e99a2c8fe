"""Replies of OpenAI-compatible endpoints, as far as they are used; parsed leniently.

Servers differ in what they omit and in how they write empty values. Unambiguous deviations are
accepted: arguments as an object, content in parts, missing identifiers. What else is malformed in a
message was written by the model: the message names it in `malformed`, and everything else of the
reply is used. Only a reply without a message is not a chat completion.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SkipValidation,
    ValidationError,
    model_validator,
)

from controller.models.messages import Message, Reply, Role, Stop, TokenTrace, ToolCall
from controller.models.openai.usage import count_tokens, usage_warnings

# Fields that servers require unchanged in the next request. Sources: OpenRouter "Preserving
# reasoning", Gemini "OpenAI compatibility: thought signatures".
_SIGNED = frozenset({"reasoning_details", "extra_content", "thought_signature", "signature"})
REASONING = ("reasoning_content", "reasoning")
"""Fields with a model's reasoning."""

_REASONING_NAME = "mesocosm.reasoning"
"""Key among the opaque fields of a message: name of the field that its reasoning came in."""

_STOPS = {"length": Stop.LENGTH, "content_filter": Stop.FILTERED}

CONTENT = "content must be text"
REFUSAL = "refusal must be text"
CALLS = "tool_calls must be a list"
CALL = "each of tool_calls must be an object with a function, which is an object"
NAME = "the function of each of tool_calls must have the tool's name, as text"
MALFORMED = (CONTENT, REFUSAL, CALLS, CALL, NAME)
"""What can be malformed in a message."""

_BAD_JSON = "json_invalid"
"""Pydantic's error for text that is not JSON."""


def _as_arguments(value: object) -> object:
    """Return arguments as JSON text, whatever they are; the reader of calls requires an object."""
    if value is None:
        return "{}"
    return value if isinstance(value, str) else json.dumps(value)


def _as_text(value: object) -> str | None:
    """Join the text parts of multi-part content."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    texts = (part.get("text") for part in value if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _as_string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _as_id(value: object) -> str:
    return str(value) if isinstance(value, int) else _as_string(value)


def _as_object(value: object) -> object:
    return value if isinstance(value, dict) else {}


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else []


def _numbers(values: object) -> tuple[float, ...]:
    """Return a list of finite numbers; nothing if anything else is in it."""
    if not isinstance(values, list):
        return ()
    numbers = tuple(
        value for value in values if isinstance(value, int | float) and math.isfinite(value)
    )
    return numbers if len(numbers) == len(values) else ()


def _only_first(value: object) -> object:
    return value[:1] if isinstance(value, list) else value


class _ExtensibleModel(BaseModel):
    """Keeps unknown fields, to send them back."""

    model_config = ConfigDict(extra="allow")

    @property
    def signed(self) -> dict[str, Any]:
        """The fields that the server requires back."""
        return {key: value for key, value in (self.model_extra or {}).items() if key in _SIGNED}


class Function(BaseModel):
    """A tool and its arguments, as JSON text."""

    name: Annotated[str, BeforeValidator(_as_string)] = ""
    arguments: Annotated[str, SkipValidation, BeforeValidator(_as_arguments)] = "{}"


class ChatCall(_ExtensibleModel):
    """One tool that the model calls.

    Attributes:
        malformed: what is malformed, one of `MALFORMED`; empty if nothing is.
    """

    id: Annotated[str, BeforeValidator(_as_id)] = ""
    function: Annotated[Function, BeforeValidator(_as_object)] = Function()
    malformed: str = ""

    def neutral(self) -> ToolCall:
        """Return the call without the wire format."""
        function = self.function
        return ToolCall(self.id, function.name, function.arguments, self.malformed, self.signed)

    @model_validator(mode="before")
    @classmethod
    def _examine(cls, data: object) -> object:
        function = data.get("function") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(function, dict):
            return {**(data if isinstance(data, dict) else {}), "malformed": CALL}
        name = function.get("name")
        return {**data, "malformed": "" if isinstance(name, str) and name else NAME}


class ChatMessage(_ExtensibleModel):
    """The model's text, tool calls or refusal.

    Attributes:
        malformed: what is malformed outside single calls, one of `MALFORMED`; empty if nothing is.
    """

    content: Annotated[str | None, BeforeValidator(_as_text)] = None
    tool_calls: Annotated[list[ChatCall], BeforeValidator(_as_list)] = []
    refusal: Annotated[str | None, BeforeValidator(_as_text)] = None
    malformed: str = ""

    @model_validator(mode="before")
    @classmethod
    def _examine(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        content, refusal, calls = (data.get(key) for key in ("content", "refusal", "tool_calls"))
        malformed = ""
        if not (content is None or isinstance(content, (str, list))):
            malformed = CONTENT
        elif refusal and not isinstance(refusal, str):
            malformed = REFUSAL
        elif not (calls is None or isinstance(calls, list)):
            malformed = CALLS
        return {**data, "malformed": malformed}

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

    message: ChatMessage
    finish_reason: Annotated[str | None, BeforeValidator(_as_text)] = None
    token_ids: Any = None
    logprobs: Any = None


class ChatCompletion(BaseModel):
    """A chat completion.

    Attributes:
        choices: the first completion; others are not used.
        usage: raw value.
        prompt_token_ids: raw value, of servers that are asked for it, such as vLLM.
    """

    choices: Annotated[list[Choice], BeforeValidator(_only_first)] = Field(min_length=1)
    usage: Any = None
    prompt_token_ids: Any = None

    def neutral(self) -> Reply:
        """Return the reply without the wire format."""
        choice = self.choices[0]
        message = choice.message
        stop = _STOPS.get(choice.finish_reason or "", Stop.END)
        text = message.content or ""
        if message.refusal:
            stop, text = Stop.REFUSED, message.refusal
        name, reasoning = message.reasoning or ("", "")
        opaque = {**message.signed, **({_REASONING_NAME: name} if name else {})}
        calls = tuple(call.neutral() for call in message.tool_calls)
        return Reply(
            Message(
                Role.MODEL,
                (text,) if text else (),
                calls,
                reasoning=reasoning,
                malformed=message.malformed,
                opaque=opaque,
            ),
            stop,
            count_tokens(self.usage),
            choice.finish_reason,
            tuple(usage_warnings(self.usage)),
            self._trace(choice),
        )

    def _trace(self, choice: Choice) -> TokenTrace | None:
        """Return the tokens that the server reports; None if it reports none."""
        rows = choice.logprobs.get("content") if isinstance(choice.logprobs, dict) else None
        rows = rows if isinstance(rows, list) else []
        log_probs = _numbers([row.get("logprob") for row in rows if isinstance(row, dict)])
        trace = TokenTrace(
            tuple(map(int, _numbers(self.prompt_token_ids))),
            tuple(map(int, _numbers(choice.token_ids))),
            log_probs if len(log_probs) == len(rows) else (),
        )
        return trace if trace != TokenTrace() else None


def read_reply(text: str) -> ChatCompletion:
    """Parse a reply.

    Half of a character (a lone surrogate) is replaced in texts. In arguments it is kept, because a
    replacement would be typed.

    Raises:
        ValidationError: the reply is not a chat completion.
    """
    try:
        return ChatCompletion.model_validate_json(text)
    except ValidationError as exc:
        if exc.errors(include_url=False)[0]["type"] != _BAD_JSON:
            raise
        try:
            data = _replaced(json.loads(text))
        except (ValueError, RecursionError):
            raise exc from None
    return ChatCompletion.model_validate(data)


def _replaced(value: object) -> object:
    """Replace lone surrogates by the replacement character, except in arguments."""
    match value:
        case str():
            return value.encode(errors="surrogatepass").decode(errors="replace")
        case list():
            return [_replaced(part) for part in value]
        case dict():
            return {
                str(_replaced(key)): part if key == "arguments" else _replaced(part)
                for key, part in value.items()
            }
        case _:
            return value


def reasoning_name(message: Message) -> str:
    """Return the name of the field that a message's reasoning came in."""
    return str(message.opaque.get(_REASONING_NAME, REASONING[0]))


def signed_fields(part: Message | ToolCall) -> dict[str, Any]:
    """Return the fields that the server requires back."""
    return {name: value for name, value in part.opaque.items() if name != _REASONING_NAME}
