"""What an episode returns, and what the player of a reference solution is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.base.clock import Clock
    from controller.agents.protocol import AgentContext
    from controller.episode.result import Reason
    from controller.observation.observer import Observation
    from evaluators.graph.feedback import Feedback
    from evaluators.graph.outcome import Verdict, WaveRunner
    from evaluators.model.task import Task
    from provisioning.protocols import Machine


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one turn.

    Attributes:
        observation: what the agent is shown next; the last screenshots when the trial is over.
        newly_met: nodes of the graph met by it, in order.
        feedback: why an action was refused; empty when all went well.
        done: whether the trial is over.
        reason: why it is over; None when it goes on.
    """

    observation: Observation
    newly_met: tuple[str, ...] = ()
    feedback: str = ""
    done: bool = False
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How a trial would be judged if it ended now.

    Attributes:
        verdict: INCONCLUSIVE where an evaluator could not decide.
        met: nodes with credit, in the task's order.
        nodes: how many there are.
        unmet: why the others have none, in the task's order.
    """

    verdict: Verdict
    met: tuple[str, ...]
    nodes: int
    unmet: tuple[Feedback, ...] = ()


@dataclass(frozen=True, slots=True)
class OracleContext:
    """What the player of a reference solution is made from; agents never get one.

    Attributes:
        agent: what an agent would get.
        task: with its reference solution.
        machines: by role, to read their trees.
        runners: of the task's evaluators, by role, to wait for conditions.
        clock: to wait on.
    """

    agent: AgentContext
    task: Task
    machines: Mapping[str, Machine]
    runners: Mapping[str, WaveRunner]
    clock: Clock
