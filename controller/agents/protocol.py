"""What an agent is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from controller.agents.diary import Diary

if TYPE_CHECKING:
    from controller.actions.space import Action, ActionSpace
    from controller.observation.observer import Observation


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model cost, as its endpoint counted it.

    Attributes:
        prompt_tokens: tokens sent.
        completion_tokens: tokens received.
        usd: price in US dollars; 0 where the prices are not known.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0

    @property
    def total(self) -> int:
        """Tokens in both directions."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.usd + other.usd,
        )

    def to_dict(self) -> dict[str, int]:
        """Return tokens by direction, for logs and metrics."""
        return {"prompt": self.prompt_tokens, "completion": self.completion_tokens}


@dataclass(frozen=True, slots=True)
class Turn:
    """What an agent wants done after one observation.

    Attributes:
        actions: in order; the rest is dropped when one is refused. None at all is an invalid
            action.
        usage: what the turn cost.
        note: the agent's own text, kept in the event log.
        fault: what was wrong with the agent's reply after these actions; it counts as an action
            that was refused, once they are carried out.
        outage_s: seconds spent waiting for a model that did not answer; they are not charged to
            the agent's time.
    """

    actions: tuple[Action, ...]
    usage: Usage = field(default_factory=Usage)
    note: str = ""
    fault: str = ""
    outage_s: float = 0.0


@dataclass(frozen=True, slots=True)
class AgentContext:
    """All that an agent is made from, for one trial.

    It leads neither to machines nor to evaluators nor to the reference solution.

    Attributes:
        instruction: what is to be done.
        space: the actions that can be chosen.
        seed: of this trial; the same run seed, task and repeat have the same one.
        diary: takes what the trial's log shall hold of the agent.
    """

    instruction: str
    space: ActionSpace
    seed: int
    diary: Diary = field(default_factory=Diary, compare=False)


class Agent(Protocol):
    """Whoever chooses actions; made anew for each trial.

    One that has a method ``close`` is closed when its trial is over. What an agent of the user
    returns may also be an `Action`, a list of them, or the same as dictionaries.
    """

    def act(self, observation: Observation) -> Turn:
        """Choose what to do next.

        Raises:
            AgentError: it cannot go on; any other exception counts as one.
            ModelRefusalError: its model refuses, or the request is too large for it.
            ModelUnavailableError: its model cannot be reached.
        """
        ...


class MakeAgent(Protocol):
    """Makes the agent of one trial."""

    def __call__(self, context: AgentContext, /) -> Agent:
        """Make it."""
        ...
