"""Data that a session keeps of an episode: compressed pictures, no frames or machines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from controller.episode.result import INCONCLUSIVE, Reason
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.episode.result import TrialResult
    from controller.episode.step import Evaluation, Step
    from controller.observation.marks import Mark
    from controller.observation.observer import Observation
    from controller.observation.results import ActionResult
    from evaluators.graph.feedback import Feedback
    from provisioning.protocols import Element, Json


class Fault(StrEnum):
    """Cause of an inconclusive episode."""

    NONE = "none"
    """The episode has a verdict."""
    INFRASTRUCTURE = "infrastructure"
    TASK = "task"
    CANCELLED = "cancelled"


_FAULTS = {
    Reason.EVALUATOR_ERROR: Fault.TASK,
    Reason.TASK_ERROR: Fault.TASK,
    Reason.CANCELLED: Fault.CANCELLED,
}
_TRUNCATED = frozenset(
    {
        Reason.STEP_LIMIT,
        Reason.TIME_LIMIT,
        Reason.TOKEN_LIMIT,
        Reason.MONEY_LIMIT,
        Reason.REPETITION_LIMIT,
        Reason.STALLED_LIMIT,
    }
    | INCONCLUSIVE
)
_REWARDS: dict[Verdict, float | None] = {
    Verdict.PASS: 1.0,
    Verdict.FAIL: 0.0,
    Verdict.INCONCLUSIVE: None,
}


def fault_of(reason: Reason) -> Fault:
    """Return the fault that an end reason indicates."""
    if reason not in INCONCLUSIVE:
        return Fault.NONE
    return _FAULTS.get(reason, Fault.INFRASTRUCTURE)


def is_truncated(reason: Reason) -> bool:
    """Return whether an episode was truncated, by a limit or a fault, rather than terminated."""
    return reason in _TRUNCATED


def reward_of(result: TrialResult | None) -> float | None:
    """Return the reward of a step: 1 for PASS, 0 for FAIL and before the end, None if inconclusive."""
    return 0.0 if result is None else _REWARDS[result.verdict]


@dataclass(frozen=True, slots=True)
class Picture:
    """A compressed screenshot."""

    width: int
    height: int
    png: bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class ObservationSummary:
    """An observation without its frames."""

    step: int
    pictures: Mapping[str, Picture]
    feedback: str
    trees: Mapping[str, Sequence[Element]]
    progress: tuple[str, ...]
    marks: Mapping[str, Sequence[Mark]]
    texts: Mapping[str, Sequence[str]]
    tree_faults: Mapping[str, str]
    found: Mapping[str, Mapping[str, Json]]
    results: tuple[ActionResult, ...] = ()

    @classmethod
    def of(cls, observation: Observation) -> ObservationSummary:
        """Compress an observation."""
        pictures = {
            role: Picture(shot.frame.shape[1], shot.frame.shape[0], shot.png, shot.digest)
            for role, shot in observation.shots.items()
        }
        return cls(
            observation.step,
            pictures,
            observation.feedback,
            observation.trees,
            observation.progress,
            observation.marks,
            observation.texts,
            observation.tree_faults,
            observation.found,
            observation.results,
        )


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Outcome of one turn; only the last one has a `result`."""

    seen: ObservationSummary
    newly_met: tuple[str, ...]
    result: TrialResult | None = None

    @classmethod
    def of(cls, step: Step, result: TrialResult | None) -> StepOutcome:
        """Compress the outcome of a step."""
        return cls(ObservationSummary.of(step.observation), step.newly_met, result)


@dataclass(frozen=True, slots=True)
class Standing:
    """Evaluation of an episode: final, or as if it ended now.

    Attributes:
        verdict: INCONCLUSIVE if an evaluator could not decide.
        nodes_met: number of nodes with credit.
        nodes: number of all nodes.
        unmet: why the other nodes have no credit.
        is_final: whether the episode is over.
    """

    verdict: Verdict
    nodes_met: int
    nodes: int
    unmet: tuple[Feedback, ...]
    is_final: bool

    @classmethod
    def of_evaluation(cls, evaluation: Evaluation) -> Standing:
        """Return the standing of a running episode."""
        met = len(evaluation.met)
        return cls(evaluation.verdict, met, evaluation.nodes, evaluation.unmet, is_final=False)

    @classmethod
    def of_result(cls, result: TrialResult) -> Standing:
        """Return the standing of an episode that is over."""
        met, nodes = result.nodes_met, result.nodes
        return cls(result.verdict, met, nodes, result.unmet, is_final=True)
