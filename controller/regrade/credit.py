"""What a trial's log proves: its ``once`` nodes happened, whatever the machines show later."""

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
    """Return the ``once`` nodes of a graph that a log says were met, in the task's order.

    Args:
        nodes: of the corrected task.
        logged: the last state of the graph in the log.
    """
    return tuple(node.id for node in nodes if node.mode is Mode.ONCE and _was_met(logged, node.id))


def restored_state(nodes: Sequence[Node], logged: GraphRecord) -> dict[str, Json]:
    """Return the state that a corrected graph begins from: what was met and may have been by now.

    Hold nodes that were met begin as met, too: finishing the graph checks each of them again. A
    node whose predecessors were not all met begins as unmet.

    Args:
        nodes: of the corrected task.
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
    """A `WaveRunner` that answers for credited nodes itself: they were met, nobody is asked.

    Args:
        runner: asked for all others.
        credited: ids of nodes.
    """

    def __init__(self, runner: WaveRunner, credited: Collection[str]) -> None:
        self._runner = runner
        self._credited = credited

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        """Run those of `calls` whose nodes have no credit, and return an outcome for each."""
        asked = [call for call in calls if call.node.partition("#")[0] not in self._credited]
        known = [Outcome(call.node, met=True) for call in calls if call not in asked]
        return [*known, *(self._runner.evaluate(asked, timeout_s=timeout_s) if asked else ())]


def with_credit(
    runners: Mapping[str, WaveRunner], credited: Collection[str]
) -> dict[str, WaveRunner]:
    """Return runners that do not ask about credited nodes."""
    return {role: CreditedRunner(runner, credited) for role, runner in runners.items()}


def _was_met(logged: GraphRecord, name: str) -> bool:
    return name in logged.nodes and logged.nodes[name].met_at_step is not None
