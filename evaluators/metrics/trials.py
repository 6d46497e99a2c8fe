"""Score trials: success rate, completion ratio, execution efficiency, cost efficiency.

Source: Xu et al., CRAB: Cross-environment Agent Benchmark, 2024, section 4.3: CR = C / N (C nodes
completed of N), EE = CR / A (A actions executed), CE = CR / T (T model tokens), SR the share of
tasks of which every node is completed.

What the paper leaves open is set so:

* Inconclusive trials say nothing about the agent and enter no metric; they are counted apart.
* C is what has credit at the end: hold nodes that were undone do not count.
* A counts actions that were carried out, ``complete`` and ``wait`` too, refused ones not.
* EE of a trial without actions and CE of one without tokens (scripted agents) is undefined:
  None, not 0, and left out of the mean.
* A metric of several trials is the plain mean over trials, every repeat of a task being a trial.
* A metric of no trials is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.graph.outcome import Verdict
from evaluators.metrics.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from provisioning.protocols import Json


@dataclass(frozen=True, slots=True)
class TrialScore:
    """What the metrics need to know of one trial.

    Attributes:
        verdict: how it was judged.
        nodes_met: nodes with credit at the end.
        nodes: of the graph; at least 1.
        actions: carried out.
        tokens: used by the model, prompt and completion.

    Raises:
        ValueError: a count is negative, or `nodes_met` is above `nodes`, or there are no nodes.
    """

    verdict: Verdict
    nodes_met: int
    nodes: int
    actions: int
    tokens: int = 0

    def __post_init__(self) -> None:
        """Refuse what no trial can give."""
        if not (0 <= self.nodes_met <= self.nodes and self.nodes > 0):
            raise ValueError(f"{self.nodes_met} of {self.nodes} nodes cannot be met")
        if self.actions < 0 or self.tokens < 0:
            raise ValueError("actions and tokens cannot be negative")

    @property
    def completion_ratio(self) -> float:
        """C / N, from 0 to 1."""
        return self.nodes_met / self.nodes

    @property
    def execution_efficiency(self) -> float | None:
        """CR / A; None without actions."""
        return self.completion_ratio / self.actions if self.actions else None

    @property
    def cost_efficiency(self) -> float | None:
        """CR / T; None without tokens."""
        return self.completion_ratio / self.tokens if self.tokens else None


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of some trials; None where undefined.

    Attributes:
        success_rate: PASS among the conclusive ones, 0 to 1.
        success_interval: its 95 % Wilson interval.
        completion_ratio: mean CR.
        execution_efficiency: mean EE, 1 / action.
        cost_efficiency: mean CE, 1 / token.
        trials: how many conclusive ones there were.
        inconclusive: how many were left out.
    """

    success_rate: float | None
    success_interval: tuple[float, float] | None
    completion_ratio: float | None
    execution_efficiency: float | None
    cost_efficiency: float | None
    trials: int
    inconclusive: int

    def to_dict(self) -> dict[str, Json]:
        """Give them as results print them, under their short names."""
        return {
            "SR": self.success_rate,
            "SR_95": None if self.success_interval is None else list(self.success_interval),
            "CR": self.completion_ratio,
            "EE": self.execution_efficiency,
            "CE": self.cost_efficiency,
            "trials": self.trials,
            "inconclusive": self.inconclusive,
        }


def measure(scores: Sequence[TrialScore]) -> Metrics:
    """Compute the metrics of `scores`; any number of them, also none."""
    conclusive = [score for score in scores if score.verdict is not Verdict.INCONCLUSIVE]
    passed = sum(score.verdict is Verdict.PASS for score in conclusive)
    return Metrics(
        success_rate=passed / len(conclusive) if conclusive else None,
        success_interval=wilson_interval(passed, len(conclusive)) if conclusive else None,
        completion_ratio=_mean(score.completion_ratio for score in conclusive),
        execution_efficiency=_mean(score.execution_efficiency for score in conclusive),
        cost_efficiency=_mean(score.cost_efficiency for score in conclusive),
        trials=len(conclusive),
        inconclusive=len(scores) - len(conclusive),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
