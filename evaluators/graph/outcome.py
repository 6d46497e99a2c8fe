"""Messages between the graph and the runners of evaluators."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from provisioning.protocols import Json


class Verdict(StrEnum):
    """Verdict on a trial; INCONCLUSIVE says nothing about the agent."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


class Cause(StrEnum):
    """Why a node could not be decided, or a trial must not start."""

    TASK = "task"
    """The task has an error: a node is met at the start, an invariant is not, or an argument is wrong."""
    MACHINE = "machine"
    """A machine could not be queried."""
    EVALUATOR = "evaluator"
    """The evaluator raised, or did not return a bool, although its machine responds."""
    OBSTRUCTION = "obstruction"
    """The machine responds, but something on it blocks the evaluator."""


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
    """Result of one evaluator.

    Attributes:
        node: id of the graph's node.
        met: the result; None if the evaluator could not decide.
        reason: why it could not decide, or why an unmet node can no longer be verified.
        cause: cause if it could not decide; None means the evaluator.
        checks: numbers of the unmet checks of a node that is not met.
    """

    node: str
    met: bool | None
    reason: str = ""
    cause: Cause | None = None
    checks: tuple[int, ...] = ()


class WaveRunner(Protocol):
    """Runner of the evaluators of one role, with one round trip per call."""

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        """Run all of `calls` and return one outcome for each, in any order.

        It does not raise if a guest or an evaluator fails: it returns outcomes whose `met` is None.

        Args:
            calls: the wave; never empty.
            timeout_s: time limit of the whole wave.
        """
        ...


def undecided(calls: Sequence[Call], reason: str, cause: Cause = Cause.EVALUATOR) -> list[Outcome]:
    """Return an inconclusive outcome, with the same reason and cause, for each of `calls`."""
    return [Outcome(call.node, None, reason, cause) for call in calls]


def decisive_cause(causes: Iterable[Cause]) -> Cause | None:
    """Return the cause to report for an INCONCLUSIVE trial; None if there are no causes.

    The task comes first, because no retry can help. A machine comes before an evaluator, which may
    have raised only because of the machine.
    """
    known = set(causes)
    return next((cause for cause in Cause if cause in known), None)


def match_outcomes(calls: Sequence[Call], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return exactly one outcome for each call, in the order of the calls.

    A call without an outcome, or with several, is inconclusive; outcomes without a call are
    dropped.
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
