"""A planner that names elements, and a grounder that finds them on the screen."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from controller.agents.model.display import pictures_of
from controller.agents.team import prompts
from controller.agents.team.crew import Said
from controller.agents.team.member import MemberAgent, part_of
from controller.models.calls_as_json import JsonEndpoint
from controller.models.endpoint import Answer, ModelEndpoint
from controller.models.messages import Image, Message, Request, Role, Tool
from controller.protocol import Turn
from controller.specification.team import GROUNDER, PLANNER
from evaluators.coordinates import points_of
from evaluators.strict import SESSION
from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.actions.space import ActionSpace
    from controller.agents.team.crew import Crew
    from controller.models.calls_as_json import Endpoint
    from controller.models.messages import Reply, ToolCall
    from controller.models.settings import ModelSettings
    from controller.models.usage import Usage
    from controller.observation.observer import Observation
    from controller.observation.pictures import Picture
    from controller.protocol import AgentContext
    from controller.specification.team import Calls

_POINT = Tool(
    "point",
    "Name the pixel in the middle of the element.",
    {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
        "required": ["x", "y"],
        "additionalProperties": False,
    },
)
_SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class Finding:
    """A place that the grounder was asked for.

    Attributes:
        target: description of the element.
        point: where it is on the picture that was sent, px; None if the grounder named no place on it.
        usage: usage of its model.
        outage_s: seconds that its model did not answer.
        seconds: how long it took.
    """

    target: str
    point: tuple[int, int] | None
    usage: Usage
    outage_s: float
    seconds: float


class Grounder:
    """Finds described elements on screenshots.

    Args:
        context: context of the trial; gets its replies in the diary.
        settings: settings of its model.
        calls: how it names a place.
    """

    def __init__(self, context: AgentContext, settings: ModelSettings, calls: Calls) -> None:
        endpoint: Endpoint = ModelEndpoint(
            settings, write=context.diary.write, keep=context.diary.keep
        )
        self._endpoint = JsonEndpoint(endpoint) if calls == "json" else endpoint
        self._settings = settings
        context.diary.write("prompt", system=prompts.prompt_of("planner-grounder", GROUNDER))

    def act(self, observation: Observation) -> Turn:
        """Refuse: the grounder takes no turns of its own."""
        raise NotImplementedError(observation)

    def find(self, target: str, screen: Picture) -> Finding:
        """Ask for the place of an element; raises like `ModelEndpoint.ask`."""
        system = Message(Role.SYSTEM, (prompts.prompt_of("planner-grounder", GROUNDER),))
        width, height = screen.size_px
        parts = (
            f"Screenshot, {width} x {height} px:",
            Image(screen.data(), screen.media_type),
            f"Find: {target}",
        )
        start_s = SYSTEM_CLOCK.monotonic_s()
        answer = self._endpoint.ask(Request((system, Message(Role.USER, parts)), (_POINT,)))
        usage = answer.reply.usage.priced(*self._settings.prices)
        seconds = SYSTEM_CLOCK.monotonic_s() - start_s
        return Finding(target, _point_in(answer.reply, screen), usage, answer.outage_s, seconds)


class PlannerAgent(MemberAgent):
    """A model that describes elements; the grounder turns descriptions into coordinates.

    Args:
        context: context of the trial with the planner's actions.
        settings: settings of its model.
        system: its system prompt.
        calls: how it calls actions.
        grounder: finds elements.

    Attributes:
        findings: what the grounder was asked for in the last turn.
    """

    def __init__(
        self,
        context: AgentContext,
        settings: ModelSettings,
        *,
        system: str,
        calls: Calls,
        grounder: Grounder,
    ) -> None:
        super().__init__(context, settings, system=system, calls=calls)
        self._space = context.space
        self._tools = tuple(map(_described, self._tools, [context.space] * len(self._tools)))
        self._grounder = grounder
        self._screens: Mapping[str, Picture] = {}
        self.findings: list[Finding] = []

    def act(self, observation: Observation) -> Turn:
        """Return the model's actions, with coordinates of what it describes."""
        self._screens = pictures_of(observation, self._settings.image_scale)
        self.findings = []
        return super().act(observation)

    def _ask(self) -> Answer:
        answer = super()._ask()
        message = answer.reply.message
        calls = tuple(map(self._grounded, message.calls))
        reply = replace(answer.reply, message=replace(message, calls=calls))
        return Answer(reply, answer.outage_s)

    def _messages(self) -> tuple[Message, ...]:
        """Return the conversation in which the planner's calls are as it wrote them."""
        return tuple(
            replace(row, calls=tuple(map(self._ungrounded, row.calls))) if row.calls else row
            for row in super()._messages()
        )

    def _grounded(self, call: ToolCall) -> ToolCall:
        role, pairs = _points_of_call(self._space, call)
        screen = self._screens.get(role)
        try:
            args = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            return call
        if not pairs or screen is None or not isinstance(args, dict) or call.malformed:
            return call
        for (x, y), name in zip(pairs, _target_names(pairs), strict=True):
            target = args.get(name)
            if not isinstance(target, str) or not target.strip():
                return replace(call, malformed=prompts.NO_TARGET.format(name=name))
            finding = self._grounder.find(target, screen)
            self.findings.append(finding)
            if finding.point is None:
                why = prompts.NOT_FOUND.format(target=target[:200])
                return replace(call, malformed=why)
            args |= dict(zip((x, y), finding.point, strict=True))
            del args[name]
        return replace(
            call, arguments=json.dumps(args), opaque={**call.opaque, "written": call.arguments}
        )

    def _ungrounded(self, call: ToolCall) -> ToolCall:
        written = call.opaque.get("written")
        if not isinstance(written, str):
            return call
        opaque = {name: value for name, value in call.opaque.items() if name != "written"}
        return replace(call, arguments=written, opaque=opaque)


def planner_and_grounder(crew: Crew, observation: Observation) -> None:
    """Let the planner act, with the grounder's help."""
    seen, machines = observation, crew.machines
    context = part_of(crew.context, (*machines, SESSION), {})
    grounder = crew.create(GROUNDER, Grounder, part_of(crew.context, (), {}))

    def plan(context: AgentContext, settings: ModelSettings, calls: Calls) -> PlannerAgent:
        system = prompts.prompt_of("planner-grounder", PLANNER)
        return PlannerAgent(context, settings, system=system, calls=calls, grounder=grounder)

    planner = crew.create(PLANNER, plan, context)
    while True:
        said = crew.ask(PLANNER, seen)
        for finding in planner.findings:
            turn = Turn((), finding.usage, outage_s=finding.outage_s)
            place = None if finding.point is None else list(finding.point)
            about = {"target": finding.target, "point": place}
            said_by_it = Said(turn, (), skips=False)
            step = crew.consult(GROUNDER, said_by_it, about=about, seconds=finding.seconds)
            if step.done:
                return
        step = crew.act(PLANNER, said)
        if step.done:
            return
        seen = step.observation


def _point_in(reply: Reply, screen: Picture) -> tuple[int, int] | None:
    for call in reply.message.calls:
        try:
            args: Any = json.loads(call.arguments)
            point = args["x"], args["y"]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if all(
            isinstance(value, int | float) and 0 <= value < size
            for value, size in zip(point, screen.size_px, strict=True)
        ):
            return round(point[0]), round(point[1])
    return None


def _points_of_call(space: ActionSpace, call: ToolCall) -> tuple[str, tuple[tuple[str, str], ...]]:
    role, separator, do = call.name.partition(_SEPARATOR)
    tool = space.tools.get(role, {}).get(do) if separator else None
    return role, () if tool is None else points_of(tool)


def _target_names(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    names = ["target", *(f"target_{number}" for number in range(2, len(pairs) + 1))]
    return tuple(names[: len(pairs)])


def _described(tool: Tool, space: ActionSpace) -> Tool:
    """Return a tool that is told elements in place of coordinates."""
    role, _, do = tool.name.partition(_SEPARATOR)
    pairs = points_of(space.tools[role][do]) if do else ()
    if not pairs:
        return tool
    axes = {name for pair in pairs for name in pair}
    kept = {
        name: value
        for name, value in tool.parameters.get("properties", {}).items()
        if name not in axes
    }
    targets = _target_names(pairs)
    about = {"type": "string", "description": prompts.TARGET}
    required = [name for name in tool.parameters.get("required", ()) if name not in axes]
    parameters = {
        **tool.parameters,
        "properties": {**dict.fromkeys(targets, about), **kept},
        "required": [*targets, *required],
    }
    return replace(tool, parameters=parameters)
