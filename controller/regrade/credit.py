"""Credit from a trial's log: ``once`` nodes that were met, regardless of the end state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.graph.outcome import Outcome
from evaluators.graph.state import GraphRecord, NodeRecord, NodeState
from evaluators.model.node import Mode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evaluators.graph.outcome import Call, WaveRunner
    from evaluators.model.node import Node
    from provisioning.protocols import Json


def credited_nodes(nodes: Sequence[Node], logged: GraphRecord) -> tuple[str, ...]:
    """Return the ``once`` nodes of a graph that were met according to a log, in the task's order.

    Args:
        nodes: nodes of the corrected task.
        logged: the last state of the graph in the log.
    """
    return tuple(node.id for node in nodes if node.mode is Mode.ONCE and _was_met(logged, node.id))


def restored_state(nodes: Sequence[Node], logged: GraphRecord) -> dict[str, Json]:
    """Return the initial state of a corrected graph, with the nodes that were met before.

    Hold nodes that were met start as met, too: finishing the graph checks each of them again. A
    node whose predecessors were not all met starts as unmet.

    Args:
        nodes: nodes of the corrected task.
        logged: the last state of the graph in the log.
    """
    met = {node.id for node in nodes if node.mode is not Mode.KEEP and _was_met(logged, node.id)}
    while early := {node.id for node in nodes if node.id in met and not met.issuperset(node.after)}:
        met -= early
    record = GraphRecord(
        steps=logged.steps,
        finished=False,
        nodes={
            node.id: NodeRecord(
                state=NodeState.MET if node.id in met else NodeState.WAITING,
                met_at_step=logged.nodes[node.id].met_at_step if node.id in met else None,
                reason="",
            )
            for node in nodes
        },
    )
    return record.model_dump(mode="json")


class CreditedRunner:
    """A `WaveRunner` that reports credited nodes as met without evaluating them.

    Args:
        runner: evaluates all other nodes.
        credited: ids of the credited nodes.
    """

    def __init__(self, runner: WaveRunner, credited: Collection[str]) -> None:
        self._runner = runner
        self._credited = credited

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        """Evaluate the calls of nodes without credit, and return an outcome for each call."""
        open_ = [call for call in calls if call.node.partition("#")[0] not in self._credited]
        known = [Outcome(call.node, met=True) for call in calls if call not in open_]
        return [*known, *(self._runner.evaluate(open_, timeout_s=timeout_s) if open_ else ())]


def with_credit(
    runners: Mapping[str, WaveRunner], credited: Collection[str]
) -> dict[str, WaveRunner]:
    """Wrap runners so that they do not evaluate credited nodes."""
    return {role: CreditedRunner(runner, credited) for role, runner in runners.items()}


def _was_met(logged: GraphRecord, name: str) -> bool:
    return name in logged.nodes and logged.nodes[name].met_at_step is not None
