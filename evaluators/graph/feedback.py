"""Say in words why nodes are not met, without giving the answer away.

What is said comes from the task's author (``hint``) or from the first line of the evaluator's
docstring. Arguments are never shown: they are the answer as often as not. Nor are the reasons of
undecided evaluators, which may quote what stands on the machine; those are in the log. Ids of
nodes are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.graph.evaluator import NodeState

if TYPE_CHECKING:
    from evaluators.catalogue import Tools
    from evaluators.graph.evaluator import GraphEvaluator
    from evaluators.model.node import Check, Node
    from evaluators.model.task import Task

_OPENING = "Tell whether "


@dataclass(frozen=True, slots=True)
class Feedback:
    """Why one node has no credit.

    Attributes:
        node: its id.
        state: where it stands; never met.
        why: one or two sentences, fit for an agent's eyes.
    """

    node: str
    state: NodeState
    why: str


def explain(graph: GraphEvaluator, task: Task, evaluators: Tools) -> tuple[Feedback, ...]:
    """Give the feedback for every node without credit, in the task's order.

    Args:
        graph: of a trial at `task`.
        task: what was to be done.
        evaluators: by place and name; one that is not among them is not described.
    """
    found = []
    for node in task.graph:
        state = graph.state_of(node.id)
        if state is not NodeState.MET:
            asked = node.hint or _asked(node, task, evaluators)
            found.append(Feedback(node.id, state, _why(state, asked, graph.waits_for(node.id))))
    return tuple(found)


def _why(state: NodeState, asked: str, before: tuple[str, ...]) -> str:
    match state:
        case NodeState.WAITING:
            return f"Counts only after {', '.join(before)}. Then: {asked}"
        case NodeState.UNDONE:
            return f"It was so, and no longer is at the end: {asked}"
        case NodeState.INCONCLUSIVE:
            return f"It could not be looked at, which is no fault of the agent: {asked}"
        case _:
            return f"Not so yet: {asked}"


def _asked(node: Node, task: Task, evaluators: Tools) -> str:
    return ", or ".join(_described(check, task, evaluators) for check in node.checks) + "."


def _described(check: Check, task: Task, evaluators: Tools) -> str:
    tool = evaluators.get(task.place_of(check.on) or "", {}).get(check.check)
    line = "" if tool is None else tool.description.partition("\n")[0]
    words = line.removeprefix(_OPENING).rstrip(".") or check.check
    return f"{words} ({check.on})"
