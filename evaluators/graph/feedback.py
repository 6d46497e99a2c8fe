"""Describe why nodes are not met, without revealing the answer.

The text comes from the task's author (``hint``) or from the first line of the evaluator's
docstring. It never contains arguments, which are often the answer, or the reasons of undecided
evaluators, which may quote content of the machine and are in the log. It contains ids of nodes.
People who read results also see the unmet checks with their arguments.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.graph.state import NodeState

if TYPE_CHECKING:
    from evaluators.catalogue import Tools
    from evaluators.graph.progress import Progress
    from evaluators.graph.start import StartProblem
    from evaluators.model.node import Check, Node
    from evaluators.model.task import Task

_OPENINGS = ("Return whether ", "Tell whether ")
_SHOWN_CHARS = 60
"""Maximum length of one argument in the feedback for people."""
_WITHOUT_FEEDBACK = {NodeState.MET, NodeState.KEPT}


@dataclass(frozen=True, slots=True)
class Feedback:
    """Why one node has no credit, is broken, or prevented the trial from starting.

    Attributes:
        node: its id.
        state: neither met nor kept, unless the node prevented the trial from starting.
        why: one or two sentences that an agent may read.
        checks: the unmet checks with their arguments; for people, never for agents.
    """

    node: str
    state: NodeState
    why: str
    checks: tuple[str, ...] = ()


def explain(
    graph: Progress, task: Task, evaluators: Tools, *, shows_checks: bool = False
) -> tuple[Feedback, ...]:
    """Return feedback for every node that is neither met nor kept, in the task's order.

    If the trial could not start, this includes the nodes that prevented it.

    Args:
        graph: graph of a trial of `task`.
        task: the task.
        evaluators: known evaluators by place and name; for others, the feedback has the name only.
        shows_checks: whether to include unmet checks; only for people.
    """
    feedback = []
    for node in task.graph:
        state = graph.state_of(node.id)
        problem = graph.at_start.get(node.id)
        if problem or state not in _WITHOUT_FEEDBACK:
            condition = node.hint or _condition_of(node, task, evaluators)
            if problem:
                why = _explain_start(problem, condition)
            else:
                why = _explain_state(state, condition, graph.waits_for(node.id))
            numbers = graph.unmet_checks(node.id) if shows_checks else ()
            checks = tuple(_shown(node.checks[number]) for number in numbers)
            feedback.append(Feedback(node.id, state, why, checks))
    return tuple(feedback)


def progress_lines(graph: Progress, task: Task, evaluators: Tools, detail: str) -> tuple[str, ...]:
    """Return the lines that describe an agent's progress to it.

    Args:
        graph: graph of a trial of `task`.
        task: the task.
        evaluators: evaluators by place and name.
        detail: ``none``; ``hints`` for the hints of active nodes; ``nodes`` for every node with its
            state and why it is unmet.
    """
    if detail == "hints":
        active = [node for node in task.graph if graph.state_of(node.id) is NodeState.ACTIVE]
        return tuple(node.hint for node in active if node.hint)
    if detail == "nodes":
        met = [f"{name}: met" for name in graph.met]
        return (*met, *(f"{row.node}: {row.why}" for row in explain(graph, task, evaluators)))
    return ()


def _explain_start(problem: StartProblem, condition: str) -> str:
    if problem.met is None:
        return f"Could not be checked before the start: {condition}"
    if problem.met:
        return f"Already satisfied before the agent started: {condition}"
    return f"Must stay satisfied, but was not satisfied before the start: {condition}"


def _explain_state(state: NodeState, condition: str, before: tuple[str, ...]) -> str:
    match state:
        case NodeState.WAITING:
            return f"Counts only after {', '.join(before)}. Then: {condition}"
        case NodeState.UNDONE:
            return f"No longer satisfied at the end: {condition}"
        case NodeState.BROKEN:
            return f"Had to stay satisfied, but was not at the end: {condition}"
        case NodeState.INCONCLUSIVE:
            return f"Could not be checked (not the agent's fault): {condition}"
        case _:
            return f"Not yet satisfied: {condition}"


def _shown(check: Check) -> str:
    """Return a check as ``cell_equals(on=desktop, path="~/a.ods", cell="B2")``, shortened."""
    arguments = [f"on={check.on}", *(f"{key}={_short(value)}" for key, value in check.args.items())]
    return f"{check.check}({', '.join(arguments)})"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"


def _condition_of(node: Node, task: Task, evaluators: Tools) -> str:
    own = " and ".join(_describe(check, task, evaluators) for check in node.together)
    others = [_describe(check, task, evaluators) for check in node.alternatives]
    return ", or ".join([own, *others]) + "."


def _describe(check: Check, task: Task, evaluators: Tools) -> str:
    tool = evaluators.get(task.place_of(check.on) or "", {}).get(check.check)
    line = "" if tool is None else tool.description.partition("\n")[0]
    for opening in _OPENINGS:
        line = line.removeprefix(opening)
    return f"{line.rstrip('.') or check.check} ({check.on})"
