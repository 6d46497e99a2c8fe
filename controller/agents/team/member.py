"""A member of a team: a model with a part of the actions and of what there is to see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from controller.agents.model.agent import ModelAgent
from controller.models.calls_as_json import JsonEndpoint

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from controller.models.settings import ModelSettings
    from controller.observation.observer import Observation
    from controller.observation.results import ActionResult
    from controller.protocol import AgentContext
    from controller.specification.team import Calls
    from evaluators.schema import Tool


T = TypeVar("T")


class MemberAgent(ModelAgent):
    """A model that plays one member.

    Args:
        context: context of the trial; its space has the member's actions.
        settings: settings of its model.
        system: its system prompt.
        calls: how it calls actions.
    """

    def __init__(
        self, context: AgentContext, settings: ModelSettings, *, system: str, calls: Calls
    ) -> None:
        super().__init__(context, settings, system=system)
        if calls == "json":
            self._endpoint = JsonEndpoint(self._endpoint)


def part_of(
    context: AgentContext, roles: Collection[str], more: Mapping[str, Mapping[str, Tool]]
) -> AgentContext:
    """Return the context of a member.

    Args:
        context: context of the trial.
        roles: the roles, and ``session``, whose actions it has.
        more: further actions, by role and name.
    """
    tools = {role: dict(context.space.tools[role]) for role in roles if role in context.space.tools}
    for role, named in more.items():
        tools[role] = {**tools.get(role, {}), **named}
    diary = type(context.diary)()
    return replace(context, space=context.space.with_tools(tools), diary=diary)


def seen_by(
    observation: Observation,
    roles: Collection[str],
    *,
    step: int,
    feedback: str,
    lines: tuple[str, ...],
    results: tuple[ActionResult, ...] = (),
) -> Observation:
    """Return what a member sees of an observation.

    Args:
        observation: of all machines.
        roles: roles of the machines that it sees.
        step: number of its own calls that were carried out.
        feedback: feedback on its own last turn.
        lines: what other members tell it and did.
        results: what its own actions returned.
    """

    def part(of: Mapping[str, T]) -> dict[str, T]:
        return {role: value for role, value in of.items() if role in roles}

    return replace(
        observation,
        step=step,
        shots=part(observation.shots),
        trees=part(observation.trees),
        marks=part(observation.marks),
        pictures=part(observation.pictures),
        previous=part(observation.previous),
        texts=part(observation.texts),
        tree_faults=part(observation.tree_faults),
        clips=part(observation.clips),
        found=part(observation.found),
        results=results,
        feedback=feedback,
        progress=lines,
    )
