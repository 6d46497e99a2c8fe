"""One agent for every OpenAI-compatible endpoint: screenshots in, tool calls out."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from controller.agents.model.calls import TEXTS, CallReader, remembered
from controller.agents.model.elements import TEXTS as LISTS
from controller.agents.model.elements import describe_elements
from controller.agents.model.scaling import ScaledScreenshot
from controller.agents.model.shortening import CUT, shorten, shorten_refused
from controller.models.endpoint import ModelEndpoint
from controller.models.reply import REASONING
from controller.models.usage import usage_of
from controller.protocol import Turn
from foundation.errors import ModelRefusalError
from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.endpoint import Answer
    from controller.models.settings import ModelSettings
    from controller.models.usage import Usage
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext

_SYSTEM = """\
You use computers and phones for a person. You see a screenshot of each machine and act by calling \
tools; the part of a tool's name before "__" is the machine it acts on. Coordinates are pixels of \
that machine's screenshot, origin top left. Call one tool at a time and look at the new \
screenshots before you go on. When the task is done, call session__complete; if an answer was \
asked for, call session__submit first.

The task: {instruction}"""
_DONE = "Done."
_DROPPED = "Not carried out, because an earlier call of the same reply was refused."
_PROGRESS = "Progress on the task:"
_MAX_SEED = 2**31
_SEED = re.compile(r"\bseed\b", re.IGNORECASE)
_OMITTED = "[older screenshots left out]"


class ModelAgent:
    """Queries a model for actions.

    Args:
        context: context of the trial.
        settings: settings of the model.
    """

    def __init__(self, context: AgentContext, settings: ModelSettings) -> None:
        self._settings = settings
        self._tools = context.space.openai_tools()
        self._reader = CallReader(context.space)
        self._seed = context.seed % _MAX_SEED if settings.send_seed else None
        self._system = _SYSTEM.format(instruction=context.instruction)
        self._turns: list[list[dict[str, Any]]] = []
        self._asked_at_step = 0
        self._endpoint = ModelEndpoint(settings, write=context.diary.write)
        self._returns_reasoning = False
        context.diary.write("prompt", system=self._system, tools=self._tools)

    def act(self, observation: Observation) -> Turn:
        """Send the screenshots and return the model's tool calls.

        Raises:
            ModelRefusalError: the model refuses, or the request is too large for it.
            ModelUnavailableError: the model cannot be reached despite retries.
        """
        sizes = {
            role: ScaledScreenshot(shot, self._settings.image_scale)
            for role, shot in observation.shots.items()
        }
        turn = [*self._answers(observation), _shown(observation, sizes)]
        self._turns = [*self._turns, turn][-self._settings.history :]
        answer = self._ask()
        choice = answer.reply.choices[0]
        calls = self._reader.read(choice.message, choice.finish_reason, sizes)
        turn.append(remembered(choice.message, calls))
        self._asked_at_step = observation.step
        usage = self._priced(answer.reply.tokens)
        note = choice.message.content or ""
        return Turn(calls.actions, usage, note, calls.fault, answer.outage_s)

    def _ask(self) -> Answer:
        while True:
            try:
                return self._endpoint.ask(self._messages(), self._tools, seed=self._seed)
            except ModelRefusalError as exc:
                if not self._yields_to(exc):
                    exc.usd = self._priced(usage_of(exc.tokens)).usd
                    raise

    def _yields_to(self, refusal: ModelRefusalError) -> bool:
        """Adapt the request to a server that rejected it; return whether to retry.

        Some servers reject a conversation without the model's reasoning, others one with it; some
        do not accept a seed.
        """
        if refusal.status is None:
            return False
        if "reasoning_content" in refusal.details and not self._returns_reasoning:
            self._returns_reasoning = True
            return True
        if _SEED.search(refusal.details) and self._seed is not None:
            self._seed = None
            return True
        return False

    def _priced(self, usage: Usage) -> Usage:
        settings = self._settings
        return usage.priced(settings.usd_per_mtok_prompt, settings.usd_per_mtok_completion)

    def _answers(self, observation: Observation) -> list[dict[str, Any]]:
        """Return a message with the outcome of each call of the last turn, as the API requires."""
        if not self._turns:
            return []
        last = self._turns[-1]
        calls = last[-1].get("tool_calls", [])
        feedback = shorten(observation.feedback)
        done = observation.step - self._asked_at_step if feedback else len(calls)
        if feedback:
            last[-1] = shorten_refused(last[-1], done)
        if not calls:
            return [{"role": "user", "content": feedback or _DONE}]
        texts = [_DONE] * done + [feedback] + [_DROPPED] * len(calls)
        return [
            {"role": "tool", "tool_call_id": call["id"], "content": text}
            for call, text in zip(calls, texts, strict=False)
        ]

    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = [{"role": "system", "content": self._system}]
        first_shown = len(self._turns) - self._settings.pictures
        for index, turn in enumerate(self._turns):
            # The calls that the first turn's tool messages answer may no longer be in the history.
            kept = turn if index else [row for row in turn if row["role"] != "tool"]
            messages += [row if index >= first_shown else _without_pictures(row) for row in kept]
        hidden = set() if self._returns_reasoning else set(REASONING)
        return [{key: value for key, value in row.items() if key not in hidden} for row in messages]


def _shown(observation: Observation, screens: Mapping[str, ScaledScreenshot]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if observation.progress:
        parts.append({"type": "text", "text": "\n".join((_PROGRESS, *observation.progress))})
    for role, screen in screens.items():
        width, height = screen.size_px
        url = f"data:image/png;base64,{base64.b64encode(screen.png()).decode()}"
        parts.append({"type": "text", "text": f"{role}, {width} x {height} px:"})
        parts.append({"type": "image_url", "image_url": {"url": url}})
        if role in observation.trees:
            text = describe_elements(observation.trees[role], screen)
            parts.append({"type": "text", "text": text})
    return {"role": "user", "content": parts}


def _without_pictures(message: dict[str, Any]) -> dict[str, Any]:
    if isinstance(message["content"], list):
        return {**message, "content": _OMITTED}
    return message


def prompt_digest() -> str:
    """Return the SHA-256 of the agent's prompt texts, without the task and its tools."""
    return digest_json([_SYSTEM, _DONE, _DROPPED, _OMITTED, _PROGRESS, CUT, *TEXTS, *LISTS])
