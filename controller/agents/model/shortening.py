"""Shorten what was refused before it is sent to the model again; the log has the whole."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controller.models.messages import Message, ToolCall
    from provisioning.protocols import Json

MAX_CHARS = 4000
"""Maximum length of a text, or of a call's arguments as JSON, that was refused."""
_PART_CHARS = 200
CUT = "{start} ... ({chars} characters; the rest is left out)"


def shorten(text: str, limit: int = MAX_CHARS) -> str:
    """Return a text, or its start if it is longer than a limit."""
    return text if len(text) <= limit else CUT.format(start=text[:limit], chars=len(text))


def shorten_arguments(arguments: str) -> str:
    """Return arguments as JSON, with shorter texts if they are too long; ``{}`` if that is not enough.

    Args:
        arguments: a JSON object as text.
    """
    if len(arguments) <= MAX_CHARS:
        return arguments
    shortened = json.dumps(_shortened(json.loads(arguments)))
    return shortened if len(shortened) <= MAX_CHARS else "{}"


def shorten_refused(message: Message, done: int) -> Message:
    """Return a model's message of the history without what is too long of its refused part.

    Args:
        message: the message, as `remembered` returns it.
        done: number of its calls that were carried out; these are not changed.
    """
    parts = tuple(shorten(part) if isinstance(part, str) else part for part in message.parts)
    calls = (*message.calls[:done], *map(_shortened_call, message.calls[done:]))
    return replace(message, parts=parts, reasoning=shorten(message.reasoning), calls=calls)


def _shortened_call(call: ToolCall) -> ToolCall:
    return replace(call, arguments=shorten_arguments(call.arguments))


def _shortened(value: Json) -> Json:
    match value:
        case str():
            return shorten(value, _PART_CHARS)
        case list():
            return [_shortened(part) for part in value]
        case dict():
            return {key: _shortened(part) for key, part in value.items()}
        case _:
            return value
