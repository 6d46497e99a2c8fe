"""What runners of evaluators and the graph say to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.protocols import Json


class Verdict(StrEnum):
    """How a trial is judged; trouble with the infrastructure never yields FAIL."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True)
class Call:
    """One evaluator to run.

    Attributes:
        node: id of the graph's node, given back in the outcome.
        check: name of the evaluator.
        args: its arguments, without the subject.
    """

    node: str
    check: str
    args: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one evaluator said.

    Attributes:
        node: id of the graph's node.
        met: None when the evaluator could not decide.
        reason: why it could not decide; empty otherwise.
    """

    node: str
    met: bool | None
    reason: str = ""


class WaveRunner(Protocol):
    """Runs the evaluators of one role, one round trip a call."""

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        """Run all of `calls` and give one outcome for each, in any order.

        It does not raise for trouble with a guest or an evaluator: it gives outcomes whose `met`
        is None.

        Args:
            calls: the wave; never empty.
            timeout_s: bound of the whole wave.
        """
        ...


def undecided(calls: Sequence[Call], reason: str) -> list[Outcome]:
    """Give an inconclusive outcome, with the same reason, for each of `calls`."""
    return [Outcome(call.node, None, reason) for call in calls]


def match_outcomes(calls: Sequence[Call], given: Sequence[Outcome]) -> list[Outcome]:
    """Give exactly one outcome for each call, in the order of the calls.

    What a runner left out or said twice is inconclusive; what it
    said of nodes nobody asked about is dropped.
    """
    answers: dict[str, list[Outcome]] = {}
    for outcome in given:
        answers.setdefault(outcome.node, []).append(outcome)
    return [_only(call, answers.get(call.node, [])) for call in calls]


def _only(call: Call, answers: Sequence[Outcome]) -> Outcome:
    if len(answers) != 1:
        return Outcome(call.node, None, f"{call.check} gave {len(answers)} outcomes instead of one")
    answer = answers[0]
    if answer.met is None and not answer.reason:
        return Outcome(call.node, None, f"{call.check} could not decide and gave no reason")
    return answer
