"""A single agent as a team of one, whose calls may be JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.specification.agent import MEMBER
from evaluators.strict import SESSION

if TYPE_CHECKING:
    from controller.agents.team.crew import Crew
    from controller.observation.observer import Observation


def single(crew: Crew, observation: Observation) -> None:
    """Let one agent see all machines and act on them."""
    crew.join(MEMBER, sees=crew.machines, acts=(*crew.machines, SESSION))
    seen = observation
    while True:
        step = crew.act(MEMBER, crew.ask(MEMBER, seen))
        if step.done:
            return
        seen = step.observation
