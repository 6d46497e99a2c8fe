"""Conclusions about a task from the trials of a validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.episode.result import TrialResult
    from evaluators.graph.feedback import Feedback
    from provisioning.protocols import Json

ENOUGH = 3
"""Number of attempts without doing the task that must run to their end and fail."""

_CERTAIN = 2
_DIED = frozenset({Reason.AGENT_ERROR, Reason.INVALID_ACTION})
_OF_THE_SUITE = frozenset({Reason.TASK_ERROR, Reason.EVALUATOR_ERROR})


class Kind(StrEnum):
    """The kind of an attempt at a task."""

    ORACLE = "oracle"
    """A reference solution of the task; it must pass."""
    NOOP = "noop"
    """No actions; no node may be met."""
    MUST_FAIL = "must fail"
    """A solution that must not pass, according to the author."""
    FOREIGN = "foreign oracle"
    """The reference solution of another task."""
    CHEAT = "cheat"
    """Writes to what the graph reads, as the agent's user."""
    RANDOM = "random"
    TOUCH = "touch everything"


class Meaning(StrEnum):
    """What an attempt shows about the task."""

    AS_IT_SHOULD = "as it should be"
    EVIDENCE = "evidence"
    """It ran to its end and did not pass."""
    NO_EVIDENCE = "no evidence"
    """It ended early, so its failure shows nothing."""
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One trial of a validation.

    Attributes:
        kind: the kind of attempt.
        name: name of the solution, the other task or the cheat; empty if there is only one.
        run: id of the run that contains its log.
        result: result of the trial.
        early: nodes that a reference solution met before their turn (`OrderDriver`).
    """

    kind: Kind
    name: str
    run: str
    result: TrialResult
    early: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Kind and name; only the name if it equals the kind."""
        return self.name if self.name == self.kind else f"{self.kind} {self.name}".strip()

    @property
    def meaning(self) -> Meaning:
        """What the attempt shows about the task."""
        verdict, reason = self.result.verdict, self.result.reason
        match self.kind:
            case Kind.ORACLE:
                return Meaning.AS_IT_SHOULD if verdict is Verdict.PASS else Meaning.FAULT
            case Kind.NOOP:
                is_right = verdict is Verdict.FAIL and not self.result.nodes_met
                return Meaning.AS_IT_SHOULD if is_right else Meaning.FAULT
            case Kind.MUST_FAIL:
                is_right = verdict is Verdict.FAIL and reason not in _DIED
                return Meaning.EVIDENCE if is_right else Meaning.FAULT
            case _:
                if verdict is Verdict.PASS or reason in _OF_THE_SUITE:
                    return Meaning.FAULT
                is_played = verdict is Verdict.FAIL and reason not in _DIED
                return Meaning.EVIDENCE if is_played else Meaning.NO_EVIDENCE

    @property
    def line(self) -> str:
        """One-line summary of the attempt, its end and its meaning."""
        trial = self.result
        ended = f"{trial.verdict} ({trial.reason}, {trial.nodes_met}/{trial.nodes} nodes)"
        return f"{trial.task}.{trial.repeat}: {self.label}: {ended}: {self.meaning}"

    @property
    def fault(self) -> str:
        """One-line description of what is wrong with the task; empty if nothing is."""
        if self.meaning is not Meaning.FAULT:
            return ""
        trial = self.result
        nodes = f"{trial.nodes_met} of {trial.nodes} nodes met"
        ended = f"{self.label} ended with {trial.verdict} ({trial.reason}, {nodes})"
        unmet = "; ".join(_unmet(row) for row in trial.unmet)
        why = trial.detail or (unmet if self.kind is Kind.ORACLE else "")
        return f"{ended}: {why}".rstrip(": ")

    def to_dict(self) -> dict[str, Json]:
        """Return the attempt as JSON."""
        trial = self.result
        return {
            "kind": self.kind.value,
            "name": self.name,
            "run": self.run,
            "verdict": trial.verdict.value,
            "reason": trial.reason.value,
            "nodes_met": trial.nodes_met,
            "nodes": trial.nodes,
            "steps": trial.steps,
            "detail": trial.detail,
            "meaning": self.meaning.value,
            "early": list(self.early),
        }


def _together(attempts: Sequence[Attempt]) -> str:
    """Return the common fault of attempts that ended in the same way."""
    others = [attempt.label for attempt in attempts[1:]]
    return f"{attempts[0].fault} (likewise: {', '.join(others)})" if others else attempts[0].fault


def _unmet(row: Feedback) -> str:
    checks = f" [{', '.join(row.checks)}]" if row.checks else ""
    return f"{row.node}: {row.why}{checks}"


@dataclass(frozen=True, slots=True)
class Validation:
    """The validation result of one task.

    Attributes:
        task: id of the task.
        attempts: attempts at the task, those that must pass first.
        after: predecessors of the nodes that have some.
    """

    task: str
    attempts: tuple[Attempt, ...]
    after: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def evidence(self) -> int:
        """Number of attempts that show that the task does not pass without being done."""
        return sum(attempt.meaning is Meaning.EVIDENCE for attempt in self.attempts)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the task; empty if it is sound."""
        faulty = [attempt for attempt in self.attempts if attempt.fault]
        alike: dict[tuple[str, str], list[Attempt]] = {}
        for attempt in faulty:
            trial = attempt.result
            detail = trial.detail if trial.reason is Reason.TASK_ERROR else attempt.fault
            alike.setdefault((trial.reason, detail), []).append(attempt)
        faults = [_together(attempts) for attempts in alike.values()]
        faults += [self._early_fault(node) for node in self.early]
        if self.evidence < ENOUGH and not self.is_wrong:
            faults.append(
                f"only {self.evidence} attempts without doing it ran to their end, "
                f"{ENOUGH} are needed: add `must_fail` solutions"
            )
        return tuple(faults)

    @property
    def early(self) -> tuple[str, ...]:
        """Nodes that every solution that passes meets before their turn."""
        passed = [
            set(attempt.early)
            for attempt in self.attempts
            if attempt.kind is Kind.ORACLE and attempt.result.verdict is Verdict.PASS
        ]
        return tuple(sorted(set.intersection(*passed))) if passed else ()

    def _early_fault(self, node: str) -> str:
        turn = f" (after {', '.join(self.after[node])})" if node in self.after else ""
        return (
            f"{node} was already met before its turn{turn} in every solution, so it counts for "
            "nothing: use `mode: keep`, leave out `after`, or check what the solution changes"
        )

    @property
    def is_wrong(self) -> bool:
        """Whether all attempts, at least two, failed with a task error; more would add nothing."""
        reasons = [attempt.result.reason for attempt in self.attempts]
        return len(reasons) >= _CERTAIN and set(reasons) == {Reason.TASK_ERROR}

    def to_dict(self) -> dict[str, Json]:
        """Return the validation as JSON."""
        return {
            "task": self.task,
            "ok": not self.faults,
            "evidence": self.evidence,
            "attempts": [attempt.to_dict() for attempt in self.attempts],
            "faults": list(self.faults),
        }
