"""What repeats of a task say: passed at least once in k, passed every time in k.

A task with n conclusive trials of which c passed gives

* pass@k = 1 - C(n-c, k) / C(n, k), the chance that k trials drawn from the n hold a pass;
* pass^k = C(c, k) / C(n, k), the chance that all k drawn are passes.

Both are free of bias for every n of at least k. A figure of several tasks is the plain mean over
tasks. A task with fewer than k conclusive trials says nothing about k and is left out.

Source: Chen et al., Evaluating Large Language Models Trained on Code, 2021, section 2.1 (pass@k);
Yao et al., tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains, 2024,
section 4 (pass^k).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from provisioning.protocols import Json


def pass_at_k(passed: int, trials: int, k: int) -> float:
    """Give the chance that at least one of k of the trials passed.

    Raises:
        ValueError: not 1 <= k <= trials, or not 0 <= passed <= trials.
    """
    _check(passed, trials, k)
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_hat_k(passed: int, trials: int, k: int) -> float:
    """Give the chance that all of k of the trials passed.

    Raises:
        ValueError: not 1 <= k <= trials, or not 0 <= passed <= trials.
    """
    _check(passed, trials, k)
    return math.comb(passed, k) / math.comb(trials, k)


@dataclass(frozen=True, slots=True)
class Repeats:
    """Both figures for one k.

    Attributes:
        k: how many trials.
        at: pass@k, mean over tasks; None when no task has k conclusive trials.
        hat: pass^k, the same.
        tasks: how many tasks had enough trials.
    """

    k: int
    at: float | None
    hat: float | None
    tasks: int

    def to_dict(self) -> dict[str, Json]:
        """Give it as JSON."""
        return {"k": self.k, "pass@k": self.at, "pass^k": self.hat, "tasks": self.tasks}


def measure_repeats(counts: Iterable[tuple[int, int]], k: int) -> Repeats:
    """Compute both over tasks.

    Args:
        counts: passed and conclusive trials of each task.
        k: at least 1.

    Raises:
        ValueError: a count or k is out of range.
    """
    if k < 1:
        raise ValueError(f"k = {k} cannot be")
    enough = [(passed, trials) for passed, trials in counts if trials >= k]
    if not enough:
        return Repeats(k, None, None, 0)
    return Repeats(
        k,
        math.fsum(pass_at_k(passed, trials, k) for passed, trials in enough) / len(enough),
        math.fsum(pass_hat_k(passed, trials, k) for passed, trials in enough) / len(enough),
        len(enough),
    )


def _check(passed: int, trials: int, k: int) -> None:
    if not (0 <= passed <= trials and 1 <= k <= trials):
        raise ValueError(f"{passed} of {trials} trials passed, k = {k}: cannot be")
