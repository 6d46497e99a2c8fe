"""Judge a trial by a directed acyclic graph of evaluators.

The exact semantics (each point is pinned by a property test against a slow reference):

* **Shape.** Any number of sources, sinks and paths through a node. A node is **active** when all
  nodes of its ``after`` are met and itself is not. Only active nodes are evaluated.
* **Alternatives.** A node with several checks (``or``) is met when any of them is, on whichever
  role. None met and one undecided: inconclusive. A hold node may be held by another of its checks
  than the one that met it.
* **Step.** One `step` runs waves: all active nodes of one role go to that role's runner in one
  round trip, the roles in parallel; nodes that this makes active form the next wave. No node is
  evaluated twice in a step, so the waves end; their number is at most the depth of the graph.
* **once** nodes latch. **hold** nodes latch during the trial too, and are all evaluated once more
  by `finish`: one that is no longer satisfied is *undone* and loses its credit. Undone and done
  again in between does not count. What the last step itself has met is not checked again.
* **keep** nodes are invariants: met at the start and still met at the end. They have no edges, earn
  no credit, and are evaluated by `check_start` and `finish` alone, so broken and restored in
  between does not count. One that is unmet at the end is *broken*, and the trial fails.
* **Descendants of an undone node keep their credit**: ``after`` says when a node begins to count,
  not that it must stay so. A descendant that is a state is a hold node and was itself checked
  again. The verdict is FAIL anyway, as not every node is met.
* **Inconclusive.** An evaluator that raises, returns no bool, misses its deadline, or whose machine
  is lost makes its node inconclusive with reason and cause, never unmet. It stays active and is
  asked again by the next step; only the last answer counts. The same holds for hold and keep nodes
  that cannot be checked at the end. Nodes of other machines are unaffected.
* **A machine that the agent ended** (`end_machine`) is not asked any more: checks on it are unmet,
  so a hold node on it is undone and a keep node broken. Once nodes met before keep their credit.
  Where something of the agent's keeps evaluators from answering (`hinder_machine`), the machine is
  asked, and a check that cannot decide is unmet. With either, so is an undecided session check.
* **Verdict.** FAIL if a keep node is broken. PASS if every other node is met and no keep node is
  undecided. Else INCONCLUSIVE if any node is inconclusive, even when another is known to be unmet
  (the trouble may have kept the agent from meeting it). Else FAIL.
* **At the start** no once or hold node without predecessors may be met, and every keep node must
  be. `check_start` evaluates these and returns every problem; the trial must then not be run.
  Nothing latches. A node with predecessors may be met at the start: it counts once they are met.
* **The same evaluator** may stand in several nodes, with the same or other arguments; each node is
  evaluated separately and nothing is shared between them.
* **Evaluators that act** are wrong: they must only read. Should one act all the same: the calls of
  a role are made in the task's order, a later call or wave sees what it did, and a hold node
  is judged by what the end shows.
* **Continuing after a crash.** `to_dict` is the whole state; `from_events` takes the last one in a
  log. Steps that were not logged never happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from appliance.base.errors import GraphError, UnknownNameError
from evaluators.graph.outcome import Cause, Outcome, Verdict, decisive_cause
from evaluators.graph.start import StartProblem, StartReport
from evaluators.graph.state import GraphRecord, NodeState
from evaluators.graph.waves import Waves
from evaluators.model.dag import build_graph
from evaluators.model.node import Mode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evaluators.graph.outcome import WaveRunner
    from evaluators.model.node import Node
    from provisioning.protocols import Json

WAVE_TIMEOUT_S = 30.0


class GraphEvaluator:
    """The graph of one trial and which of its nodes are met; see the module for the semantics.

    Not thread-safe: it belongs to the thread of its trial. Runners are called from that thread and
    from others, never two at a time on one role.

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
        self._keeps = [node.id for node in nodes if node.mode is Mode.KEEP]
        self._successors = {name: tuple(graph.successors(name)) for name in self._nodes}
        self._missing = dict(graph.in_degree)
        """How many predecessors are not met, by node."""
        sources = {name for name, missing in self._missing.items() if not missing}
        self._active = sources.difference(self._keeps)
        self._waves = Waves(nodes, runners, timeout_s=wave_timeout_s)
        self._met_at: dict[str, int] = {}
        self._lost: dict[str, str] = {}
        """Hold nodes undone and keep nodes broken, with the reason if they cannot be verified."""
        self._troubles: dict[str, Outcome] = {}
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
        """Evaluate sources and keep nodes before the agent acts; nothing latches."""
        names = self._in_order({*self._active, *self._keeps})
        outcomes = self._waves.run(names)
        found = [StartProblem.of(self._nodes[outcome.node], outcome) for outcome in outcomes]
        return StartReport(tuple(problem for problem in found if problem is not None))

    def step(self) -> tuple[str, ...]:
        """Evaluate what is active, wave after wave, and return the nodes newly met, in order.

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

    def end_machine(self, role: str, reason: str) -> None:
        """Record that the agent ended a machine: from now on its checks are unmet, unasked.

        Args:
            role: of the machine.
            reason: what happened, for the log.
        """
        self._waves.ended[role] = reason

    def hinder_machine(self, role: str, reason: str) -> None:
        """Record that the agent keeps evaluators from answering: undecided checks are unmet.

        Args:
            role: of the machine.
            reason: what happened, for the log.
        """
        self._waves.hindered[role] = reason

    def finish(self) -> tuple[str, ...]:
        """Take a last step, check hold and keep nodes, and return those undone or broken.

        Nodes met by that last step have just been seen and are not checked twice. A second call
        does nothing and returns the same.
        """
        if not self._is_finished:
            held = [name for name in self._met_at if self._nodes[name].mode is Mode.HOLD]
            self.step()
            self._is_finished = True
            for outcome in self._waves.run(self._in_order([*held, *self._keeps])):
                if outcome.met is False:
                    self._lost[outcome.node] = outcome.reason
                elif outcome.met is None:
                    self._troubles[outcome.node] = outcome
        return tuple(self._in_order(self._lost))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Ids of all nodes, in the task's order."""
        return tuple(self._nodes)

    @property
    def met(self) -> tuple[str, ...]:
        """Ids of the nodes that have credit now, in the task's order."""
        return tuple(name for name in self._nodes if self._state_of(name) is NodeState.MET)

    @property
    def is_complete(self) -> bool:
        """Whether every node that earns credit is met and nothing is undone, broken or open."""
        earning = len(self._nodes) - len(self._keeps)
        return len(self._met_at) == earning and not self._lost and not self._troubles

    @property
    def inconclusive(self) -> Mapping[str, str]:
        """Reasons, by node, of those whose last evaluation could not decide."""
        return {name: self._troubles[name].reason for name in self._in_order(self._troubles)}

    @property
    def cause(self) -> Cause | None:
        """The cause that decides why the verdict is INCONCLUSIVE; None when no node is."""
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
        """Return the unmet nodes that a node comes after, in the task's order.

        Raises:
            UnknownNameError: there is no such node.
        """
        if name not in self._nodes:
            raise UnknownNameError.of("node", name, self._nodes)
        return tuple(before for before in self._nodes[name].after if before not in self._met_at)

    def verdict(self) -> Verdict:
        """Judge the present state; it is final once `finish` was called."""
        if self.broken:
            return Verdict.FAIL
        if self.is_complete:
            return Verdict.PASS
        return Verdict.INCONCLUSIVE if self._troubles else Verdict.FAIL

    def to_dict(self) -> dict[str, Json]:
        """Return the whole state as JSON, for the event log and for `from_dict`."""
        return {
            "steps": self._steps,
            "finished": self._is_finished,
            "nodes": {name: self._record_of(name) for name in self._nodes},
            "ended": dict(self._waves.ended),
            "hindered": dict(self._waves.hindered),
        }

    @classmethod
    def from_dict(
        cls,
        nodes: Sequence[Node],
        runners: Mapping[str, WaveRunner],
        state: Mapping[str, Json],
        *,
        wave_timeout_s: float = WAVE_TIMEOUT_S,
    ) -> Self:
        """Continue from what `to_dict` returned; the counters start anew.

        Raises:
            GraphError: the state is not one of this graph.
        """
        graph = cls(nodes, runners, wave_timeout_s=wave_timeout_s)
        try:
            record = GraphRecord.model_validate(state)
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
        """Continue from the last state in a trial's log; one without any begins anew.

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

    def _record_of(self, name: str) -> dict[str, Json]:
        """Return a `NodeRecord` as JSON; built directly, as each step logs every node."""
        trouble = self._troubles.get(name)
        return {
            "state": self._state_of(name).value,
            "met_at_step": self._met_at.get(name),
            "reason": trouble.reason if trouble else self._lost.get(name, ""),
            "cause": trouble.cause.value if trouble and trouble.cause else None,
        }

    def _restore(self, record: GraphRecord) -> None:
        self._steps = record.steps
        self._is_finished = record.finished
        self._waves.ended.update(record.ended)
        self._waves.hindered.update(record.hindered)
        for name in self._in_order(record.nodes):
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
                    "The saved state is impossible for this graph.",
                    details=f"Node {name!r} is met, but not all that it comes after.",
                )
            self._latch(name)

    def _latch(self, name: str) -> None:
        """Remove a met node from the active ones and activate what waited for it alone."""
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
                self._troubles[outcome.node] = outcome
            elif outcome.met:
                self._met_at[outcome.node] = self._steps
                self._latch(outcome.node)
                fresh.append(outcome.node)
        return fresh
