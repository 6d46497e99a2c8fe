"""Drive an episode with a team of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.agents.agent_calls import drive_agents
from controller.agents.team.crew import Crew
from controller.agents.team.planner import planner_and_grounder
from controller.agents.team.single import single
from controller.agents.team.structures import by_environment, by_function
from foundation.errors import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.agents.agent_calls import AgentCalls
    from controller.episode.episode import Episode
    from controller.models.settings import ModelSettings
    from controller.observation.observer import Observation
    from controller.specification.team import Structure, TeamSpec

STRUCTURES: dict[Structure, Callable[[Crew, Observation], None]] = {
    "single": single,
    "by-function": by_function,
    "by-environment": by_environment,
    "planner-grounder": planner_and_grounder,
}
"""The turns of each structure."""


@dataclass(frozen=True, slots=True)
class TeamDriver:
    """Lets the members of a team act until the trial is over.

    Attributes:
        team: how they work together.
        models: settings of each member's model, by the member's name.
    """

    team: TeamSpec
    models: Mapping[str, ModelSettings]

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Create the members and ask them for turns until the trial is over.

        Raises:
            CancelledError: the trial was cancelled meanwhile.
            StoreError: the log cannot be written.
        """

        def act(calls: AgentCalls) -> None:
            try:
                crew = Crew(self.team, self.models, episode, calls)
                STRUCTURES[self.team.structure](crew, observation)
            except AgentError as exc:
                episode.fail(exc, member=calls.member)

        allowance_s = max(row.outage_s + row.timeout_s for row in self.models.values())
        drive_agents(episode, act, allowance_s=allowance_s, measures_outage=True)
