"""Credit from a log that counts for a corrected graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.regrade.credit import credited_nodes, restored_state, with_credit
from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.outcome import Call, Outcome, Verdict
from evaluators.graph.state import GraphRecord
from tests.unit.controller.bench import make_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluators.model.node import Node


class Answers:
    """Answers by node, and records the evaluated nodes."""

    def __init__(self, **met: bool) -> None:
        self._met = met
        self.asked: list[str] = []

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> list[Outcome]:
        del timeout_s
        self.asked += [call.node for call in calls]
        return [Outcome(call.node, self._met[call.node]) for call in calls]


def graph(*nodes: dict[str, object]) -> tuple[Node, ...]:
    rows = [
        {"on": "desktop", "check": "path_exists", "with": {"path": "x"}, **row} for row in nodes
    ]
    return tuple(make_task(graph=rows).graph)


def logged(nodes: tuple[Node, ...], **met_at: int) -> GraphRecord:
    """Return the state of a graph whose nodes were met at these steps."""
    rows = {
        node.id: {
            "state": "met" if node.id in met_at else "active",
            "met_at_step": met_at.get(node.id),
            "reason": "",
        }
        for node in nodes
    }
    return GraphRecord.model_validate({"steps": 3, "finished": True, "nodes": rows})


def judged(nodes: tuple[Node, ...], log: GraphRecord, answers: Answers) -> GraphEvaluator:
    runners = with_credit({"desktop": answers}, credited_nodes(nodes, log))
    again = GraphEvaluator.from_dict(nodes, runners, restored_state(nodes, log))
    again.finish()
    return again


def test_once_credit_is_kept_and_states_are_evaluated_again() -> None:
    nodes = graph({"id": "opened", "mode": "once"}, {"id": "held"}, {"id": "later"})
    answers = Answers(held=False, later=True)
    again = judged(nodes, logged(nodes, opened=1, held=2), answers)
    assert again.met == ("opened", "later")
    assert again.verdict() is Verdict.FAIL
    assert sorted(answers.asked) == ["held", "later"]


def test_credit_waits_for_a_predecessor_added_by_the_correction() -> None:
    then = graph({"id": "opened", "mode": "once"})
    now = graph({"id": "first"}, {"id": "opened", "mode": "once", "after": ["first"]})
    log = logged(then, opened=1)
    assert judged(now, log, Answers(first=True)).verdict() is Verdict.PASS
    unmet = judged(now, log, Answers(first=False))
    assert (unmet.met, unmet.verdict()) == ((), Verdict.FAIL)


def test_once_node_without_credit_is_checked_in_the_end_state() -> None:
    nodes = graph({"id": "opened", "mode": "once"}, {"id": "whole", "mode": "keep"})
    log = logged(graph({"id": "other"}), other=1)
    answers = Answers(opened=True, whole=True)
    assert judged(nodes, log, answers).verdict() is Verdict.PASS
    assert sorted(answers.asked) == ["opened", "whole"]
    assert judged(nodes, log, Answers(opened=True, whole=False)).verdict() is Verdict.FAIL
