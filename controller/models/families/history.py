"""Choose which of the earlier turns a request includes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from controller.models.messages import Image, Message, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.models.families.family import Declared, History

OMITTED = "[older screenshots left out]"
EARLIER = "Your earlier steps:"
NONE = "none"
STEP = "Step {number}: {summary}"
TEXTS = (OMITTED, EARLIER, NONE, STEP)
"""Texts of the history that models receive, for the digest of prompts."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier turn.

    Attributes:
        shown: what the model was shown: outcomes of its calls, and the screenshot.
        reply: what it replied.
        summary: what it did, in one line.
    """

    shown: tuple[Message, ...]
    reply: Message
    summary: str


def compose(
    declared: Declared, history: History, earlier: Sequence[Exchange], shown: Sequence[Message]
) -> tuple[Message, ...]:
    """Return the messages of a request.

    The first message of the user begins with the text of the declaration, wherever the history begins.

    Args:
        declared: what the model is told.
        history: the policy.
        earlier: all earlier turns.
        shown: what the model is shown now.
    """
    kept_count = history.pictures - 1 if history.is_summary else history.turns
    first = max(0, len(earlier) - kept_count)
    kept = list(earlier[first:])
    head = declared.user
    if history.is_summary:
        lines = [
            STEP.format(number=number, summary=exchange.summary)
            for number, exchange in enumerate(earlier[:first], 1)
        ][-history.turns :]
        head = "\n".join((head, "", EARLIER, *(lines or [NONE])))
    turns = [[*exchange.shown, exchange.reply] for exchange in kept] + [list(shown)]
    turns[0] = _begun(turns[0], head)
    first_shown = len(turns) - history.pictures
    messages = [Message(Role.SYSTEM, (declared.system,))] if declared.system else []
    for index, turn in enumerate(turns):
        messages += [row if index >= first_shown else _without_pictures(row) for row in turn]
    return tuple(messages)


def _begun(turn: list[Message], head: str) -> list[Message]:
    """Return the first turn of a request: the calls that its outcomes name are no longer in it."""
    parts: list[str | Image] = [head] if head else []
    rest: list[Message] = []
    for message in turn:
        if message.role is Role.MODEL:
            rest.append(message)
        elif message.role is Role.TOOL:
            parts += [part for part in message.parts if isinstance(part, Image)]
        else:
            parts += message.parts
    return [Message(Role.USER, tuple(parts)), *rest]


def _without_pictures(message: Message) -> Message:
    if not message.has_pictures:
        return message
    texts = tuple(part for part in message.parts if isinstance(part, str))
    return replace(message, parts=(*texts, OMITTED))
