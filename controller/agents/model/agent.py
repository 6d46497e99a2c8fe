"""One agent for the models of all vendors: screenshots in, tool calls out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from controller.agents.model.calls import TEXTS, CallReader, remembered
from controller.agents.model.elements import TEXTS as LISTS
from controller.agents.model.elements import describe_elements
from controller.agents.model.scaling import ScaledScreenshot
from controller.agents.model.shortening import CUT, shorten, shorten_refused
from controller.models.adapters import find_adapter
from controller.models.endpoint import ModelEndpoint
from controller.models.messages import Image, Message, Request, Role
from controller.models.usage import usage_of
from controller.protocol import Turn
from foundation.errors import ModelRefusalError
from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.calls_as_json import Endpoint
    from controller.models.endpoint import Answer
    from controller.models.messages import Tool
    from controller.models.settings import ModelSettings
    from controller.models.usage import Tokens
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext
    from provisioning.protocols import Json

SYSTEM = """\
You use computers and phones for a person. You see a screenshot of each machine and act by calling \
tools; the part of a tool's name before "__" is the machine it acts on. Coordinates are pixels of \
that machine's screenshot, origin top left. Call one tool at a time and look at the new \
screenshots before you go on. When the task is done, call session__complete; if an answer was \
asked for, call session__submit first.

"""
TASK = "The task: {instruction}"
_DONE = "Done."
_DROPPED = "Not carried out, because an earlier call of the same reply was refused."
_PROGRESS = "Progress on the task:"
_MAX_SEED = 2**31
_OMITTED = "[older screenshots left out]"


class ModelAgent:
    """Queries a model for actions.

    Args:
        context: context of the trial.
        settings: settings of the model.
        system: its system prompt, with ``{instruction}`` in the place of the task's.
    """

    def __init__(
        self, context: AgentContext, settings: ModelSettings, *, system: str = SYSTEM + TASK
    ) -> None:
        self._settings = settings
        self._tools = context.space.model_tools()
        self._reader = CallReader(context.space)
        is_seeded = settings.send_seed and find_adapter(settings.adapter).capabilities.seed
        self._seed = context.seed % _MAX_SEED if is_seeded else None
        self._system = system.replace("{instruction}", context.instruction)
        self._turns: list[list[Message]] = []
        self._asked_at_step = 0
        self._endpoint: Endpoint = ModelEndpoint(settings, write=context.diary.write)
        tools = [declared_fields(tool) for tool in self._tools]
        context.diary.write("prompt", system=self._system, tools=tools)

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
        reply = answer.reply
        calls = self._reader.read(reply, sizes)
        turn.append(remembered(reply.message, calls))
        self._asked_at_step = observation.step
        usage = reply.usage.priced(*self._settings.prices)
        return Turn(calls.actions, usage, reply.message.text, calls.fault, answer.outage_s)

    def _ask(self) -> Answer:
        try:
            return self._endpoint.ask(Request(self._messages(), self._tools, self._seed))
        except ModelRefusalError as exc:
            exc.usd = price(exc.tokens, self._settings)
            raise

    def _answers(self, observation: Observation) -> list[Message]:
        """Return a message with the outcome of each call of the last turn."""
        if not self._turns:
            return []
        last = self._turns[-1]
        calls = last[-1].calls
        feedback = shorten(observation.feedback)
        done = observation.step - self._asked_at_step if feedback else len(calls)
        if feedback:
            last[-1] = shorten_refused(last[-1], done)
        if not calls:
            return [Message(Role.USER, (feedback or _DONE,))]
        texts = [_DONE] * done + [feedback] + [_DROPPED] * len(calls)
        return [
            Message(Role.TOOL, (text,), call_id=call.id)
            for call, text in zip(calls, texts, strict=False)
        ]

    def _messages(self) -> tuple[Message, ...]:
        messages = [Message(Role.SYSTEM, (self._system,))]
        first_shown = len(self._turns) - self._settings.pictures
        for index, turn in enumerate(self._turns):
            # The calls that the first turn's outcomes name may no longer be in the history.
            kept = turn if index else [row for row in turn if row.role is not Role.TOOL]
            messages += [row if index >= first_shown else _without_pictures(row) for row in kept]
        return tuple(messages)


def price(tokens: Tokens, settings: ModelSettings) -> float:
    """Return the price of tokens, US dollars."""
    return usage_of(tokens).priced(*settings.prices).usd


def declared_fields(tool: Tool) -> dict[str, Json]:
    """Return a tool as the trial's log has it."""
    fields: dict[str, Json] = {"name": tool.name}
    if tool.native:
        return {**fields, "native": dict(tool.native)}
    return {**fields, "description": tool.description, "parameters": dict(tool.parameters)}


def _shown(observation: Observation, screens: Mapping[str, ScaledScreenshot]) -> Message:
    parts: list[str | Image] = []
    if observation.progress:
        parts.append("\n".join((_PROGRESS, *observation.progress)))
    for role, screen in screens.items():
        width, height = screen.size_px
        parts += [f"{role}, {width} x {height} px:", Image(screen.png())]
        if role in observation.trees:
            parts.append(describe_elements(observation.trees[role], screen))
    return Message(Role.USER, tuple(parts))


def _without_pictures(message: Message) -> Message:
    return replace(message, parts=(_OMITTED,)) if message.has_pictures else message


def prompt_digest(adapter: str) -> str:
    """Return the SHA-256 of the agent's prompt texts, without the task and its tools.

    Args:
        adapter: name of the adapter, whose texts are included.

    Raises:
        UnknownNameError: there is no such adapter.
    """
    own = [SYSTEM + TASK, _DONE, _DROPPED, _OMITTED, _PROGRESS, CUT, *TEXTS, *LISTS]
    return digest_json([*own, *find_adapter(adapter).texts])
