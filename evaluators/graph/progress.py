"""Progress of the graph of one trial: which nodes are met, undone, broken or undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evaluators.graph.outcome import Cause, Outcome, Verdict, decisive_cause
from evaluators.graph.state import GraphRecord, NodeState
from evaluators.model.dag import build_graph
from evaluators.model.node import Mode
from foundation.errors import GraphError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evaluators.graph.start import StartProblem
    from evaluators.model.node import Node
    from provisioning.protocols import Json


class Progress:
    """The state of a trial's graph, without access to machines.

    `GraphEvaluator` advances it; it can also be restored from a log.

    Args:
        nodes: nodes of the task.

    Attributes:
        ended: reason by role, for machines that the agent stopped.
        hindered: reason by role, for machines where the agent blocks evaluators.
        at_start: for each node, why the trial must not start; not logged.

    Raises:
        GraphError: see `build_graph`.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        graph = build_graph(nodes)
        self._nodes = {node.id: node for node in nodes}
        self._rank = {name: rank for rank, name in enumerate(self._nodes)}
        self._keeps = [node.id for node in nodes if node.mode is Mode.KEEP]
        self._successors = {name: tuple(graph.successors(name)) for name in self._nodes}
        self._missing = dict(graph.in_degree)
        """Number of unmet predecessors, by node."""
        sources = {name for name, missing in self._missing.items() if not missing}
        self._active = sources.difference(self._keeps)
        self._met_at: dict[str, int] = {}
        self._lost: dict[str, str] = {}
        """Undone hold nodes and broken keep nodes, with the reason if they cannot be verified."""
        self._troubles: dict[str, Outcome] = {}
        self._unmet: dict[str, tuple[int, ...]] = {}
        """Numbers of the checks that were unmet when their node was last evaluated."""
        self._steps = 0
        self._is_finished = False
        self.ended: dict[str, str] = {}
        self.hindered: dict[str, str] = {}
        self.at_start: dict[str, StartProblem] = {}

    @property
    def nodes(self) -> tuple[str, ...]:
        """Ids of all nodes, in the task's order."""
        return tuple(self._nodes)

    @property
    def met(self) -> tuple[str, ...]:
        """Ids of the nodes that currently have credit, in the task's order."""
        return tuple(name for name in self._nodes if self._state_of(name) is NodeState.MET)

    @property
    def is_complete(self) -> bool:
        """Whether every node that earns credit is met and none is undone, broken or undecided."""
        earning = len(self._nodes) - len(self._keeps)
        return len(self._met_at) == earning and not self._lost and not self._troubles

    @property
    def inconclusive(self) -> Mapping[str, str]:
        """Reason for each node whose last evaluation could not decide."""
        return {name: self._troubles[name].reason for name in self.in_order(self._troubles)}

    @property
    def obstructed(self) -> tuple[str, ...]:
        """Ids of the undecided nodes whose evaluators were blocked."""
        return tuple(
            name
            for name in self.in_order(self._troubles)
            if self._troubles[name].cause is Cause.OBSTRUCTION
        )

    @property
    def cause(self) -> Cause | None:
        """The cause to report for the verdict INCONCLUSIVE; None if no node is inconclusive."""
        causes = (outcome.cause or Cause.EVALUATOR for outcome in self._troubles.values())
        return decisive_cause(causes)

    @property
    def broken(self) -> tuple[str, ...]:
        """Ids of the keep nodes that are not met at the end, in the task's order."""
        return tuple(name for name in self._keeps if name in self._lost)

    def state_of(self, name: str) -> NodeState:
        """Return the state of a node.

        Raises:
            UnknownNameError: there is no such node.
        """
        if name not in self._nodes:
            raise UnknownNameError.of("node", name, self._nodes)
        return self._state_of(name)

    def _state_of(self, name: str) -> NodeState:
        if name in self._met_at and name not in self._lost and name not in self._troubles:
            return NodeState.MET
        if name in self._troubles:
            return NodeState.INCONCLUSIVE
        is_keep = self._nodes[name].mode is Mode.KEEP
        if name in self._lost:
            return NodeState.BROKEN if is_keep else NodeState.UNDONE
        if is_keep:
            return NodeState.KEPT
        return NodeState.ACTIVE if name in self._active else NodeState.WAITING

    def waits_for(self, name: str) -> tuple[str, ...]:
        """Return the unmet predecessors of a node, in the task's order.

        Raises:
            UnknownNameError: there is no such node.
        """
        if name not in self._nodes:
            raise UnknownNameError.of("node", name, self._nodes)
        return tuple(before for before in self._nodes[name].after if before not in self._met_at)

    def unmet_checks(self, name: str) -> tuple[int, ...]:
        """Return the numbers of the checks that were unmet when a node was last evaluated.

        Empty if the node is met, or was not evaluated since the graph was created or restored.
        """
        return self._unmet.get(name, ())

    def verdict(self) -> Verdict:
        """Return the verdict for the current state; it is final after `finish`."""
        if self.broken:
            return Verdict.FAIL
        if self.is_complete:
            return Verdict.PASS
        return Verdict.INCONCLUSIVE if self._troubles else Verdict.FAIL

    def to_dict(self) -> dict[str, Json]:
        """Return the state as JSON, for the event log and for `restore`."""
        return {
            "steps": self._steps,
            "finished": self._is_finished,
            "nodes": {name: self._record_of(name) for name in self._nodes},
            "ended": dict(self.ended),
            "hindered": dict(self.hindered),
        }

    def restore(self, state: Mapping[str, Json]) -> None:
        """Continue from the result of `to_dict`; only for a graph without any steps.

        Raises:
            GraphError: the state does not belong to this graph.
        """
        try:
            record = GraphRecord.model_validate(state)
        except ValidationError as exc:
            raise GraphError(
                "The saved state is not a state of a graph.", details=str(exc)
            ) from exc
        if set(record.nodes) != set(self._nodes):
            raise GraphError(
                "The saved state belongs to another graph.",
                details=f"It has the nodes {', '.join(record.nodes)}.",
            )
        self._steps = record.steps
        self._is_finished = record.finished
        self.ended.update(record.ended)
        self.hindered.update(record.hindered)
        self._restore_nodes(record)

    def restore_last(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Continue from the last state in a trial's log, if there is one.

        Args:
            events: rows of the log, oldest first; only those with a ``graph`` are used.

        Raises:
            GraphError: the state does not belong to this graph.
        """
        states = [event["graph"] for event in events if isinstance(event.get("graph"), dict)]
        if states:
            self.restore(states[-1])

    def _record_of(self, name: str) -> dict[str, Json]:
        """Return a `NodeRecord` as JSON; built directly because each step logs every node."""
        trouble = self._troubles.get(name)
        return {
            "state": self._state_of(name).value,
            "met_at_step": self._met_at.get(name),
            "reason": trouble.reason if trouble else self._lost.get(name, ""),
            "cause": trouble.cause.value if trouble and trouble.cause else None,
        }

    def _restore_nodes(self, record: GraphRecord) -> None:
        for name in self.in_order(record.nodes):
            node = record.nodes[name]
            if node.met_at_step is not None:
                self._met_at[name] = node.met_at_step
            if node.state in {NodeState.UNDONE, NodeState.BROKEN}:
                self._lost[name] = node.reason
            if node.state is NodeState.INCONCLUSIVE:
                self._troubles[name] = Outcome(name, None, node.reason, node.cause)
        for name in self._met_at:
            if any(before not in self._met_at for before in self._nodes[name].after):
                raise GraphError(
                    "The saved state is not possible for this graph.",
                    details=f"Node {name!r} is met, but not all of its predecessors are.",
                )
            self._latch(name)

    def _latch(self, name: str) -> None:
        """Remove a met node from the active ones and activate nodes that waited only for it."""
        self._active.discard(name)
        for after in self._successors[name]:
            self._missing[after] -= 1
            if not self._missing[after] and after not in self._met_at:
                self._active.add(after)

    def take(self, outcomes: Iterable[Outcome]) -> list[str]:
        """Apply the outcomes of a wave and return the newly met nodes."""
        fresh = []
        for outcome in outcomes:
            self._troubles.pop(outcome.node, None)
            self.note(outcome)
            if outcome.met is None:
                self._troubles[outcome.node] = outcome
            elif outcome.met:
                self._met_at[outcome.node] = self._steps
                self._latch(outcome.node)
                fresh.append(outcome.node)
        return fresh

    def note(self, outcome: Outcome) -> None:
        """Record which checks of a node were unmet."""
        self._unmet[outcome.node] = outcome.checks

    def in_order(self, names: Collection[str]) -> list[str]:
        """Return nodes in the task's order."""
        return sorted(names, key=self._rank.__getitem__)
