"""Run evaluators: one round trip per role, with the machines in parallel."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call, Cause, Outcome, decisive_cause, match_outcomes, undecided
from evaluators.strict import SESSION
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluators.graph.outcome import WaveRunner
    from evaluators.model.node import Node


class Waves:
    """Executor of the evaluators of sets of nodes, with counters.

    A node's checks are sent together, each as a separate call: to one role in one round trip, to
    several roles at the same time. The node's own check and those of ``and`` form a group: met if
    all are met, unmet if one is unmet, else undecided. The node is met if the group or an
    alternative is met. If none is met and at least one could not decide, the node is undecided,
    with the reasons; if all are unmet, it is unmet.

    The first role of a wave runs in the caller's thread and each further one in its own thread.
    Runners enforce the time limit of the wave themselves. If a runner raises a `MesocosmError`, its
    calls are undecided; any other exception is a defect and propagates.

    Args:
        nodes: all nodes that may be evaluated.
        runners: runner of each role.
        timeout_s: time limit of one round trip.

    Attributes:
        ended: reason by role, for machines that the agent stopped. They are not queried any more,
            and checks on them are unmet.
        hindered: reason by role, for machines where the agent blocks evaluators. They are still
            queried, and undecided checks count as unmet.
        round_trips: number of round trips, by role.
        evaluations: total number of checks that were run.
    """

    def __init__(
        self, nodes: Sequence[Node], runners: Mapping[str, WaveRunner], *, timeout_s: float
    ) -> None:
        self._runners = runners
        self._timeout_s = timeout_s
        self._calls = {node.id: _calls_of(node) for node in nodes}
        self._together = {node.id: len(node.together) for node in nodes}
        self._pool: ThreadPoolExecutor | None = None
        self.ended: dict[str, str] = {}
        self.hindered: dict[str, str] = {}
        self.round_trips: dict[str, int] = {}
        self.evaluations = 0

    def run(self, names: Sequence[str]) -> list[Outcome]:
        """Evaluate the nodes of these ids and return one outcome for each, in their order."""
        by_role: dict[str, list[Call]] = {}
        for name in names:
            for role, call in self._calls[name]:
                by_role.setdefault(role, []).append(call)
        outcomes = {outcome.node: outcome for outcome in self._ask_all(by_role)}
        return [
            self._judge(name, [outcomes[call.node] for _, call in self._calls[name]])
            for name in names
        ]

    def _judge(self, name: str, outcomes: Sequence[Outcome]) -> Outcome:
        count = self._together[name]
        judged = _any_of(name, [_all_of(name, outcomes[:count]), *outcomes[count:]])
        if judged.met:
            return judged
        unmet = (number for number, outcome in enumerate(outcomes) if not outcome.met)
        return replace(judged, checks=tuple(unmet))

    def _ask_all(self, by_role: dict[str, list[Call]]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for role, reason in self.ended.items():
            outcomes += [
                Outcome(call.node, met=False, reason=reason) for call in by_role.pop(role, ())
            ]
        for role, calls in by_role.items():
            self.round_trips[role] = self.round_trips.get(role, 0) + 1
            self.evaluations += len(calls)
        if not by_role:
            return outcomes
        first, *others = by_role
        futures = []
        if others:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(len(self._runners), "evaluate")
            futures = [self._pool.submit(self._ask, role, by_role[role]) for role in others]
        outcomes += self._ask(first, by_role[first])
        for future in futures:
            outcomes += future.result()
        return outcomes

    def _ask(self, role: str, calls: Sequence[Call]) -> list[Outcome]:
        try:
            outcomes = self._runners[role].evaluate(calls, timeout_s=self._timeout_s)
        except MesocosmError as exc:
            outcomes = undecided(calls, f"{role} could not be queried: {exc.brief}", Cause.MACHINE)
        matched = match_outcomes(calls, outcomes)
        reason = self._agents_fault_on(role)
        return [_unmet_if_open(outcome, reason) for outcome in matched] if reason else matched

    def _agents_fault_on(self, role: str) -> str:
        """Return what the agent did to a role's machine, or to any machine for session checks."""
        if role == SESSION:
            return "; ".join([*self.ended.values(), *self.hindered.values()])
        return self.hindered.get(role, "")


def _unmet_if_open(outcome: Outcome, reason: str) -> Outcome:
    if outcome.met is None:
        return Outcome(outcome.node, met=False, reason=f"{reason}: {outcome.reason}")
    return outcome


def _calls_of(node: Node) -> list[tuple[str, Call]]:
    """Return role and call of each check; names of further checks have a #, which ids cannot contain."""
    return [
        (check.on, Call(f"{node.id}#{number}" if number else node.id, check.check, check.args))
        for number, check in enumerate(node.checks)
    ]


def _all_of(name: str, outcomes: Sequence[Outcome]) -> Outcome:
    worst = next((outcome for outcome in outcomes if outcome.met is False), None)
    if worst is not None:
        return Outcome(name, met=False, reason=worst.reason)
    open_ones = [outcome for outcome in outcomes if outcome.met is None]
    if not open_ones:
        return Outcome(name, met=True)
    reason = "; ".join(outcome.reason for outcome in open_ones if outcome.reason)
    return Outcome(
        name, None, reason, decisive_cause(outcome.cause for outcome in open_ones if outcome.cause)
    )


def _any_of(name: str, outcomes: Sequence[Outcome]) -> Outcome:
    if any(outcome.met is True for outcome in outcomes):
        return Outcome(name, met=True)
    open_ones = [outcome for outcome in outcomes if outcome.met is None]
    reason = "; ".join(outcome.reason for outcome in open_ones or outcomes if outcome.reason)
    if not open_ones:
        return Outcome(name, met=False, reason=reason)
    return Outcome(
        name, None, reason, decisive_cause(outcome.cause for outcome in open_ones if outcome.cause)
    )
