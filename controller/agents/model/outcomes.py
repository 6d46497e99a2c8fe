"""What a model is told about its last reply, and shown next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.agents.model.shortening import shorten
from controller.models.messages import Image, Message, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.observation.observer import Observation

DONE = "Done."
NOT_EXECUTED = "Not executed: an earlier computer action in this turn failed."
"""The sentence that Anthropic prescribes for calls after one that failed; others understand it, too."""

PROGRESS = "Progress on the task:"
TEXTS = (DONE, NOT_EXECUTED, PROGRESS)
"""Texts about outcomes that models receive, for the digest of prompts."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The last reply.

    Attributes:
        message: what the model said.
        sources: for each action that it chose, the index of the call; -1 if it came from none.
        step: number of actions that were executed before.
        screen_calls: indexes of calls that acted on the screen, whose outcome is a picture.
    """

    message: Message
    sources: tuple[int, ...]
    step: int
    screen_calls: frozenset[int]


def answer_calls(
    asked: Asked | None,
    observation: Observation,
    picture: Image,
    others: Sequence[str | Image],
    *,
    answers_with_picture: bool,
) -> tuple[Message, ...]:
    """Return the outcomes of all calls of the last reply, and what the model is shown beside them.

    Args:
        asked: the last reply; None in the first turn.
        observation: what is observed now.
        picture: the screenshot of the screen that the model acts on.
        others: texts and pictures of other machines.
        answers_with_picture: whether the screenshot is the outcome of the last call on the screen.
    """
    messages: list[Message] = []
    feedback = shorten(observation.feedback)
    parts: list[str | Image] = []
    if observation.progress:
        parts.append("\n".join((PROGRESS, *observation.progress)))
    is_shown = False
    if asked is not None and asked.message.calls:
        last = max(asked.screen_calls, default=-1) if answers_with_picture else -1
        texts = _texts(asked, observation.step - asked.step, feedback)
        for index, (call, text) in enumerate(zip(asked.message.calls, texts, strict=True)):
            shown = (text, picture) if index == last else (text,)
            is_error = text != DONE
            messages.append(Message(Role.TOOL, shown, call_id=call.id, is_error=is_error))
        is_shown = last >= 0
    elif feedback:
        parts.append(feedback)
    if not is_shown:
        parts.append(picture)
    parts += others
    return (*messages, Message(Role.USER, tuple(parts))) if parts else tuple(messages)


def _texts(asked: Asked, done: int, feedback: str) -> list[str]:
    """Return the outcome of each call, in words."""
    count = len(asked.message.calls)
    if not feedback:
        return [DONE] * count
    executed = asked.sources[:done]
    # The call of the action that failed, or the one after the last that could be read.
    failed = (
        asked.sources[done]
        if done < len(asked.sources)
        else min(count - 1, max(asked.sources, default=-1) + 1)
    )
    failed = max(failed, 0)
    return [
        DONE
        if index < failed or (index != failed and index in executed)
        else feedback
        if index == failed
        else NOT_EXECUTED
        for index in range(count)
    ]
