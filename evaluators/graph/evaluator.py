"""Evaluate a trial by a directed acyclic graph of evaluators.

The exact semantics (each point is pinned by a property test against a slow reference):

* **Shape.** Any number of sources, sinks and paths through a node. A node is **active** if all
  nodes in its ``after`` are met and it is not met itself. Only active nodes are evaluated.
* **Together.** A node with further checks (``and``) is met if its own check and all of these are
  met in the same wave, on any roles. If one is unmet, the node is unmet; otherwise, if one is
  undecided, it is inconclusive.
* **Alternatives.** A node with alternatives (``or``) is met if any of them is met, on any role, or
  the checks above are. If none is met and one is undecided, the node is inconclusive. A hold node
  may be held by a different alternative from the one that met it.
* **Step.** One `step` runs waves: all active nodes of one role go to that role's runner in one
  round trip, and the roles run in parallel; nodes that become active as a result form the next
  wave. No node is evaluated twice in a step, so the number of waves is at most the depth of the
  graph.
* **once** nodes latch. **hold** nodes also latch during the trial, and `finish` evaluates all of
  them again: a node that is no longer satisfied is *undone* and loses its credit. A state that was
  undone and restored in between does not matter. Nodes that the last step itself met are not
  checked again.
* **keep** nodes are invariants: met at the start and still met at the end. They have no edges, earn
  no credit, and are evaluated only by `check_start` and `finish`, so an invariant that was broken
  and restored in between does not matter. A node that is unmet at the end is *broken*, and the
  trial fails.
* **Descendants of an undone node keep their credit**: ``after`` defines when a node begins to
  count, not that its predecessors must stay met. A descendant that is a state is a hold node and
  was checked again itself. The verdict is FAIL in any case, because not every node is met.
* **Inconclusive.** An evaluator that raises, returns something other than a bool, misses its
  deadline, or whose machine is lost makes its node inconclusive with reason and cause, never unmet.
  The node stays active and the next step evaluates it again; only the last result counts. The same
  applies to hold and keep nodes that cannot be checked at the end. Nodes of other machines are
  unaffected.
* **A machine that the agent stopped** (`end_machine`) is not queried any more: checks on it are
  unmet, so a hold node on it is undone and a keep node broken. Once nodes met earlier keep their
  credit. If something that the agent did blocks evaluators (`hinder_machine`), the machine is still
  queried, and an undecided check counts as unmet. In both cases, so does an undecided session
  check. Checks whose evaluators were blocked are undecided with the cause *obstruction*; the
  trial's judge decides who is responsible.
* **Verdict.** FAIL if a keep node is broken. PASS if every other node is met and no keep node is
  undecided. Else INCONCLUSIVE if any node is inconclusive, even if another is known to be unmet
  (the failure may have kept the agent from meeting it). Else FAIL.
* **At the start** no once or hold node without predecessors may be met, and every keep node must be
  met. `check_start` evaluates these and returns every problem; the trial must not run if there is
  one. Nothing latches. A node with predecessors may be met at the start: it counts once they are
  met.
* **The same evaluator** may be used in several nodes, with the same or other arguments; each node
  is evaluated separately and nothing is shared between them.
* **Evaluators that change state** are defective: they must only read. If one does, the calls of a
  role are made in the task's order, later calls and waves see the change, and a hold node is
  evaluated by the final state.
* **After a crash** the last state in the log is the state of the graph (`Progress.restore_last`).
  Steps that were not logged are lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from evaluators.graph.progress import Progress
from evaluators.graph.start import StartProblem, StartReport
from evaluators.graph.waves import Waves
from evaluators.model.node import Mode
from foundation.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluators.graph.outcome import WaveRunner
    from evaluators.model.node import Node
    from provisioning.protocols import Json

WAVE_TIMEOUT_S = 30.0


class GraphEvaluator(Progress):
    """The graph of one trial and the state of its nodes; see the module for the semantics.

    Not thread-safe: it belongs to the thread of its trial. Runners are called from that thread and
    from others, never two at a time on one role.

    Args:
        nodes: nodes of the task.
        runners: runner of each role that a check is ``on``.
        wave_timeout_s: time limit of one round trip.

    Raises:
        GraphError: see `build_graph`; or a role has no runner.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        runners: Mapping[str, WaveRunner],
        *,
        wave_timeout_s: float = WAVE_TIMEOUT_S,
    ) -> None:
        super().__init__(nodes)
        for node in nodes:
            for check in node.checks:
                if check.on not in runners:
                    raise GraphError(f"Node {node.id!r} is on {check.on!r}, which has no runner.")
        self._waves = Waves(nodes, runners, timeout_s=wave_timeout_s)
        self._waves.ended, self._waves.hindered = self.ended, self.hindered

    @property
    def round_trips(self) -> Mapping[str, int]:
        """Number of round trips, by role."""
        return self._waves.round_trips

    @property
    def evaluations(self) -> int:
        """Total number of checks that were run."""
        return self._waves.evaluations

    def check_start(self) -> StartReport:
        """Evaluate sources and keep nodes before the agent acts; nothing latches."""
        names = self.in_order({*self._active, *self._keeps})
        outcomes = self._waves.run(names)
        for outcome in outcomes:
            self.note(outcome)
        problems = [StartProblem.of(self._nodes[outcome.node], outcome) for outcome in outcomes]
        report = StartReport(tuple(problem for problem in problems if problem is not None))
        self.at_start = {problem.node: problem for problem in report.problems}
        return report

    def check_waiting(self) -> tuple[str, ...]:
        """Return the nodes that are met although not all of their predecessors are; nothing latches.

        For the validation of tasks: such a node would count without being done in its turn.
        """
        waiting = [name for name in self._nodes if name not in self._met_at and self._missing[name]]
        return tuple(outcome.node for outcome in self._waves.run(waiting) if outcome.met)

    def step(self) -> tuple[str, ...]:
        """Evaluate active nodes, wave by wave, and return the newly met nodes, in order.

        Raises:
            GraphError: the graph is finished.
        """
        if self._is_finished:
            raise GraphError("The graph was finished; no further step is possible.")
        self._steps += 1
        newly: list[str] = []
        wave = self.in_order(self._active)
        while wave:
            fresh = self.take(self._waves.run(wave))
            newly += fresh
            reached = {after for name in fresh for after in self._successors[name]}
            wave = self.in_order(reached & self._active)
        return tuple(newly)

    def end_machine(self, role: str, reason: str) -> None:
        """Record that the agent stopped a machine: from now on its checks are unmet without a query.

        Args:
            role: role of the machine.
            reason: what happened, for the log.
        """
        self.ended[role] = reason

    def hinder_machine(self, role: str, reason: str) -> None:
        """Record that the agent blocks evaluators: from now on undecided checks are unmet.

        Args:
            role: role of the machine.
            reason: what happened, for the log.
        """
        self.hindered[role] = reason

    def finish(self) -> tuple[str, ...]:
        """Run a last step, check hold and keep nodes, and return those undone or broken.

        Nodes met by that last step are not checked again. A second call does nothing and returns
        the same result.
        """
        if not self._is_finished:
            held = [name for name in self._met_at if self._nodes[name].mode is Mode.HOLD]
            self.step()
            self._is_finished = True
            for outcome in self._waves.run(self.in_order([*held, *self._keeps])):
                self.note(outcome)
                if outcome.met is False:
                    self._lost[outcome.node] = outcome.reason
                elif outcome.met is None:
                    self._troubles[outcome.node] = outcome
        return tuple(self.in_order(self._lost))

    @classmethod
    def from_dict(
        cls,
        nodes: Sequence[Node],
        runners: Mapping[str, WaveRunner],
        state: Mapping[str, Json],
        *,
        wave_timeout_s: float = WAVE_TIMEOUT_S,
    ) -> Self:
        """Continue from the result of `to_dict`; the counters restart at zero.

        Raises:
            GraphError: the state does not belong to this graph.
        """
        graph = cls(nodes, runners, wave_timeout_s=wave_timeout_s)
        graph.restore(state)
        return graph
