"""One agent for every OpenAI-compatible endpoint: screenshots in, tool calls out."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from appliance.base.files import digest_json
from controller.agents.protocol import Turn, Usage
from controller.models.endpoint import ModelEndpoint
from controller.models.reply import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.actions.space import Action
    from controller.agents.protocol import AgentContext
    from controller.models.reply import Message, ToolCall
    from controller.models.settings import ModelSettings
    from controller.observation.observer import Observation
    from provisioning.protocols import Element

_SYSTEM = """\
You use computers and phones for a person. You see a screenshot of each machine and act by calling \
tools; the part of a tool's name before "__" is the machine it acts on. Coordinates are pixels of \
that machine's screenshot, origin top left. Call one tool at a time and look at the new \
screenshots before you go on. When the task is done, call session__complete; if an answer was \
asked for, call session__submit first.

The task: {instruction}"""
_NO_TOOL = "You called no tool. Call exactly one of the tools."
_ELEMENTS = 150
_OMITTED = "[older screenshots left out]"


class ModelAgent:
    """Asks a model what to do.

    Args:
        context: of the trial.
        settings: which model.
    """

    def __init__(self, context: AgentContext, settings: ModelSettings) -> None:
        self._settings = settings
        self._space = context.space
        self._tools = context.space.openai_tools()
        self._system = _SYSTEM.format(instruction=context.instruction)
        self._turns: list[list[dict[str, Any]]] = []
        self._endpoint = ModelEndpoint(settings)

    def act(self, observation: Observation) -> Turn:
        """Show the screenshots and take the model's tool calls.

        Raises:
            ModelRefusalError: the model refuses, or the request is too large for it.
            ModelUnavailableError: it cannot be reached, retries included.
        """
        turn = [*self._answers(observation.feedback), _shown(observation)]
        self._turns = [*self._turns, turn][-self._settings.history :]
        answer = self._endpoint.ask(self._messages(), self._tools)
        message = answer.reply.choices[0].message
        turn.append(_remembered(message))
        usage = self._usage(answer.reply.usage or Tokens())
        actions, fault = self._actions(message.tool_calls or [])
        return Turn(actions, usage, message.content or "", fault, answer.outage_s)

    def _usage(self, tokens: Tokens) -> Usage:
        usd = (
            tokens.prompt_tokens * self._settings.usd_per_mtok_prompt
            + tokens.completion_tokens * self._settings.usd_per_mtok_completion
        ) / 1e6
        return Usage(tokens.prompt_tokens, tokens.completion_tokens, usd)

    def _actions(self, calls: Sequence[ToolCall]) -> tuple[tuple[Action, ...], str]:
        if not calls:
            return (), _NO_TOOL
        actions = []
        for call in calls:
            try:
                args = json.loads(call.function.arguments or "{}")
            except ValueError as exc:
                return (), f"The arguments of {call.function.name} are not JSON: {exc}."
            if not isinstance(args, dict):
                return (), f"The arguments of {call.function.name} are not a JSON object."
            actions.append(self._space.action_of_tool(call.function.name, args))
        return tuple(actions), ""

    def _answers(self, feedback: str) -> list[dict[str, Any]]:
        """Answer the last turn's tool calls, as the API demands, with what came of them."""
        if not self._turns:
            return []
        calls = self._turns[-1][-1].get("tool_calls", [])
        text = feedback or "Done."
        if not calls:
            return [{"role": "user", "content": text}]
        return [{"role": "tool", "tool_call_id": call["id"], "content": text} for call in calls]

    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = [{"role": "system", "content": self._system}]
        first_shown = len(self._turns) - self._settings.pictures
        for index, turn in enumerate(self._turns):
            # The calls which the first turn's tool messages answer may have been forgotten.
            kept = turn if index else [row for row in turn if row["role"] != "tool"]
            messages += [row if index >= first_shown else _without_pictures(row) for row in kept]
        return messages


def _shown(observation: Observation) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for role, shot in observation.shots.items():
        height, width = shot.frame.shape[:2]
        url = f"data:image/png;base64,{base64.b64encode(shot.png).decode()}"
        parts.append({"type": "text", "text": f"{role}, {width} x {height} px:"})
        parts.append({"type": "image_url", "image_url": {"url": url}})
        if role in observation.trees:
            parts.append({"type": "text", "text": _listed(observation.trees[role])})
    return {"role": "user", "content": parts}


def _listed(elements: Sequence[Element]) -> str:
    """Return the named elements, one a line, with the place to click."""
    lines = [
        f"{element.role} {element.name[:80]!r} at {element.bounds.center}"
        for element in elements
        if element.name.strip()
    ]
    return "Elements:\n" + "\n".join(lines[:_ELEMENTS])


def _remembered(message: Message) -> dict[str, Any]:
    kept: dict[str, Any] = {"role": "assistant", "content": message.content or ""}
    if message.tool_calls:
        kept["tool_calls"] = [
            {"id": call.id, "type": "function", "function": call.function.model_dump()}
            for call in message.tool_calls
        ]
    return kept


def _without_pictures(message: dict[str, Any]) -> dict[str, Any]:
    if isinstance(message["content"], list):
        return {**message, "content": _OMITTED}
    return message


def prompt_digest() -> str:
    """Return the SHA-256 of what the agent tells every model beside the task and its tools."""
    return digest_json([_SYSTEM, _NO_TOOL, _OMITTED, _ELEMENTS])
