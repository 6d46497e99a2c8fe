"""The agent for models that act on screens in the format of their family."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from controller.agents.model.acting import TEXTS as ACTING
from controller.agents.model.acting import Hands
from controller.agents.model.agent import ModelAgent, prompt_digest
from controller.agents.model.calls import CallReader, remembered
from controller.agents.model.outcomes import TEXTS as OUTCOMES
from controller.agents.model.outcomes import Asked, answer_calls
from controller.agents.model.records import declared_fields, price
from controller.agents.model.shortening import shorten_refused
from controller.models.adapters import find_adapter
from controller.models.endpoint import ModelEndpoint
from controller.models.families.family import Brief, History, Screen
from controller.models.families.gestures import Do, FaultKind, ParseError, on_screen
from controller.models.families.history import TEXTS as HISTORY
from controller.models.families.history import Exchange, compose
from controller.models.families.table import family_texts, find_family
from controller.models.messages import Image, Message, Reply, Request, Role, ToolCall
from controller.models.pictures.sizing import Size, resize_png
from controller.observation.pictures import Picture
from controller.protocol import Turn
from controller.specification.agent import TOOLS
from evaluators.strict import SESSION
from foundation.errors import AgentError, ModelRefusalError
from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.actions.space import Action
    from controller.models.families.gestures import Gesture, Parsed
    from controller.models.messages import Tool
    from controller.models.settings import ModelSettings
    from controller.observation.observer import Observation, Screenshot
    from controller.protocol import Agent, AgentContext

RETURNED = "{call} returned: {text}"
"""What precedes the result of an action."""

_MAX_SEED = 2**31
_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class _Plan:
    """The actions of a reply.

    Attributes:
        actions: actions before the first fault.
        sources: for each action, the index of the call that it came from; -1 if it came from none.
        fault: what is wrong after them, for the model.
        kind: class of the fault; empty if there is none.
    """

    actions: tuple[Action, ...]
    sources: tuple[int, ...]
    fault: str = ""
    kind: str = ""


class ScreenAgent:
    """Queries a model of a family for actions.

    One machine is acted on in the family's own format: the first desktop, or the first machine. Families
    that can call tools have those of the session and of all other machines, too.

    Args:
        context: context of the trial.
        settings: settings of the model, which name a family.

    Raises:
        AgentError: there are several machines, and the family can act on one only.
    """

    def __init__(self, context: AgentContext, settings: ModelSettings) -> None:
        self._settings = settings
        self._family = find_family(settings.family)
        self._context = context
        self._reader, self._memory = CallReader(context.space), CallReader(context.space)
        kinds = {
            role: "phone" if "tap" in tools else "desktop"
            for role, tools in context.space.tools.items()
            if role != SESSION
        }
        if len(kinds) > 1 and not self._family.has_tools:
            raise AgentError(
                f"The family {settings.family!r} acts on one machine, this task has {len(kinds)}.",
                resolution="Choose a family that can call tools, or the format `tools`.",
            )
        role = next((role for role, kind in kinds.items() if kind == "desktop"), next(iter(kinds)))
        tools = context.space.tools
        self._hands = Hands(role, kinds[role], tools[role], tools[SESSION])
        self._history = History(
            settings.history, settings.pictures, self._family.history.is_summary
        )
        is_seeded = settings.send_seed and find_adapter(settings.adapter).capabilities.seed
        self._seed = context.seed % _MAX_SEED if is_seeded else None
        self._earlier: list[Exchange] = []
        self._asked: Asked | None = None
        self._is_declared = False
        self._endpoint = ModelEndpoint(settings, write=context.diary.write, keep=context.diary.keep)

    def act(self, observation: Observation) -> Turn:
        """Send the screenshots and return the actions that the model chooses.

        Raises:
            ModelRefusalError: the model refuses, or the request is too large for it.
            ModelUnavailableError: the model cannot be reached despite retries.
        """
        screen = self._screen(observation.shots[self._hands.role])
        shown = self._shown(observation, screen)
        declared = self._family.declaration.declare(
            Brief(self._context.instruction, screen, self._own_tools())
        )
        if not self._is_declared:
            self._is_declared = True
            rows = [declared_fields(tool) for tool in declared.tools]
            self._context.diary.write(
                "prompt", system=declared.system, user=declared.user, tools=rows
            )
        messages = compose(declared, self._history, self._earlier, shown)
        try:
            answer = self._endpoint.ask(Request(messages, declared.tools, self._seed))
        except ModelRefusalError as exc:
            exc.usd = price(exc.tokens, self._settings)
            raise
        reply = answer.reply
        parsed = self._family.parser.read(reply)
        plan = self._plan(parsed, reply, screen, observation)
        self._log(parsed, plan, screen)
        self._remember(shown, reply, parsed, plan, observation)
        usage = reply.usage.priced(*self._settings.prices)
        return Turn(plan.actions, usage, parsed.thought, plan.fault, answer.outage_s)

    def _screen(self, shot: Screenshot) -> Screen:
        height, width = shot.frame.shape[:2]
        size = Size(width, height)
        kind = self._hands.kind
        return Screen(
            self._hands.role,
            "phone" if kind == "phone" else "desktop",
            size,
            self._family.sizer.size(size),
        )

    def _own_tools(self) -> tuple[Tool, ...]:
        """Return the tools of the session and of other machines."""
        own = f"{self._hands.role}__"
        tools = self._context.space.model_tools()
        return tuple(tool for tool in tools if not tool.name.startswith(own))

    def _others(self, observation: Observation) -> dict[str, Picture]:
        """Return the screenshots of other machines, within the limits of the family's pictures."""
        screens = {}
        for role, shot in observation.shots.items():
            if role != self._hands.role:
                height, width = shot.frame.shape[:2]
                sent = self._family.sizer.size(Size(width, height))
                picture = Picture(shot.frame, png=shot.png)
                screens[role] = picture.scaled(min(1.0, sent.width / width))
        return screens

    def _shown(self, observation: Observation, screen: Screen) -> tuple[Message, ...]:
        """Return what the model is shown: outcomes of its calls, and the screenshots."""
        shot = observation.shots[self._hands.role]
        picture = Image(resize_png(shot.png, screen.sent))
        others: list[str | Image] = []
        for result in observation.results:
            if result.text or result.png:
                others.append(RETURNED.format(call=result.call, text=result.text))
            if result.png:
                others.append(Image(result.png))
        for role, scaled in self._others(observation).items():
            width, height = scaled.size_px
            others += [f"{role}, {width} x {height} px:", Image(scaled.data(), scaled.media_type)]
        return answer_calls(
            self._asked,
            observation,
            picture,
            others,
            answers_with_picture=self._family.answers_with_picture,
        )

    def _plan(
        self, parsed: Parsed, reply: Reply, screen: Screen, observation: Observation
    ) -> _Plan:
        """Return the actions of a reply, up to the first gesture that is impossible."""
        actions: list[Action] = []
        sources: list[int] = []
        gestures = parsed.gestures
        calls = parsed.calls or (-1,) * len(gestures)
        # Where anything else is done, the next picture needs no action of its own.
        is_only_look = all(gesture.do is Do.LOOK for gesture in gestures)
        for index, (gesture, source) in enumerate(zip(gestures, calls, strict=True)):
            if gesture.do is Do.LOOK and not (is_only_look and index == 0):
                continue
            try:
                made = self._act(gesture, screen, reply, source, observation)
            except ParseError as exc:
                return _Plan(tuple(actions), tuple(sources), exc.brief, exc.kind.value)
            actions += made
            sources += [source] * len(made)
        if parsed.fault is None:
            return _Plan(tuple(actions), tuple(sources))
        return _Plan(tuple(actions), tuple(sources), parsed.fault.text, parsed.fault.kind.value)

    def _act(
        self, gesture: Gesture, screen: Screen, reply: Reply, source: int, observation: Observation
    ) -> list[Action]:
        """Return the actions of a gesture.

        Raises:
            ParseError: it is impossible.
        """
        if gesture.do is not Do.CALL:
            moved = on_screen(gesture, self._family.coordinates, screen.sent, screen.size)
            return self._hands.act(moved, screen)
        call = reply.message.calls[source] if source >= 0 else ToolCall("", gesture.text)
        single = Reply(Message(Role.MODEL, (), (call,)))
        calls = self._reader.read(single, self._others(observation))
        if calls.fault:
            raise ParseError(FaultKind.BAD_ARGUMENTS, calls.fault)
        return list(calls.actions)

    def _log(self, parsed: Parsed, plan: _Plan, screen: Screen) -> None:
        """Log what the reply means: gestures in the model's coordinates, and the mapped actions."""
        self._context.diary.write(
            "parsed",
            family=self._family.name,
            screen_px=list(screen.size),
            sent_px=list(screen.sent),
            gestures=[_shortened(gesture) for gesture in parsed.gestures],
            actions=[action.to_dict() for action in plan.actions],
            fault_class=plan.kind,
        )

    def _remember(
        self,
        shown: Sequence[Message],
        reply: Reply,
        parsed: Parsed,
        plan: _Plan,
        observation: Observation,
    ) -> None:
        message = remembered(reply.message, self._memory.read(reply, {}))
        if plan.fault:
            message = shorten_refused(message, max(plan.sources, default=-1) + 1)
        lines = [json.dumps(_shortened(gesture)) for gesture in parsed.gestures]
        summary = "; ".join([*lines, *([plan.fault] if plan.fault else [])])
        self._earlier.append(Exchange(tuple(shown), message, summary[:_SHOWN_CHARS]))
        computer = {
            index for index, call in enumerate(message.calls) if not call.name.partition("__")[1]
        }
        self._asked = Asked(message, plan.sources, observation.step, frozenset(computer))


def _shortened(gesture: Gesture) -> dict[str, object]:
    """Return a gesture for logs; the raw reply has long texts in full."""
    if len(gesture.text) > _SHOWN_CHARS:
        gesture = replace(gesture, text=f"{gesture.text[:_SHOWN_CHARS]}...")
    return gesture.to_dict()


def make_model_agent(context: AgentContext, settings: ModelSettings) -> Agent:
    """Return the agent for the format in which a model acts.

    Raises:
        AgentError: the trial has several machines, and the family can act on one only.
    """
    if settings.family == TOOLS:
        return ModelAgent(context, settings)
    return ScreenAgent(context, settings)


def family_prompt_digest(adapter: str, family: str) -> str:
    """Return the SHA-256 of the agent's prompt texts, without the task and its tools.

    Args:
        adapter: name of the adapter, whose texts are included.
        family: name of the family.

    Raises:
        UnknownNameError: there is no such adapter or family.
    """
    if family == TOOLS:
        return prompt_digest(adapter)
    own = [RETURNED, *ACTING, *OUTCOMES, *HISTORY, *family_texts(family)]
    return digest_json([*own, prompt_digest(adapter)])
