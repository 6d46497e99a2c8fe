"""What an agent is given and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.base.clock import Clock
    from controller.actions.space import Action, ActionSpace
    from controller.observation.observer import Observation
    from evaluators.graph.outcome import WaveRunner
    from evaluators.model.task import Task
    from provisioning.protocols import Machine


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a model, as its endpoint counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def to_dict(self) -> dict[str, int]:
        """Give it by direction, for logs and measures."""
        return {"prompt": self.prompt_tokens, "completion": self.completion_tokens}


@dataclass(frozen=True, slots=True)
class Turn:
    """What an agent wants done after one observation.

    Attributes:
        actions: in order; the rest is dropped when one is refused. None at all is an invalid
            action.
        usage: what it cost.
        note: the agent's own words, kept in the event log.
        fault: what was wrong with its reply, when there are no actions.
    """

    actions: tuple[Action, ...]
    usage: Usage = field(default_factory=Usage)
    note: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Seat:
    """What an agent is made from, for one trial.

    An honest agent uses the instruction and the action space only; the oracle also reads the
    machines' trees and runs the trial's own checks.

    Attributes:
        task: what is to be done.
        space: what can be done.
        machines: by role.
        runners: of the task's evaluators, by role.
        clock: to wait on.
        seed: of this trial, the same in each repeat of the same run's seed, task and number.
    """

    task: Task
    space: ActionSpace
    machines: Mapping[str, Machine]
    runners: Mapping[str, WaveRunner]
    clock: Clock
    seed: int


class Agent(Protocol):
    """Whoever chooses actions; made anew for each trial."""

    def act(self, observation: Observation) -> Turn:
        """Choose what to do next.

        Raises:
            AgentError: it cannot go on.
            ModelError: the endpoint of its model failed.
        """
        ...


class MakeAgent(Protocol):
    """Makes one agent a trial."""

    def __call__(self, seat: Seat) -> Agent:
        """Make it."""
        ...
