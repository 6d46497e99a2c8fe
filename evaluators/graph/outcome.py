"""The messages between the graph and the runners of evaluators."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from provisioning.protocols import Json


class Verdict(StrEnum):
    """How a trial is judged; INCONCLUSIVE says nothing about the agent."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


class Cause(StrEnum):
    """Who is responsible when a node could not be decided, or a trial must not start."""

    TASK = "task"
    """The task is wrong: a node is met at the start, or an invariant is not."""
    MACHINE = "machine"
    """A machine could not be asked."""
    EVALUATOR = "evaluator"
    """The evaluator raised, or returned no bool, although its machine answers."""
    OBSTRUCTION = "obstruction"
    """Something on the machine, which answers, keeps the evaluator from answering."""


@dataclass(frozen=True, slots=True)
class Call:
    """One evaluator to run.

    Attributes:
        node: id of the graph's node, repeated in the outcome.
        check: name of the evaluator.
        args: its arguments, without the subject.
    """

    node: str
    check: str
    args: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one evaluator returned.

    Attributes:
        node: id of the graph's node.
        met: None when the evaluator could not decide.
        reason: why it could not decide, or why an unmet node can no longer be verified.
        cause: who is responsible when it could not decide; None stands for the evaluator.
        checks: of a node that is not met, the numbers of its checks that are not.
    """

    node: str
    met: bool | None
    reason: str = ""
    cause: Cause | None = None
    checks: tuple[int, ...] = ()


class WaveRunner(Protocol):
    """Runs the evaluators of one role, one round trip a call."""

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        """Run all of `calls` and return one outcome for each, in any order.

        It does not raise for trouble with a guest or an evaluator: it returns outcomes whose `met`
        is None.

        Args:
            calls: the wave; never empty.
            timeout_s: bound of the whole wave.
        """
        ...


def undecided(calls: Sequence[Call], reason: str, cause: Cause = Cause.EVALUATOR) -> list[Outcome]:
    """Return an inconclusive outcome, with the same reason and cause, for each of `calls`."""
    return [Outcome(call.node, None, reason, cause) for call in calls]


def decisive_cause(causes: Iterable[Cause]) -> Cause | None:
    """Return the cause that decides why a trial is INCONCLUSIVE; None without any.

    The task comes first, since no retry can help. A machine comes before an evaluator, which may
    have raised only because of the machine.
    """
    known = set(causes)
    return next((cause for cause in Cause if cause in known), None)


def match_outcomes(calls: Sequence[Call], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return exactly one outcome for each call, in the order of the calls.

    A call without an outcome, or with two, is inconclusive; outcomes of nodes that no call is for
    are dropped.
    """
    by_node: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_node.setdefault(outcome.node, []).append(outcome)
    return [_single(call, by_node.get(call.node, [])) for call in calls]


def _single(call: Call, outcomes: Sequence[Outcome]) -> Outcome:
    if len(outcomes) != 1:
        return _evaluator_fault(call, f"returned {len(outcomes)} outcomes instead of one")
    outcome = outcomes[0]
    if outcome.met is None and not outcome.reason:
        return _evaluator_fault(call, "could not decide and gave no reason")
    if outcome.met is None and outcome.cause is None:
        return Outcome(call.node, None, outcome.reason, Cause.EVALUATOR)
    return outcome


def _evaluator_fault(call: Call, message: str) -> Outcome:
    return Outcome(call.node, None, f"{call.check} {message}", Cause.EVALUATOR)
