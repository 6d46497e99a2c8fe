"""Judge a trial by a directed acyclic graph of evaluators.

What exactly is meant (every corner is pinned by a property test against a slow reference):

* **Shape.** Any number of sources, of sinks, of ways through a node. A node is **active** when all
  nodes of its ``after`` are met and itself is not. Only active nodes are evaluated.
* **Alternatives.** A node with several checks (``or``) is met when any of them is, on whichever
  role. None met and one undecided: inconclusive. A hold node may be held by another of its checks
  than the one that met it.
* **Step.** One `step` runs waves: all active nodes of one role go to that role's runner in one
  round trip, the roles side by side; nodes that this makes active form the next wave. No node is
  evaluated twice in a step, so the waves end; their number is at most the depth of the graph.
* **once** nodes latch. **hold** nodes latch during the trial too, and are all evaluated once more
  by `finish`: one that is no longer so is *undone* and loses its credit. What happens between
  (undone and done again) does not count. What the last step itself has met is not checked again.
* **Descendants of an undone node keep their credit**: ``after`` says when a node begins to count,
  not that it must stay so. A descendant that is a state is a hold node and was itself checked
  again. The verdict is FAIL anyway, as not every node is met.
* **Inconclusive.** An evaluator that raises, gives no bool, misses its deadline, or whose machine
  is lost makes its node inconclusive with the reason, never unmet. It stays active and is asked
  again by the next step; only the last word counts. The same goes for a hold node that cannot be
  checked again: it has no credit. Nodes of other machines go on as if nothing had been.
* **Verdict.** PASS if every node is met. Else INCONCLUSIVE if any node is inconclusive, even when
  another is known to be unmet (the trouble may have kept the agent from meeting it). Else FAIL.
* **At the start** nothing may be met. `check_start` evaluates *every* node, active or not, and
  gives what is met already; the trial must then not be run. Nothing latches. A node that is so at
  the start and that the first `step` finds active is met by that step like any other.
* **The same evaluator** may stand in several nodes, with the same or other arguments; each node is
  evaluated for itself and nothing is shared between them.
* **Evaluators that act** are wrong: they must only read. Should one act all the same: the calls of
  a role are made in the task's order, a later call or wave sees what it did, and a hold node
  stands as it is found at the end.
* **Going on after a crash.** `to_dict` is the whole state; `from_events` takes the last one that
  stands in a log. Steps that were not logged have never been.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.errors import GraphError, UnknownNameError
from evaluators.graph.outcome import Verdict
from evaluators.graph.waves import Waves
from evaluators.model.dag import build_graph
from evaluators.model.node import Mode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evaluators.graph.outcome import Outcome, WaveRunner
    from evaluators.model.node import Node
    from provisioning.protocols import Json

WAVE_TIMEOUT_S = 30.0


class NodeState(StrEnum):
    """Where a node stands."""

    WAITING = "waiting"
    """Some predecessor is not met."""
    ACTIVE = "active"
    """Not met when last evaluated, or not evaluated yet."""
    MET = "met"
    UNDONE = "undone"
    """A hold node that was met and no longer is at the end."""
    INCONCLUSIVE = "inconclusive"
    """Its evaluator could not decide when last asked."""


class _NodeRecord(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: NodeState
    met_at_step: int | None
    reason: str


class _GraphRecord(BaseModel):
    model_config = ConfigDict(extra="forbid")

    steps: int
    finished: bool
    nodes: dict[str, _NodeRecord]


@dataclass(frozen=True, slots=True)
class StartReport:
    """What `GraphEvaluator.check_start` found.

    Attributes:
        met: nodes that are met although nothing was done.
        inconclusive: reason by node, for those that could not be decided.
    """

    met: tuple[str, ...]
    inconclusive: Mapping[str, str]

    @property
    def is_clean(self) -> bool:
        """Tell whether every node was found unmet."""
        return not self.met and not self.inconclusive


class GraphEvaluator:
    """The graph of one trial and how far it is met; see the module for what exactly is meant.

    Not safe among threads: it belongs to the thread of its trial, and runners are called from
    that thread and from others, never two at a time on one role.

    Args:
        nodes: of the task.
        runners: by role, every role that a node or an alternative is ``on``.
        wave_timeout_s: bound of one round trip.

    Raises:
        GraphError: see `build_graph`; or a role without a runner.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        runners: Mapping[str, WaveRunner],
        *,
        wave_timeout_s: float = WAVE_TIMEOUT_S,
    ) -> None:
        graph = build_graph(nodes)
        self._nodes = {node.id: node for node in nodes}
        self._rank = {name: rank for rank, name in enumerate(self._nodes)}
        for node in nodes:
            for check in node.checks:
                if check.on not in runners:
                    raise GraphError(f"Node {node.id!r} is on {check.on!r}, which has no runner.")
        self._successors = {name: tuple(graph.successors(name)) for name in self._nodes}
        self._missing = dict(graph.in_degree)
        """How many predecessors are not met, by node."""
        self._active = {name for name, missing in self._missing.items() if not missing}
        self._waves = Waves(nodes, runners, timeout_s=wave_timeout_s)
        self._met_at: dict[str, int] = {}
        self._undone: set[str] = set()
        self._troubles: dict[str, str] = {}
        self._steps = 0
        self._is_finished = False

    @property
    def round_trips(self) -> Mapping[str, int]:
        """How many round trips there were, by role."""
        return self._waves.round_trips

    @property
    def evaluations(self) -> int:
        """How many checks were run in all."""
        return self._waves.evaluations

    def check_start(self) -> StartReport:
        """Evaluate every node, whether active or not, before the agent acts; nothing latches."""
        outcomes = self._waves.run(self.nodes)
        return StartReport(
            met=tuple(outcome.node for outcome in outcomes if outcome.met is True),
            inconclusive={
                outcome.node: outcome.reason for outcome in outcomes if outcome.met is None
            },
        )

    def step(self) -> tuple[str, ...]:
        """Evaluate what is active, wave after wave, and give the nodes newly met, in order.

        Raises:
            GraphError: the graph was finished before.
        """
        if self._is_finished:
            raise GraphError("The graph was finished; no further step is possible.")
        self._steps += 1
        newly: list[str] = []
        wave = self._in_order(self._active)
        while wave:
            fresh = self._take(self._waves.run(wave))
            newly += fresh
            reached = {after for name in fresh for after in self._successors[name]}
            wave = self._in_order(reached & self._active)
        return tuple(newly)

    def finish(self) -> tuple[str, ...]:
        """Take a last step, check the hold nodes again, and give those undone.

        Nodes met by that last step have just been seen and are not checked twice. A second call
        does nothing and gives the same.
        """
        if not self._is_finished:
            held = [name for name in self._met_at if self._nodes[name].mode is Mode.HOLD]
            self.step()
            self._is_finished = True
            for outcome in self._waves.run(self._in_order(held)):
                if outcome.met is False:
                    self._undone.add(outcome.node)
                elif outcome.met is None:
                    self._troubles[outcome.node] = outcome.reason
        return tuple(self._in_order(self._undone))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Ids of all nodes, in the task's order."""
        return tuple(self._nodes)

    @property
    def met(self) -> tuple[str, ...]:
        """Ids of the nodes that have credit now, in the task's order."""
        return tuple(name for name in self._nodes if self.state_of(name) is NodeState.MET)

    @property
    def is_complete(self) -> bool:
        """Tell whether every node is met."""
        return len(self._met_at) == len(self._nodes) and not self._undone and not self._troubles

    @property
    def inconclusive(self) -> Mapping[str, str]:
        """Reasons, by node, of those whose last evaluation could not decide."""
        return {name: self._troubles[name] for name in self._in_order(self._troubles)}

    def state_of(self, name: str) -> NodeState:
        """Tell where a node stands.

        Raises:
            UnknownNameError: there is no such node.
        """
        if name not in self._nodes:
            raise UnknownNameError.of("node", name, self._nodes)
        if name in self._troubles:
            return NodeState.INCONCLUSIVE
        if name in self._undone:
            return NodeState.UNDONE
        if name in self._met_at:
            return NodeState.MET
        return NodeState.ACTIVE if name in self._active else NodeState.WAITING

    def waits_for(self, name: str) -> tuple[str, ...]:
        """Give the unmet nodes that a node comes after, in the task's order.

        Raises:
            UnknownNameError: there is no such node.
        """
        if name not in self._nodes:
            raise UnknownNameError.of("node", name, self._nodes)
        return tuple(one for one in self._nodes[name].after if one not in self._met_at)

    def verdict(self) -> Verdict:
        """Judge the state of now; it is final once `finish` was called."""
        if self.is_complete:
            return Verdict.PASS
        return Verdict.INCONCLUSIVE if self._troubles else Verdict.FAIL

    def to_dict(self) -> dict[str, Json]:
        """Give the whole state as JSON, for the event log and for `from_dict`."""
        records = {
            name: _NodeRecord(
                state=self.state_of(name),
                met_at_step=self._met_at.get(name),
                reason=self._troubles.get(name, ""),
            )
            for name in self._nodes
        }
        state = _GraphRecord(steps=self._steps, finished=self._is_finished, nodes=records)
        return state.model_dump(mode="json")

    @classmethod
    def from_dict(
        cls,
        nodes: Sequence[Node],
        runners: Mapping[str, WaveRunner],
        state: Mapping[str, Json],
        *,
        wave_timeout_s: float = WAVE_TIMEOUT_S,
    ) -> Self:
        """Go on from what `to_dict` gave; the counters start anew.

        Raises:
            GraphError: the state is not one of this graph.
        """
        graph = cls(nodes, runners, wave_timeout_s=wave_timeout_s)
        try:
            record = _GraphRecord.model_validate(state)
        except ValidationError as exc:
            raise GraphError("The saved state is no state of a graph.", details=str(exc)) from exc
        if set(record.nodes) != set(graph._nodes):
            raise GraphError(
                "The saved state is one of another graph.",
                details=f"It has the nodes {', '.join(record.nodes)}.",
            )
        graph._restore(record)
        return graph

    @classmethod
    def from_events(
        cls,
        nodes: Sequence[Node],
        runners: Mapping[str, WaveRunner],
        events: Iterable[Mapping[str, Any]],
        *,
        wave_timeout_s: float = WAVE_TIMEOUT_S,
    ) -> Self:
        """Go on from the last state in a trial's log; one without any begins anew.

        Args:
            nodes: of the task.
            runners: see the class.
            events: rows of the log, oldest first; those with a ``graph`` count.
            wave_timeout_s: see the class.

        Raises:
            GraphError: the state is not one of this graph.
        """
        states = [event["graph"] for event in events if isinstance(event.get("graph"), dict)]
        if not states:
            return cls(nodes, runners, wave_timeout_s=wave_timeout_s)
        return cls.from_dict(nodes, runners, states[-1], wave_timeout_s=wave_timeout_s)

    def _restore(self, record: _GraphRecord) -> None:
        self._steps = record.steps
        self._is_finished = record.finished
        for name in self._in_order(record.nodes):
            node = record.nodes[name]
            if node.met_at_step is not None:
                self._met_at[name] = node.met_at_step
        for name in self._met_at:
            if any(before not in self._met_at for before in self._nodes[name].after):
                raise GraphError(
                    "The saved state is none that this graph can be in.",
                    details=f"Node {name!r} is met, but not all that it comes after.",
                )
            self._latch(name)
        for name, node in record.nodes.items():
            if node.state is NodeState.UNDONE:
                self._undone.add(name)
            if node.state is NodeState.INCONCLUSIVE:
                self._troubles[name] = node.reason

    def _latch(self, name: str) -> None:
        """Take a met node from the active ones and make active what waited for it alone."""
        self._active.discard(name)
        for after in self._successors[name]:
            self._missing[after] -= 1
            if not self._missing[after] and after not in self._met_at:
                self._active.add(after)

    def _in_order(self, names: Collection[str]) -> list[str]:
        return sorted(names, key=self._rank.__getitem__)

    def _take(self, outcomes: Iterable[Outcome]) -> list[str]:
        fresh = []
        for outcome in outcomes:
            self._troubles.pop(outcome.node, None)
            if outcome.met is None:
                self._troubles[outcome.node] = outcome.reason
            elif outcome.met:
                self._met_at[outcome.node] = self._steps
                self._latch(outcome.node)
                fresh.append(outcome.node)
        return fresh
