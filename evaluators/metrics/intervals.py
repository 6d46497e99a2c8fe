"""Uncertainty of metrics: intervals over tasks, and the comparison of two agents.

Trials of one task are correlated, so the sampling unit is the task, not the trial: a run with many
repeats of few tasks says little about other tasks, and its interval must reflect that. Every metric
gives each task the same weight, with the mean of its trials.

`task_interval` is Wilson's interval with the effective number of observations instead of the number
of trials. It is the default for proportions, because the percentile bootstrap over tasks is too
narrow for few tasks and has zero width at 0 and 1. `bootstrap_interval` is for means that are not
proportions and for differences. Measured coverage of both: docs/decisions/2026-11-22-intervals.md.

The bootstrap uses a fixed seed: the same values give the same interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from provisioning.protocols import Json

RESAMPLES = 10_000
SEED = 20261121
_Z_95 = 1.959963984540054
_LARGEST_EXACT = 16


def wilson_interval(successes: float, trials: float, *, z: float = _Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion of independent trials.

    Args:
        successes: from 0 to `trials`; not necessarily an integer.
        trials: above 0; not necessarily an integer.
        z: quantile of the normal distribution; 1.96 is 95 %, two-sided.

    Raises:
        ValueError: the counts are out of range.

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209-212.
    """
    if not (0 <= successes <= trials and trials > 0):
        raise ValueError(f"successes must be from 0 to trials, got {successes} of {trials}")
    share = successes / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else min(middle - half, share)
    high = 1.0 if successes == trials else max(middle + half, share)
    return low, high


def mean_of_tasks(by_task: Iterable[Collection[float]]) -> float | None:
    """Return the mean over tasks of the mean of their values; None without any value.

    Args:
        by_task: values of the trials of each task; tasks without values are left out.
    """
    means = _task_means(by_task)
    return _mean(means) if means else None


def task_interval(
    by_task: Iterable[Collection[float]], *, trials: int | None = None
) -> tuple[float, float] | None:
    """Return the 95 % interval of `mean_of_tasks` for values from 0 to 1; None without values.

    Wilson's interval of the mean m with n observations, n = m (1 - m) / v, where v is the variance
    of the mean estimated between tasks. n is at most the number of trials, and equals the number of
    tasks if all tasks agree on 0 or 1. A single task counts as one observation.

    Args:
        by_task: values of the trials of each task; tasks without values are left out.
        trials: number of trials that the values summarise; by default the number of values.

    Raises:
        ValueError: a value is out of range.

    Source: Korn and Graubard, Survey Methodology 24 (1998), 193-201, the effective sample size of
    a clustered sample; Dean and Pagano, Journal of Survey Statistics and Methodology 3 (2015),
    484-503, Wilson's interval with it; Miller, Adding Error Bars to Evals (2024), on clusters.
    """
    groups = [values for values in by_task if values]
    if not groups:
        return None
    if any(not 0 <= value <= 1 for values in groups for value in values):
        raise ValueError("values must be from 0 to 1")
    means = _task_means(groups)
    mean = min(1.0, max(0.0, _mean(means)))
    observations = _effective_observations(means, mean, trials or sum(map(len, groups)))
    return wilson_interval(mean * observations, observations)


def _effective_observations(means: Sequence[float], mean: float, trials: int) -> float:
    tasks = len(means)
    if tasks == 1:
        return 1.0
    if mean in {0.0, 1.0}:
        return float(tasks)
    spread = math.fsum((value - mean) ** 2 for value in means)
    variance = spread / (tasks * (tasks - 1))
    most = mean * (1 - mean)
    return min(float(trials), most / variance) if variance > most / trials else float(trials)


def bootstrap_interval(
    by_task: Mapping[str, Collection[float]],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval of `mean_of_tasks`, with tasks drawn with replacement.

    Tasks without values are left out. With fewer than two tasks the result is None. If all tasks
    have the same mean, the interval has zero width, which is a limitation of the method and does
    not mean certainty.

    Args:
        by_task: values of the trials of each task.
        confidence: above 0, below 1.
        resamples: number of draws.

    Source: Field and Welsh, Journal of the Royal Statistical Society B 69 (2007), 369-390, the
    cluster bootstrap; Efron, Annals of Statistics 7 (1979), 1-26, the percentile method.
    """
    means = np.array(_task_means(by_task.values()))
    if len(means) < 2:  # noqa: PLR2004 - one task has no spread among tasks
        return None
    drawn = np.random.default_rng(SEED).integers(0, len(means), (resamples, len(means)))
    tail = (1 - confidence) / 2
    low, high = np.quantile(means[drawn].mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of two agents on the tasks for which both have values.

    Attributes:
        tasks: number of tasks.
        difference: mean over tasks of the second agent's mean minus the first one's; None without
            tasks.
        interval: its 95 % bootstrap interval over tasks; None with fewer than two tasks.
        p_value: p-value of the two-sided sign-flip test of no difference; None without tasks.
        better: number of tasks on which the second agent was better.
        worse: number of tasks on which it was worse; on the others they were equal.
    """

    tasks: int
    difference: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    better: int
    worse: int

    def to_dict(self) -> dict[str, Json]:
        """Return the comparison as JSON."""
        return {
            "tasks": self.tasks,
            "difference": self.difference,
            "difference_95": None if self.interval is None else list(self.interval),
            "p": self.p_value,
            "better": self.better,
            "worse": self.worse,
            "seed": SEED,
        }


def compare(
    first: Mapping[str, Collection[float]], second: Mapping[str, Collection[float]]
) -> Comparison:
    """Compare two agents task by task, so that hard tasks affect both equally.

    Each task counts once, with the mean of its trials. Tasks for which only one agent has values
    are left out. The p-value is the proportion of random signs of the tasks' differences that give
    a mean at least as far from 0: exact over all signs for up to 16 tasks that differ, otherwise
    estimated from 100 000 draws (including the observed one, so that it is never 0).

    Args:
        first: values of the trials by task.
        second: the same for the other agent.

    Source: Fisher, The Design of Experiments (1935), section 21, the randomisation test; Phipson
    and Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39,
    on counting the observed draw.
    """
    shared = [name for name in first if first[name] and second.get(name)]
    gaps = np.array([_mean(second[name]) - _mean(first[name]) for name in shared])
    return Comparison(
        tasks=len(shared),
        difference=float(gaps.mean()) if shared else None,
        interval=bootstrap_interval({name: [gap] for name, gap in zip(shared, gaps, strict=True)}),
        p_value=_sign_flip_p(gaps) if shared else None,
        better=int((gaps > 0).sum()),
        worse=int((gaps < 0).sum()),
    )


def _sign_flip_p(gaps: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    moving = np.abs(gaps[gaps != 0])
    observed = abs(float(gaps.sum()))
    slack = 1e-9 * max(1.0, observed)
    if len(moving) <= _LARGEST_EXACT:
        bits = np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1
        sums = np.abs((bits * 2 - 1) @ moving)
        return float((sums >= observed - slack).mean())
    draws = 100_000
    signs = np.random.default_rng(SEED).choice(np.array([-1.0, 1.0]), (draws, len(moving)))
    hits = int((np.abs(signs @ moving) >= observed - slack).sum())
    return (hits + 1) / (draws + 1)


def _task_means(by_task: Iterable[Collection[float]]) -> list[float]:
    return [_mean(values) for values in by_task if values]


def _mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values)
