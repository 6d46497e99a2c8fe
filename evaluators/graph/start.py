"""Results of the check before the agent's first action."""

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
        node: id of the node.
        met: whether the node is met; None if undecided.
        cause: `TASK` if a node without predecessors is already met or a keep node is not met;
            otherwise why the node could not be decided.
        message: description of the problem, for logs and the trial's detail.
    """

    node: str
    met: bool | None
    cause: Cause
    message: str

    @classmethod
    def of(cls, node: Node, outcome: Outcome) -> StartProblem | None:
        """Return the problem with a node's outcome at the start; None if there is none."""
        if outcome.met is None:
            message = f"{node.id} is undecided at the start: {outcome.reason}"
            return cls(node.id, None, outcome.cause or Cause.EVALUATOR, message)
        if node.mode is Mode.KEEP and not outcome.met:
            return cls(
                node.id, False, Cause.TASK, f"{node.id} must be met at the start, but is not"
            )
        if node.mode is not Mode.KEEP and outcome.met:
            return cls(node.id, True, Cause.TASK, f"{node.id} is met before the agent acts")
        return None


@dataclass(frozen=True, slots=True)
class StartReport:
    """Result of `GraphEvaluator.check_start`.

    Attributes:
        problems: problems in the task's order.
    """

    problems: tuple[StartProblem, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether the trial may start."""
        return not self.problems

    @property
    def cause(self) -> Cause | None:
        """The cause to report for the trial; None if the trial may start."""
        return decisive_cause(problem.cause for problem in self.problems)

    @property
    def detail(self) -> str:
        """All problems in one line; empty if the trial may start."""
        return "; ".join(problem.message for problem in self.problems)
