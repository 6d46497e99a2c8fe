"""Shorten what was refused before it is sent to the model again; the log has the whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.models.reply import REASONING

if TYPE_CHECKING:
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


def shorten_refused(message: dict[str, Any], done: int) -> dict[str, Any]:
    """Return a model's message of the history without what is too long of its refused part.

    Args:
        message: the message, as `remembered` returns it.
        done: number of its calls that were carried out; these are not changed.
    """
    texts = {
        name: shorten(text)
        for name in ("content", *REASONING)
        if isinstance(text := message.get(name), str)
    }
    kept = {**message, **texts}
    if calls := message.get("tool_calls"):
        kept["tool_calls"] = [*calls[:done], *map(_shortened_call, calls[done:])]
    return kept


def _shortened_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    arguments = shorten_arguments(function["arguments"])
    return {**call, "function": {**function, "arguments": arguments}}


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
