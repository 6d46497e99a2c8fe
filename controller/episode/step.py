"""The outcomes of an episode, and the context of a reference solution's player."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.episode.result import Reason
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext
    from evaluators.graph.feedback import Feedback
    from evaluators.graph.outcome import Verdict, WaveRunner
    from evaluators.model.task import Task
    from foundation.clock import Clock
    from provisioning.protocols import Machine


@dataclass(frozen=True, slots=True)
class Step:
    """The outcome of one turn.

    Attributes:
        observation: the agent's next observation; the last screenshots if the trial is over.
        newly_met: nodes of the graph met by the turn, in order.
        feedback: why an action was rejected; empty if none was.
        done: whether the trial is over.
        reason: why it is over; None if it continues.
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
        verdict: the verdict; INCONCLUSIVE if an evaluator could not decide.
        met: nodes with credit, in the task's order.
        nodes: number of nodes.
        unmet: why the other nodes have no credit, in the task's order.
    """

    verdict: Verdict
    met: tuple[str, ...]
    nodes: int
    unmet: tuple[Feedback, ...] = ()


@dataclass(frozen=True, slots=True)
class OracleContext:
    """The context of a reference solution's player; agents never receive it.

    Attributes:
        agent: the context that an agent would receive.
        task: the task with its reference solution.
        machines: machines by role, to read their trees.
        runners: runners of the task's evaluators by role, to wait for conditions.
        clock: waits.
    """

    agent: AgentContext
    task: Task
    machines: Mapping[str, Machine]
    runners: Mapping[str, WaveRunner]
    clock: Clock
