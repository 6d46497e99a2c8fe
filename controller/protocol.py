"""The interface of agents: their context and turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from controller.diary import Diary
from controller.models.usage import NO_USAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.actions.space import Action, ActionSpace
    from controller.models.usage import Usage
    from controller.observation.observer import Observation


@dataclass(frozen=True, slots=True)
class Turn:
    """An agent's response to one observation.

    Attributes:
        actions: actions in order; after a rejected one the rest is dropped. No actions at all count
            as an invalid action.
        usage: usage of the turn; `Usage()` if the model did not report it.
        note: the agent's own text, kept in the event log.
        fault: what was wrong with the agent's reply after these actions; once they are executed, it
            counts as a rejected action.
        outage_s: seconds spent waiting for a model that did not answer; they are not charged to
            the agent's time where the appliance has measured them.
    """

    actions: tuple[Action, ...]
    usage: Usage = NO_USAGE
    note: str = ""
    fault: str = ""
    outage_s: float = 0.0


@dataclass(frozen=True, slots=True)
class AgentContext:
    """Everything that an agent receives for one trial.

    It gives no access to machines, evaluators or the reference solution.

    Attributes:
        instruction: the task's instruction.
        space: the available actions.
        seed: seed of this trial, determined by the run's seed, task and repeat.
        environments: what each machine is, by role, if the run tells agents.
        diary: collects the agent's entries for the trial's log.
    """

    instruction: str
    space: ActionSpace
    seed: int
    environments: Mapping[str, str] = field(default_factory=dict)
    diary: Diary = field(default_factory=Diary, compare=False)


class Agent(Protocol):
    """Chooses actions; a new agent is created for each trial.

    If an agent has a method ``close``, it is called when the trial is over. A user's agent may also
    return an `Action`, a list of actions, or their form as dictionaries.
    """

    def act(self, observation: Observation) -> Turn:
        """Choose the next actions.

        Raises:
            AgentError: the agent cannot continue; any other exception counts as one.
            ModelRefusalError: its model refuses, or the request is too large for it.
            ModelUnavailableError: its model cannot be reached.
        """
        ...


@runtime_checkable
class OutageMeasured(Protocol):
    """An agent whose model's outages are measured while it acts."""

    def pending_outage_s(self) -> float:
        """Return the outage in the current turn, if the requests in progress remain unanswered."""
        ...


class MakeAgent(Protocol):
    """Creates the agent of one trial."""

    def __call__(self, context: AgentContext, /) -> Agent:
        """Create the agent."""
        ...
