"""Events of a run, reported while its jobs are executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controller.episode.result import TrialResult


@dataclass(frozen=True, slots=True)
class TrialId:
    """Identifies a trial of a run.

    Attributes:
        task: id of the task.
        repeat: number of the repetition, from 0.
    """

    task: str
    repeat: int

    def __str__(self) -> str:
        return f"{self.task}.{self.repeat}"


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """An attempt at a trial started: machines are being leased."""

    trial: TrialId
    attempt: int


@dataclass(frozen=True, slots=True)
class StepDone:
    """An action was executed and evaluated; `steps` is their number so far."""

    trial: TrialId
    attempt: int
    steps: int


@dataclass(frozen=True, slots=True)
class AttemptLost:
    """An attempt does not count because machines or the model failed; another one follows."""

    trial: TrialId
    attempt: int
    result: TrialResult


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """A trial has its result."""

    trial: TrialId
    attempt: int
    result: TrialResult


@dataclass(frozen=True, slots=True)
class RunPaused:
    """No further trials start: too many consecutive ones could not reach their model.

    Attributes:
        run: id of the run.
        left: number of trials that were not started.
    """

    run: str
    left: int


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """No further trials start: the run's budget is spent.

    Attributes:
        run: id of the run.
        excess: human-readable list of the budget's exhausted parts.
        left: number of trials that were not started.
    """

    run: str
    excess: str
    left: int


TrialEvent = TrialStarted | StepDone | AttemptLost | TrialEnded | RunPaused | BudgetSpent
"""Events of a run; distinguish them with ``match``."""


def ignore_event(_event: TrialEvent) -> None:
    """Discard an event."""
