"""Judge a trial by a directed acyclic graph of evaluators.

The exact semantics (each point is pinned by a property test against a slow reference):

* **Shape.** Any number of sources, sinks and paths through a node. A node is **active** when all
  nodes of its ``after`` are met and itself is not. Only active nodes are evaluated.
* **Together.** A node with further checks (``and``) is met when its own and all of them are met in
  the same wave, on whichever roles. One unmet: unmet; else one undecided: inconclusive.
* **Alternatives.** A node with alternatives (``or``) is met when any of them is, or what stands
  above is, on whichever role. None met and one undecided: inconclusive. A hold node may be held by
  another of them than the one that met it.
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
  Checks whose evaluators were kept from answering are undecided with the cause *obstruction*;
  whose doing that is, the trial's judge decides.
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
* **After a crash** a log's last state shows how far the graph was (`Progress.restore_last`). Steps
  that were not logged never happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from appliance.base.errors import GraphError
from evaluators.graph.progress import Progress
from evaluators.graph.start import StartProblem, StartReport
from evaluators.graph.waves import Waves
from evaluators.model.node import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluators.graph.outcome import WaveRunner
    from evaluators.model.node import Node
    from provisioning.protocols import Json

WAVE_TIMEOUT_S = 30.0


class GraphEvaluator(Progress):
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
        super().__init__(nodes)
        for node in nodes:
            for check in node.checks:
                if check.on not in runners:
                    raise GraphError(f"Node {node.id!r} is on {check.on!r}, which has no runner.")
        self._waves = Waves(nodes, runners, timeout_s=wave_timeout_s)
        self._waves.ended, self._waves.hindered = self.ended, self.hindered

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
        names = self.in_order({*self._active, *self._keeps})
        outcomes = self._waves.run(names)
        for outcome in outcomes:
            self.note(outcome)
        problems = [StartProblem.of(self._nodes[outcome.node], outcome) for outcome in outcomes]
        report = StartReport(tuple(problem for problem in problems if problem is not None))
        self.at_start = {problem.node: problem for problem in report.problems}
        return report

    def step(self) -> tuple[str, ...]:
        """Evaluate what is active, wave after wave, and return the nodes newly met, in order.

        Raises:
            GraphError: the graph was finished before.
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
        """Record that the agent ended a machine: from now on its checks are unmet, unasked.

        Args:
            role: of the machine.
            reason: what happened, for the log.
        """
        self.ended[role] = reason

    def hinder_machine(self, role: str, reason: str) -> None:
        """Record that the agent keeps evaluators from answering: undecided checks are unmet.

        Args:
            role: of the machine.
            reason: what happened, for the log.
        """
        self.hindered[role] = reason

    def finish(self) -> tuple[str, ...]:
        """Take a last step, check hold and keep nodes, and return those undone or broken.

        Nodes met by that last step have just been seen and are not checked twice. A second call
        does nothing and returns the same.
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
        """Continue from what `to_dict` returned; the counters start anew.

        Raises:
            GraphError: the state is not one of this graph.
        """
        graph = cls(nodes, runners, wave_timeout_s=wave_timeout_s)
        graph.restore(state)
        return graph
