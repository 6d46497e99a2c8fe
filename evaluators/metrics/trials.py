"""Score trials: success rate, completion ratio, execution efficiency, cost efficiency.

Source: Xu et al., CRAB: Cross-environment Agent Benchmark, 2024, section 4.3: CR = C / N (C nodes
completed of N), EE = CR / A (A actions executed), CE = CR / T (T model tokens), SR is the
proportion of tasks in which every node is completed.

Definitions that the paper leaves open:

* Inconclusive trials say nothing about the agent and are excluded from metrics; they are counted
separately, and the bounds of SR count all of them as FAIL and all of them as PASS.
* C is the number of nodes with credit at the end: undone hold nodes do not count. Keep nodes are in
neither C nor N.
* A counts executed actions, including ``complete`` and ``wait``, but not rejected ones.
* EE is 0 if CR is 0, regardless of A: an agent must not benefit from doing nothing. EE of a trial
with credit and no action is undefined and left out of the mean, as is CE without tokens. If other
trials used tokens, CE is 0 for trials with CR 0; if none did (scripted agents), CE is None.
* T is the sum over all models of a trial's agents and over all their replies. If a reply did not
report its usage, T is unknown, and CE is undefined whatever CR is: leaving out only trials with
credit would bias the mean.
* A metric of several trials is the mean over tasks of the mean over a task's trials, so that every
task has the same weight, regardless of how many of its trials were inconclusive.
* A metric of no trials is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from evaluators.graph.outcome import Verdict
from evaluators.metrics.intervals import mean_of_tasks, task_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from provisioning.protocols import Json


@dataclass(frozen=True, slots=True)
class TrialScore:
    """Input of the metrics for one trial.

    Attributes:
        task: id of the task.
        verdict: verdict on the trial.
        nodes_met: nodes with credit at the end.
        nodes: nodes of the graph that earn credit; at least 1.
        actions: number of executed actions.
        tokens: number of prompt and completion tokens of the model; None if it did not report all.

    Raises:
        ValueError: a count is negative, or `nodes_met` exceeds `nodes`, or there are no nodes.
    """

    task: str
    verdict: Verdict
    nodes_met: int
    nodes: int
    actions: int
    tokens: int | None = 0

    def __post_init__(self) -> None:
        """Reject impossible counts."""
        if not (0 <= self.nodes_met <= self.nodes and self.nodes > 0):
            raise ValueError(f"nodes_met must be from 0 to {self.nodes}, got {self.nodes_met}")
        if self.actions < 0 or (self.tokens or 0) < 0:
            raise ValueError(f"counts must not be negative, got {self.actions}, {self.tokens}")

    @property
    def is_conclusive(self) -> bool:
        """Whether the verdict says anything about the agent."""
        return self.verdict is not Verdict.INCONCLUSIVE

    @property
    def completion_ratio(self) -> float:
        """C / N, from 0 to 1."""
        return self.nodes_met / self.nodes

    @property
    def execution_efficiency(self) -> float | None:
        """CR / A; 0 without credit, None with credit but without actions."""
        return self._efficiency(self.actions)

    @property
    def cost_efficiency(self) -> float | None:
        """CR / T; 0 without credit, None with credit but without tokens, or if T is unknown."""
        return None if self.tokens is None else self._efficiency(self.tokens)

    def _efficiency(self, cost: int) -> float | None:
        if not self.nodes_met:
            return 0.0
        # Reported token counts can be arbitrarily large: one beyond the range of floats gives 0.
        return float(Fraction(self.nodes_met, self.nodes * cost)) if cost else None


@dataclass(frozen=True, slots=True)
class Metrics:
    """Metrics of a set of trials; None if undefined.

    Attributes:
        success_rate: proportion of PASS among the conclusive trials, 0 to 1.
        success_interval: its 95 % interval over tasks, see `task_interval`.
        success_bounds: SR with all inconclusive trials counted as FAIL, and as PASS.
        completion_ratio: mean CR.
        execution_efficiency: mean EE, 1 / action.
        cost_efficiency: mean CE, 1 / token.
        tasks: number of tasks with conclusive trials.
        trials: number of conclusive trials.
        inconclusive: number of inconclusive trials.
    """

    success_rate: float | None
    success_interval: tuple[float, float] | None
    success_bounds: tuple[float, float] | None
    completion_ratio: float | None
    execution_efficiency: float | None
    cost_efficiency: float | None
    tasks: int
    trials: int
    inconclusive: int

    def to_dict(self) -> dict[str, Json]:
        """Return the metrics under their short names, as in results."""
        return {
            "SR": self.success_rate,
            "SR_95": None if self.success_interval is None else list(self.success_interval),
            "SR_bounds": None if self.success_bounds is None else list(self.success_bounds),
            "CR": self.completion_ratio,
            "EE": self.execution_efficiency,
            "CE": self.cost_efficiency,
            "tasks": self.tasks,
            "trials": self.trials,
            "inconclusive": self.inconclusive,
        }


def measure(scores: Sequence[TrialScore]) -> Metrics:
    """Compute the metrics of `scores`, which may be empty."""
    conclusive = [score for score in scores if score.is_conclusive]
    passes = _by_task(conclusive, lambda score: float(score.verdict is Verdict.PASS))
    uses_model = any(score.tokens for score in conclusive)
    return Metrics(
        success_rate=mean_of_tasks(passes),
        success_interval=task_interval(passes),
        success_bounds=_success_bounds(scores),
        completion_ratio=_mean_by_task(conclusive, lambda score: score.completion_ratio),
        execution_efficiency=_mean_by_task(conclusive, lambda score: score.execution_efficiency),
        cost_efficiency=_mean_by_task(conclusive, lambda score: score.cost_efficiency)
        if uses_model
        else None,
        tasks=len(passes),
        trials=len(conclusive),
        inconclusive=len(scores) - len(conclusive),
    )


def _success_bounds(scores: Sequence[TrialScore]) -> tuple[float, float] | None:
    low = _mean_by_task(scores, lambda score: float(score.verdict is Verdict.PASS))
    high = _mean_by_task(scores, lambda score: float(score.verdict is not Verdict.FAIL))
    return None if low is None or high is None else (low, high)


def _mean_by_task(
    scores: Iterable[TrialScore], value: Callable[[TrialScore], float | None]
) -> float | None:
    return mean_of_tasks(_by_task(scores, value))


def _by_task(
    scores: Iterable[TrialScore], value: Callable[[TrialScore], float | None]
) -> list[list[float]]:
    """Return the defined values of each task's trials."""
    by_task: dict[str, list[float]] = {}
    for score in scores:
        known = value(score)
        if known is not None:
            by_task.setdefault(score.task, []).append(known)
    return list(by_task.values())
