"""How sure a figure is: Wilson and bootstrap intervals, and two agents on the same tasks.

Trials of one task are alike, so tasks and not trials are drawn: a run of many repeats of few tasks
knows little about other tasks, and its interval must say so. All chance comes from a fixed seed;
the same numbers give the same interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.protocols import Json

RESAMPLES = 10_000
_SEED = 20261121
_Z_95 = 1.959963984540054
_LARGEST_EXACT = 16


def wilson_interval(successes: int, trials: int, *, z: float = _Z_95) -> tuple[float, float]:
    """Give the Wilson score interval of a share.

    It treats trials as independent; repeats of one task are not quite, so with few tasks and many
    repeats it is too narrow.

    Args:
        successes: from 0 to `trials`.
        trials: at least 1.
        z: quantile of the normal distribution; 1.96 is 95 %, two-sided.

    Raises:
        ValueError: the counts are out of range.

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209-212.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} successes in {trials} trials cannot be")
    share = successes / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == trials else middle + half
    return low, high


def bootstrap_interval(
    by_task: Mapping[str, Sequence[float]],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> tuple[float, float] | None:
    """Give the percentile interval of the mean over trials, whole tasks drawn with replacement.

    Each draw takes as many tasks as there are, each with all its trials, and takes the mean over
    these trials. Tasks without values are left out. With fewer than two tasks nothing can be
    said: None. When all values are equal the interval has no width, which is a limit of the
    method and no certainty; beside it stands Wilson's.

    Args:
        by_task: values of the trials of each task, such as 1 and 0 for passed and not.
        confidence: above 0, below 1.
        resamples: number of draws.

    Source: Field and Welsh, Journal of the Royal Statistical Society B 69 (2007), 369-390, the
    cluster bootstrap; Efron, Annals of Statistics 7 (1979), 1-26, the percentile method.
    """
    groups = [values for values in by_task.values() if values]
    if len(groups) < 2:  # noqa: PLR2004 - one task has no spread among tasks
        return None
    sums = np.array([math.fsum(values) for values in groups])
    sizes = np.array([len(values) for values in groups])
    drawn = np.random.default_rng(_SEED).integers(0, len(groups), (resamples, len(groups)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two agents on the tasks that both have done.

    Attributes:
        tasks: how many there were.
        difference: mean over tasks of the second agent's mean less the first one's; None
            without tasks.
        interval: its 95 % bootstrap interval over tasks; None with fewer than two tasks.
        p_value: of the two-sided sign-flip test of no difference; None without tasks.
        better: tasks at which the second agent was better.
        worse: tasks at which it was worse; at the others they were equal.
    """

    tasks: int
    difference: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    better: int
    worse: int

    def to_dict(self) -> dict[str, Json]:
        """Give it as JSON."""
        return {
            "tasks": self.tasks,
            "difference": self.difference,
            "difference_95": None if self.interval is None else list(self.interval),
            "p": self.p_value,
            "better": self.better,
            "worse": self.worse,
        }


def compare(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> Comparison:
    """Compare two agents task by task, so that hard tasks weigh on both alike.

    Each task counts once, by the mean of its trials, however many there were. Tasks that only one
    of them has values for are left out. The test asks how often chance, giving each task's
    difference a random sign, makes a mean at least as far from 0: counted over all signs up to 16
    tasks that differ, else estimated from 100 000 draws (the observed one counted with them, so
    that it is never 0).

    Args:
        first: values of the trials by task.
        second: the same of the other agent.

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
    signs = np.random.default_rng(_SEED).choice(np.array([-1.0, 1.0]), (draws, len(moving)))
    hits = int((np.abs(signs @ moving) >= observed - slack).sum())
    return (hits + 1) / (draws + 1)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
