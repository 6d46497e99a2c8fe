"""Drive an episode with an agent, which only receives an `AgentContext`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.agents.agent_calls import drive_agents

if TYPE_CHECKING:
    from controller.agents.agent_calls import AgentCalls
    from controller.episode.episode import Episode
    from controller.observation.observer import Observation
    from controller.protocol import MakeAgent


@dataclass(frozen=True, slots=True)
class AgentDriver:
    """Lets an agent act until the trial is over.

    The agent runs in its own thread, so that a call that never returns cannot bypass the trial's
    limits: it is abandoned, and the trial ends.

    Attributes:
        make_agent: creates the agent of a trial.
        allowance_s: how much longer than the agent's own time a call may take, for outages of its
            model.
        measures_outage: whether the outages that agents report were measured by the appliance.
            Others are logged and charged: an agent must not be its own clock.
    """

    make_agent: MakeAgent
    allowance_s: float = 0.0
    measures_outage: bool = False

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Create the agent and request turns until the trial is over.

        Raises:
            AgentError: the agent cannot continue, or its code raised an exception.
            CancelledError: the trial was cancelled meanwhile.
            StoreError: the log cannot be written.
        """

        def act(calls: AgentCalls) -> None:
            context, seen = episode.agent_context(), observation
            agent = calls.create(self.make_agent, context)
            while True:
                step = episode.step(calls.turn(agent, seen, context.diary))
                if step.done:
                    return
                seen = step.observation

        drive_agents(
            episode, act, allowance_s=self.allowance_s, measures_outage=self.measures_outage
        )
