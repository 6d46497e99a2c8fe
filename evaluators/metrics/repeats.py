"""Repeats of a task: the probability of at least one pass in k trials, and of k passes.

For a task with n conclusive trials of which c passed:

* pass@k = 1 - C(n-c, k) / C(n, k), the probability that k trials drawn from the n include a pass;
* pass^k = C(c, k) / C(n, k), the probability that all k are passes.

Both are unbiased for every n of at least k. The value for several tasks is the mean over tasks,
with its 95 % interval over tasks. A task with fewer than k conclusive trials is left out for this
k.

Source: Chen et al., Evaluating Large Language Models Trained on Code, 2021, section 2.1 (pass@k);
Yao et al., tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains, 2024,
section 4 (pass^k).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.metrics.intervals import mean_of_tasks, task_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from provisioning.protocols import Json


def pass_at_k(passed: int, trials: int, k: int) -> float:
    """Return the probability that at least one of k of the trials passed.

    Raises:
        ValueError: not 1 <= k <= trials, or not 0 <= passed <= trials.
    """
    _check(passed, trials, k)
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_hat_k(passed: int, trials: int, k: int) -> float:
    """Return the probability that all of k of the trials passed.

    Raises:
        ValueError: not 1 <= k <= trials, or not 0 <= passed <= trials.
    """
    _check(passed, trials, k)
    return math.comb(passed, k) / math.comb(trials, k)


@dataclass(frozen=True, slots=True)
class Repeats:
    """Both metrics for one k.

    Attributes:
        k: number of trials.
        at: pass@k, mean over tasks; None if no task has k conclusive trials.
        hat: pass^k, likewise.
        at_interval: 95 % interval of pass@k over tasks, see `task_interval`.
        hat_interval: the same for pass^k.
        tasks: number of tasks with enough trials.
    """

    k: int
    at: float | None
    hat: float | None
    at_interval: tuple[float, float] | None
    hat_interval: tuple[float, float] | None
    tasks: int

    def to_dict(self) -> dict[str, Json]:
        """Return the metrics as JSON."""
        return {
            "k": self.k,
            "pass@k": self.at,
            "pass@k_95": None if self.at_interval is None else list(self.at_interval),
            "pass^k": self.hat,
            "pass^k_95": None if self.hat_interval is None else list(self.hat_interval),
            "tasks": self.tasks,
        }


def measure_repeats(counts: Iterable[tuple[int, int]], k: int) -> Repeats:
    """Compute both metrics over tasks.

    Args:
        counts: number of passed and of conclusive trials of each task.
        k: at least 1.

    Raises:
        ValueError: a count or k is out of range.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    enough = [(passed, trials) for passed, trials in counts if trials >= k]
    behind = sum(trials for _, trials in enough)
    at = [[pass_at_k(passed, trials, k)] for passed, trials in enough]
    hat = [[pass_hat_k(passed, trials, k)] for passed, trials in enough]
    return Repeats(
        k=k,
        at=mean_of_tasks(at),
        hat=mean_of_tasks(hat),
        at_interval=task_interval(at, trials=behind),
        hat_interval=task_interval(hat, trials=behind),
        tasks=len(enough),
    )


def _check(passed: int, trials: int, k: int) -> None:
    if not (0 <= passed <= trials and 1 <= k <= trials):
        raise ValueError(f"k must be from 1 to trials, got {passed} of {trials} passed, k = {k}")
