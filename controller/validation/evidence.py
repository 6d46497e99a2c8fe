"""What the trials of a validation show about a task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.episode.result import TrialResult
    from evaluators.graph.feedback import Feedback
    from provisioning.protocols import Json

ENOUGH = 3
"""How many attempts without doing the task must have been played to their end and failed."""

_CERTAIN = 2
_DIED = frozenset({Reason.AGENT_ERROR, Reason.INVALID_ACTION})
_OF_THE_SUITE = frozenset({Reason.TASK_ERROR, Reason.EVALUATOR_ERROR})


class Kind(StrEnum):
    """Who tried a task."""

    ORACLE = "oracle"
    """A reference solution of its own; it must pass."""
    NOOP = "noop"
    """Nobody did anything; no node may be met."""
    MUST_FAIL = "must fail"
    """What the author says must not pass."""
    FOREIGN = "foreign oracle"
    """The reference solution of another task."""
    CHEAT = "cheat"
    """Writes to what the graph reads, under the agent's user."""
    RANDOM = "random"
    TOUCH = "touch everything"


class Meaning(StrEnum):
    """What one attempt shows."""

    AS_IT_SHOULD = "as it should be"
    EVIDENCE = "evidence"
    """It was played to its end and did not pass."""
    NO_EVIDENCE = "no evidence"
    """It ended early, so that its failing shows nothing."""
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One trial of a validation.

    Attributes:
        kind: who tried.
        name: of the solution, the other task or the cheat; empty where there is one only.
        run: id of the run that holds its log.
        result: how it went.
    """

    kind: Kind
    name: str
    run: str
    result: TrialResult

    @property
    def label(self) -> str:
        """Kind and name; the name alone where it says the kind."""
        return self.name if self.name == self.kind else f"{self.kind} {self.name}".strip()

    @property
    def meaning(self) -> Meaning:
        """What it shows about the task."""
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
        """What was tried, how it ended, and what that shows, in one line."""
        trial = self.result
        ended = f"{trial.verdict} ({trial.reason}, {trial.nodes_met}/{trial.nodes} nodes)"
        return f"{trial.task}.{trial.repeat}: {self.label}: {ended}: {self.meaning}"

    @property
    def fault(self) -> str:
        """What is wrong with the task, in one line; empty when nothing is."""
        if self.meaning is not Meaning.FAULT:
            return ""
        trial = self.result
        nodes = f"{trial.nodes_met} of {trial.nodes} nodes met"
        ended = f"{self.label} ended with {trial.verdict} ({trial.reason}, {nodes})"
        unmet = "; ".join(_unmet(row) for row in trial.unmet)
        why = trial.detail or (unmet if self.kind is Kind.ORACLE else "")
        return f"{ended}: {why}".rstrip(": ")

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON."""
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
        }


def _together(attempts: Sequence[Attempt]) -> str:
    """Return the fault of attempts that ended alike."""
    others = [attempt.label for attempt in attempts[1:]]
    return f"{attempts[0].fault} (likewise: {', '.join(others)})" if others else attempts[0].fault


def _unmet(row: Feedback) -> str:
    checks = f" [{', '.join(row.checks)}]" if row.checks else ""
    return f"{row.node}: {row.why}{checks}"


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether one task is sound.

    Attributes:
        task: its id.
        attempts: at it, those that must pass first.
    """

    task: str
    attempts: tuple[Attempt, ...]

    @property
    def evidence(self) -> int:
        """How many attempts show that it is not passed without doing it."""
        return sum(attempt.meaning is Meaning.EVIDENCE for attempt in self.attempts)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the task; empty when it is sound."""
        faulty = [attempt for attempt in self.attempts if attempt.fault]
        alike: dict[tuple[str, str], list[Attempt]] = {}
        for attempt in faulty:
            trial = attempt.result
            detail = trial.detail if trial.reason is Reason.TASK_ERROR else attempt.fault
            alike.setdefault((trial.reason, detail), []).append(attempt)
        faults = [_together(attempts) for attempts in alike.values()]
        if self.evidence < ENOUGH and not self.is_wrong:
            faults.append(
                f"only {self.evidence} attempts without doing it were played to their end, "
                f"{ENOUGH} are needed: add `must_fail` solutions"
            )
        return tuple(faults)

    @property
    def is_wrong(self) -> bool:
        """Whether the task itself is wrong, as two attempts and all others said; more tell nothing new."""
        reasons = [attempt.result.reason for attempt in self.attempts]
        return len(reasons) >= _CERTAIN and set(reasons) == {Reason.TASK_ERROR}

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {
            "task": self.task,
            "ok": not self.faults,
            "evidence": self.evidence,
            "attempts": [attempt.to_dict() for attempt in self.attempts],
            "faults": list(self.faults),
        }
