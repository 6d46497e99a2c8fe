"""Conclusions about a task from the trials of a validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from controller.episode.result import TRIAL_RESULT, Reason
from controller.store.schema import read_result
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    SEED = "another seed"
    """A reference solution with other values of the task's parameters; it must pass."""
    SETUP_TWICE = "setup twice"
    """A reference solution after the setup ran twice; a failure is noted."""
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


_MUST_PASS = frozenset({Kind.ORACLE, Kind.SEED})
_ORDER = {kind: number for number, kind in enumerate(Kind)}


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
        credits: nodes with credit after each step of a reference solution, if they were asked for.
    """

    kind: Kind
    name: str
    run: str
    result: TrialResult
    early: tuple[str, ...] = ()
    credits: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """Kind and name; only the name if it equals the kind."""
        return self.name if self.name == self.kind else f"{self.kind} {self.name}".strip()

    @property
    def meaning(self) -> Meaning:
        """What the attempt shows about the task."""
        verdict, reason = self.result.verdict, self.result.reason
        match self.kind:
            case Kind.ORACLE | Kind.SEED:
                return Meaning.AS_IT_SHOULD if verdict is Verdict.PASS else Meaning.FAULT
            case Kind.SETUP_TWICE:
                # Trials run it once, on a machine that was reset: what adds a record twice is no fault.
                return Meaning.AS_IT_SHOULD if verdict is Verdict.PASS else Meaning.NO_EVIDENCE
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
        why = trial.detail or (unmet if self.kind in _MUST_PASS else "")
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
            "credits": list(self.credits),
        }

    @property
    def is_conclusive(self) -> bool:
        """Whether another attempt would show nothing else: no machine or model failed."""
        reason = self.result.reason
        return reason is not Reason.CANCELLED and not reason.is_retried

    def to_record(self) -> dict[str, Json]:
        """Return everything about the attempt as JSON, for `attempt_from`."""
        return {
            "kind": self.kind.value,
            "name": self.name,
            "run": self.run,
            "result": TRIAL_RESULT.dump_python(self.result, mode="json"),
            "early": list(self.early),
            "credits": list(self.credits),
        }

    @property
    def undeclared(self) -> frozenset[tuple[str, str, str]]:
        """Role, kind and name of changes that the task does not declare; those of no action excepted."""
        effects = self.result.side_effects
        if effects is None or not effects.has_baseline:
            return frozenset()
        return frozenset((row.role, row.kind, row.name) for row in effects.changes)

    @property
    def loses_credit(self) -> bool:
        """Whether a longer part of the solution has less credit than a shorter one."""
        return any(after < before for before, after in pairwise(self.credits))


def attempt_from(row: Mapping[str, Any]) -> Attempt:
    """Return an attempt from its record.

    Raises:
        KeyError, ValueError: it is not one.
    """
    return Attempt(
        Kind(row["kind"]),
        row["name"],
        row["run"],
        read_result(row["result"]),
        tuple(row["early"]),
        tuple(row["credits"]),
    )


def in_order(attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """Return attempts by kind, those that must pass first."""
    return tuple(sorted(attempts, key=lambda attempt: _ORDER[attempt.kind]))


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
        needed: number of attempts without doing it that must run to their end and fail.
        constant: parameters that never differ between seeds.
    """

    task: str
    attempts: tuple[Attempt, ...]
    after: Mapping[str, Sequence[str]] = field(default_factory=dict)
    needed: int = ENOUGH
    constant: tuple[str, ...] = ()

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
        faults += self._further_faults()
        if self.evidence < self.needed and not self.is_wrong:
            faults.append(
                f"only {self.evidence} attempts without doing it ran to their end, "
                f"{self.needed} are needed: add `must_fail` solutions"
            )
        return tuple(faults)

    def _further_faults(self) -> list[str]:
        """Return what is wrong although every attempt ended as it should."""
        faults = [
            f"the parameter {name} has the same value for every seed: write the value, or give it "
            "more options"
            for name in self.constant
        ]
        if self._passed and all(attempt.loses_credit for attempt in self._passed):
            steps = ", ".join(map(str, self._passed[0].credits))
            faults.append(
                f"credit falls while the task is being solved (nodes after each step: {steps}): "
                "use `mode: once` where a later step undoes a state"
            )
        if self._passed:
            common = frozenset.intersection(*(attempt.undeclared for attempt in self._passed))
            rows = [" ".join(row) for row in sorted(common)]
            if rows:
                faults.append(f"every solution changes more than declared: {'; '.join(rows)}")
        return faults

    @property
    def notes(self) -> tuple[str, ...]:
        """What the author should know although it is no fault."""
        return tuple(
            f"the setup is not idempotent: after it ran twice, the solution {attempt.name} ended with "
            f"{attempt.result.verdict} ({attempt.result.reason})"
            for attempt in self.attempts
            if attempt.kind is Kind.SETUP_TWICE and attempt.result.verdict is not Verdict.PASS
        )

    @property
    def solution_s(self) -> float:
        """Time of the first solution that passed, seconds; 0 if there is none."""
        return self._passed[0].result.seconds if self._passed else 0.0

    @property
    def _passed(self) -> list[Attempt]:
        return [
            attempt
            for attempt in self.attempts
            if attempt.kind is Kind.ORACLE and attempt.result.verdict is Verdict.PASS
        ]

    @property
    def early(self) -> tuple[str, ...]:
        """Nodes that every solution that passes meets before their turn."""
        passed = [set(attempt.early) for attempt in self._passed]
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
            "notes": list(self.notes),
        }
