"""What the check before the agent's first action found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.graph.outcome import Cause, decisive_cause
from evaluators.model.node import Mode

if TYPE_CHECKING:
    from evaluators.graph.outcome import Outcome
    from evaluators.model.node import Node


@dataclass(frozen=True, slots=True)
class StartProblem:
    """Why a trial must not start.

    Attributes:
        node: id of the node concerned.
        met: whether the node is met; None when that could not be decided.
        cause: `TASK` when a node without predecessors is met already or a keep node is not met;
            otherwise why the node could not be decided.
        message: what is wrong, for logs and the trial's detail.
    """

    node: str
    met: bool | None
    cause: Cause
    message: str

    @classmethod
    def of(cls, node: Node, outcome: Outcome) -> StartProblem | None:
        """Return the problem with a node's outcome at the start; None when it is as it must be."""
        if outcome.met is None:
            message = f"{node.id} is undecided at the start: {outcome.reason}"
            return cls(node.id, None, outcome.cause or Cause.EVALUATOR, message)
        if node.mode is Mode.KEEP and not outcome.met:
            return cls(node.id, False, Cause.TASK, f"{node.id} must be met at the start and is not")
        if node.mode is not Mode.KEEP and outcome.met:
            return cls(node.id, True, Cause.TASK, f"{node.id} is met before the agent acts")
        return None


@dataclass(frozen=True, slots=True)
class StartReport:
    """What `GraphEvaluator.check_start` found.

    Attributes:
        problems: in the task's order.
    """

    problems: tuple[StartProblem, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether the trial may start."""
        return not self.problems

    @property
    def cause(self) -> Cause | None:
        """The cause that decides the trial's reason; None when the trial may start."""
        return decisive_cause(problem.cause for problem in self.problems)

    @property
    def detail(self) -> str:
        """All problems in one line; empty when the trial may start."""
        return "; ".join(problem.message for problem in self.problems)
