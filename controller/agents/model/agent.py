"""One agent for the models of all vendors: screenshots in, tool calls out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from controller.agents.model.calls import TEXTS, CallReader, remembered
from controller.agents.model.display import TEXTS as SHOWN
from controller.agents.model.display import pictures_of, show
from controller.agents.model.records import declared_fields, price
from controller.agents.model.shortening import CUT, shorten, shorten_refused
from controller.models.adapters import find_adapter
from controller.models.endpoint import ModelEndpoint
from controller.models.messages import Message, Request, Role
from controller.observation.environments import TEXTS as ENVIRONMENTS
from controller.observation.tree_text import TEXTS as LISTS
from controller.protocol import Turn
from foundation.errors import ModelRefusalError
from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.calls_as_json import Endpoint
    from controller.models.endpoint import Answer
    from controller.models.settings import ModelSettings
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext

SYSTEM = """\
You use computers and phones for a person. You see a screenshot of each machine and act by calling \
tools; the part of a tool's name before "__" is the machine it acts on. Coordinates are pixels of \
that machine's screenshot, origin top left. Call one tool at a time and look at the new \
screenshots before you go on. When the task is done, call session__complete; if an answer was \
asked for, call session__submit first.

{environments}"""
_MACHINES = """\
The machines are:
{lines}

"""
TASK = "The task: {instruction}"
_DONE = "Done."
_DROPPED = "Not carried out, because an earlier call of the same reply was refused."
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
        about = _environments(context.environments)
        self._system = system.replace("{environments}", about).replace(
            "{instruction}", context.instruction
        )
        self._turns: list[list[Message]] = []
        self._asked_at_step = 0
        self._endpoint: Endpoint = ModelEndpoint(
            settings, write=context.diary.write, keep=context.diary.keep
        )
        tools = [declared_fields(tool) for tool in self._tools]
        context.diary.write("prompt", system=self._system, tools=tools)

    def act(self, observation: Observation) -> Turn:
        """Send the screenshots and return the model's tool calls.

        Raises:
            ModelRefusalError: the model refuses, or the request is too large for it.
            ModelUnavailableError: the model cannot be reached despite retries.
        """
        sizes = pictures_of(observation, self._settings.image_scale)
        turn = [*self._answers(observation), show(observation, sizes)]
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
        returned = {result.index: result.text or _DONE for result in observation.results}
        done_texts = [returned.get(index, _DONE) for index in range(done)]
        texts = [*done_texts, feedback] + [_DROPPED] * len(calls)
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


def _environments(lines: Mapping[str, str]) -> str:
    """Return what each machine is, for the prompt; empty if the run does not tell."""
    if not lines:
        return ""
    return _MACHINES.format(lines="\n".join(f"{role}: {line}." for role, line in lines.items()))


def _without_pictures(message: Message) -> Message:
    return replace(message, parts=(_OMITTED,)) if message.has_pictures else message


def prompt_digest(adapter: str) -> str:
    """Return the SHA-256 of the agent's prompt texts, without the task and its tools.

    Args:
        adapter: name of the adapter, whose texts are included.

    Raises:
        UnknownNameError: there is no such adapter.
    """
    own = [
        SYSTEM + TASK,
        _MACHINES,
        _DONE,
        _DROPPED,
        _OMITTED,
        CUT,
        *TEXTS,
        *SHOWN,
        *LISTS,
        *ENVIRONMENTS,
    ]
    return digest_json([*own, *find_adapter(adapter).texts])
