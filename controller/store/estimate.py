"""Estimate the time and cost of a run, from earlier runs of the same agent on the same suite."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from controller.store.run_fleet import accelerators_of, fleet_of
from evaluators.graph.outcome import Verdict
from foundation.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.episode.result import TrialResult
    from controller.specification.run import RunSpec
    from controller.store.runs import RunFolder, Store
    from evaluators.loading.suite import Suite
    from provisioning.protocols import Json

_log = logging.getLogger(__name__)
_RUNS_READ = 20


@dataclass(frozen=True, slots=True)
class Estimate:
    """The trials of a run, with their estimated time and cost.

    Attributes:
        trials: number of trials.
        tasks: task ids, in execution order.
        machines: number of machines of each kind in use at a time.
        seconds: wall time; None if there are no comparable earlier trials.
        tokens: tokens of the model, in both directions; None likewise.
        usd: their price at the time; None likewise.
        trials_known: number of earlier trials that the figures are based on.
        tasks_unknown: tasks without earlier trials; the mean of the other tasks is used for them.
        runs: the earlier runs, all on the same fleet.
        fleet: the fleet: ``real`` or ``fake``.
        accelerator: accelerators of the earlier runs' virtual machines, joined by ``+``; empty if
            there were none.
    """

    trials: int
    tasks: tuple[str, ...]
    machines: dict[str, int]
    seconds: float | None
    tokens: float | None
    usd: float | None
    trials_known: int
    tasks_unknown: tuple[str, ...]
    runs: tuple[str, ...]
    fleet: str = "real"
    accelerator: str = ""

    def to_dict(self) -> dict[str, Json]:
        """Return the estimate as JSON."""
        return {**asdict(self), "tasks": list(self.tasks)}

    def lines(self) -> list[str]:
        """Return the estimate as human-readable lines."""
        machines = ", ".join(f"{count} {kind}" for kind, count in self.machines.items())
        lines = [
            f"{self.trials} trials of {len(self.tasks)} tasks: {', '.join(self.tasks)}",
            f"machines in use at a time: {machines}",
        ]
        under = f" under {self.accelerator}" if self.accelerator else ""
        on = f" on {'fake machines' if self.fleet == 'fake' else 'real machines'}{under}"
        if self.seconds is None or self.tokens is None or self.usd is None:
            return [
                *lines,
                f"time, tokens and cost: unknown; no earlier run of this agent on this suite{on}",
            ]
        known = f"based on {self.trials_known} trials of {len(self.runs)} earlier runs{on}"
        if self.tasks_unknown:
            known += f"; mean of the other tasks used for {', '.join(self.tasks_unknown)}"
        figures = (
            f"time about {self.seconds / 60:.1f} min, tokens about {self.tokens:.0f}, "
            f"cost about {self.usd:.2f} USD"
        )
        return [*lines, f"{figures} ({known})"]


def estimate(spec: RunSpec, suite: Suite, store: Store, *, parallel: int) -> Estimate:
    """Estimate a run that has not started.

    Args:
        spec: the run's specification.
        suite: the run's suite.
        store: the store of earlier runs; the latest of the same suite and agent are read.
        parallel: number of simultaneous trials.
    """
    earlier = _earlier(spec, store)
    names = tuple(task.id for task in spec.tasks)
    known: dict[str, list[TrialResult]] = {}
    for _, results in earlier:
        for result in results:
            if result.task in names and result.verdict is not Verdict.INCONCLUSIVE:
                known.setdefault(result.task, []).append(result)
    seconds = _sum(names, {task: [row.seconds for row in rows] for task, rows in known.items()})
    return Estimate(
        trials=len(spec.planned),
        tasks=names,
        machines=_machines(names, suite, parallel),
        seconds=None if seconds is None else seconds * spec.repeats / parallel,
        tokens=_times(spec.repeats, _sum(names, _usage(known, "total"))),
        usd=_times(spec.repeats, _sum(names, _usage(known, "usd"))),
        trials_known=sum(map(len, known.values())),
        tasks_unknown=tuple(name for name in names if name not in known),
        runs=tuple(folder.spec.run for folder, _ in earlier),
        fleet=spec.fleet or "real",
        accelerator="+".join(sorted(accelerators_of(earlier[0][1]))) if earlier else "",
    )


def _earlier(spec: RunSpec, store: Store) -> list[tuple[RunFolder, list[TrialResult]]]:
    """Return earlier runs on the same fleet, with the latest's accelerator, and their results."""
    earlier_runs: list[tuple[RunFolder, list[TrialResult]]] = []
    for name in reversed(store.names()):
        if len(earlier_runs) == _RUNS_READ:
            break
        try:
            folder = store.open(name)
            results = folder.results()
        except StoreError as exc:
            _log.warning("skipping run %s: %s", name, exc)
            continue
        if not results or not _is_like(folder.spec, results, spec):
            continue
        if not earlier_runs or accelerators_of(results) == accelerators_of(earlier_runs[0][1]):
            earlier_runs.append((folder, results))
    return earlier_runs


def _is_like(then: RunSpec, results: list[TrialResult], now: RunSpec) -> bool:
    is_same = (then.suite.name, then.agent_name) == (now.suite.name, now.agent_name)
    return is_same and fleet_of(then, results) == (now.fleet or "real")


def _usage(known: dict[str, list[TrialResult]], name: str) -> dict[str, list[float]]:
    return {task: [getattr(row.usage, name) for row in rows] for task, rows in known.items()}


def _sum(names: Sequence[str], known: dict[str, list[float]]) -> float | None:
    """Return the sum over tasks of their means; unknown ones count as the mean of the others."""
    means = {name: fmean(values) for name, values in known.items()}
    if not means:
        return None
    mean = fmean(means.values())
    return sum(means.get(name, mean) for name in names)


def _times(factor: int, value: float | None) -> float | None:
    return None if value is None else factor * value


def _machines(names: Sequence[str], suite: Suite, parallel: int) -> dict[str, int]:
    """Return the maximum number of machines of each kind that simultaneous trials need."""
    counts = [Counter(suite.task(name).kinds.values()) for name in names]
    kinds = sorted({kind for count in counts for kind in count})
    return {
        kind: sum(sorted((count[kind] for count in counts), reverse=True)[:parallel])
        for kind in kinds
    }
