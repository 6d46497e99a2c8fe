"""Read the JSON of replies leniently: servers differ in what they omit and how they write it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.models.failures import unusable_reply

if TYPE_CHECKING:
    from controller.models.failures import UnansweredError
    from controller.models.messages import Message


def load_reply(
    text: str, what: str, field: str, endpoint: str, *, instead: str = ""
) -> dict[str, Any]:
    """Parse a reply.

    Half of a character (a lone surrogate) stays as it is; readers of calls refuse it.

    Args:
        text: the reply.
        what: what it should be, such as ``a message``.
        field: a field that it must have, a list.
        endpoint: address of the server, without secrets.
        instead: a field that a reply without that list has.

    Raises:
        UnansweredError: it is no JSON object with one of these fields.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise _unusable(what, f"It is not JSON: {exc}.", endpoint) from None
    if not isinstance(data, dict):
        raise _unusable(what, "It is not a JSON object.", endpoint)
    if instead and instead in data:
        data.setdefault(field, [])
    if not isinstance(data.get(field), list):
        error = data.get("error")
        message = error.get("message", error) if isinstance(error, dict) else error
        reason = f"Server message: {message}" if message else f"{field}: must be a list"
        raise _unusable(what, reason, endpoint)
    return data


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list; nothing else of it, and nothing of other values."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text without halves of characters; empty for other values."""
    return (
        value.encode(errors="surrogatepass").decode(errors="replace")
        if isinstance(value, str)
        else ""
    )


def arguments_of(value: object) -> str:
    """Return the arguments of a call as JSON text, whatever they are."""
    if value is None:
        return "{}"
    return value if isinstance(value, str) else json.dumps(value)


def is_as_sent(message: Message, text: str, calls: list[tuple[str | None, str]]) -> bool:
    """Return whether a message is still what the server sent, so that it may go back verbatim.

    Args:
        message: the message of the history, whose ids may be replaced or arguments shortened.
        text: all texts of the raw message.
        calls: id, None if it has none, and arguments of the calls of the raw message.
    """
    return (
        message.text == text
        and len(message.calls) == len(calls)
        and all(
            identity in {None, call.id} and _value(call.arguments) == _value(arguments)
            for call, (identity, arguments) in zip(message.calls, calls, strict=True)
        )
    )


def _value(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _unusable(what: str, reason: str, endpoint: str) -> UnansweredError:
    return unusable_reply(
        what,
        reason,
        reason,
        f"Check that {endpoint} is the address of the API that the adapter is for.",
    )
