"""A planner that names elements, and the turns of planner and grounder."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from controller.agents.model.display import pictures_of
from controller.agents.team import prompts
from controller.agents.team.crew import Said
from controller.agents.team.grounder import Grounder
from controller.agents.team.member import MemberAgent, part_of
from controller.models.endpoint import Answer
from controller.protocol import Turn
from controller.specification.team import GROUNDER, PLANNER
from evaluators.coordinates import points_of
from evaluators.strict import SESSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.actions.space import ActionSpace
    from controller.agents.team.crew import Crew
    from controller.agents.team.grounder import Finding
    from controller.models.messages import Message, Tool, ToolCall
    from controller.models.settings import ModelSettings
    from controller.observation.observer import Observation
    from controller.observation.pictures import Picture
    from controller.protocol import AgentContext
    from controller.specification.team import Calls

_SEPARATOR = "__"


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
            finding = self._grounder.find(target, screen, role)
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
    grounder = crew.create(GROUNDER, Grounder, part_of(crew.context, machines, {}))

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
