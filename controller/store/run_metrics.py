"""Compute groups of metrics of a finished or unfinished run from its logs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evaluators.graph.outcome import Verdict
from evaluators.metrics.capabilities import AMENDED
from evaluators.metrics.complexity import measure_complexity
from evaluators.metrics.consistency import logical_consistency
from evaluators.metrics.intervals import RESAMPLES, SEED, bootstrap_interval, mean_of_tasks
from evaluators.metrics.progress import coverage_rate
from evaluators.metrics.repeats import measure_repeats
from evaluators.metrics.structure import Structure
from evaluators.metrics.trials import measure
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from controller.episode.result import TrialResult
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from evaluators.metrics.complexity import Complexity
    from provisioning.protocols import Json

RATES, REPEATS, COVERAGE = "rates", "repeats", "coverage"
CONSISTENCY, COMPLEXITY, CAPABILITIES = "consistency", "complexity", "capabilities"
GROUPS = (RATES, REPEATS, COVERAGE, CONSISTENCY, COMPLEXITY, CAPABILITIES)
ALL = "all"
NEED_SUITE = frozenset({COVERAGE, CONSISTENCY, COMPLEXITY, CAPABILITIES})
"""Groups that require the tasks' graphs, which are in the suite but not in the logs."""


@dataclass(frozen=True, slots=True)
class Track:
    """One finished trial and its path through the graph.

    Attributes:
        result: result of the trial.
        steps: nodes newly met by each step, in order; the last entry is for the final check.
        credit: nodes that are met at the end.
    """

    result: TrialResult
    steps: tuple[tuple[str, ...], ...]
    credit: frozenset[str]

    @property
    def is_conclusive(self) -> bool:
        """Whether the trial counts in metrics."""
        return self.result.verdict is not Verdict.INCONCLUSIVE


def read_tracks(folder: RunFolder) -> list[Track]:
    """Read the finished trials of a run, in the planned order.

    Raises:
        StoreError: a log is damaged.
    """
    tracks = []
    for task, repeat in folder.spec.planned:
        result = folder.result(task, repeat)
        if result is not None:
            tracks.append(_track(result, folder.events(task, repeat)))
    return tracks


def _track(result: TrialResult, events: Sequence[Mapping[str, Any]]) -> Track:
    steps = [tuple(row["met"]) for row in events if row["type"] == "step"]
    ends = [row["graph"] for row in events if row["type"] == "end"]
    nodes = ends[-1]["nodes"] if ends and ends[-1] else {}
    seen = {name for step in steps for name in step}
    late = [name for name, row in nodes.items() if row["met_at_step"] and name not in seen]
    credit = frozenset(name for name, row in nodes.items() if row["state"] == "met")
    return Track(result, (*steps, tuple(late)), credit)


def parse_groups(text: str) -> tuple[str, ...]:
    """Parse comma-separated names of groups, or ``all``.

    Raises:
        UnknownNameError: there is no such group; the error suggests similar names.
    """
    names = [word.strip() for word in text.split(",") if word.strip()]
    for name in names:
        if name not in (*GROUPS, ALL):
            raise UnknownNameError.of("group of metrics", name, (*GROUPS, ALL))
    return GROUPS if ALL in names else tuple(name for name in GROUPS if name in names)


class RunMetrics:
    """The metrics of one run.

    Args:
        folder: the run's folder.
        suite: the run's suite; without it, the groups of `NEED_SUITE` are unavailable.

    Raises:
        StoreError: a log is damaged.
        UsageError: the suite differs from that of the run.
    """

    def __init__(self, folder: RunFolder, suite: Suite | None) -> None:
        if suite is not None and suite.digest != folder.spec.suite.digest:
            raise UsageError(
                f"The suite {suite.name} has changed since {folder.spec.run}.",
                details=f"Its digest is {suite.digest}, the run's {folder.spec.suite.digest}.",
                resolution=f"Pass the original suite with --suite, or request only {RATES},{REPEATS}.",
            )
        self._folder = folder
        self._suite = suite
        self._tracks = [track for track in read_tracks(folder) if track.is_conclusive]
        self._results = folder.results()

    def to_dict(self, groups: Iterable[str]) -> dict[str, Json]:
        """Compute the given groups of `GROUPS`.

        Raises:
            UsageError: a group needs the suite, which is not available.
        """
        compute: Mapping[str, Callable[[], Json]] = {
            RATES: self._rates,
            REPEATS: self._repeats,
            COVERAGE: self._coverage,
            CONSISTENCY: self._consistency,
            COMPLEXITY: lambda: {
                name: complexity.to_dict() for name, complexity in self._complexities.items()
            },
            CAPABILITIES: self._capabilities,
        }
        return {group: compute[group]() for group in groups}

    def _rates(self) -> Json:
        metrics = measure([result.score for result in self._results])
        return {
            **metrics.to_dict(),
            "SR_bootstrap_95": _listed(bootstrap_interval(self._by_task(passed))),
            "CR_bootstrap_95": _listed(bootstrap_interval(self._by_task(completed))),
            "bootstrap": {"resamples": RESAMPLES, "seed": SEED},
        }

    def _repeats(self) -> Json:
        counts = [(int(sum(passes)), len(passes)) for passes in self._by_task(passed).values()]
        most = max((trials for _, trials in counts), default=0)
        return [measure_repeats(counts, k).to_dict() for k in range(1, most + 1)]

    def _coverage(self) -> Json:
        values = self._by_task(self._covered)
        return {
            "coverage": mean_of_tasks(values.values()),
            "bootstrap_95": _listed(bootstrap_interval(values)),
            "trials": len(self._tracks),
            "by_task": {name: mean_of_tasks([group]) for name, group in values.items()},
        }

    def _consistency(self) -> Json:
        rows = []
        for track in self._tracks:
            structure = self._structures[track.result.task]
            completions = structure.completions(track.steps)
            rows.append((track.result.task, logical_consistency(structure, completions)))
        variants = {
            "full": [(task, row.full) for task, row in rows],
            "prefix": [(task, row.prefix) for task, row in rows],
            "switching": [(task, row.switching) for task, row in rows],
        }
        return {name: _mean_by_task(pairs) for name, pairs in variants.items()}

    def _capabilities(self) -> Json:
        groups: dict[str, Json] = {}
        for name, capability in AMENDED.items():
            fitting = {
                task
                for task, complexity in self._complexities.items()
                if capability.fits(complexity)
            }
            values = self._by_task(self._covered, fitting)
            groups[name] = {
                "short": capability.short,
                "coverage": mean_of_tasks(values.values()),
                "tasks": len(fitting),
                "trials": sum(map(len, values.values())),
                "doubt": capability.doubt,
            }
        return groups

    def _covered(self, track: Track) -> float:
        structure = self._structures[track.result.task]
        return coverage_rate(structure, structure.completed(track.credit))

    def _by_task(
        self, value: Callable[[Track], float], tasks: Collection[str] | None = None
    ) -> dict[str, list[float]]:
        chosen = (track for track in self._tracks if tasks is None or track.result.task in tasks)
        return values_by_task(chosen, value)

    @cached_property
    def _known_suite(self) -> Suite:
        if self._suite is None:
            raise UsageError(
                f"These metrics need the suite {self._folder.spec.suite.name}, which is not available.",
                resolution="Pass its folder with --suite.",
            )
        return self._suite

    @cached_property
    def _structures(self) -> Mapping[str, Structure]:
        suite = self._known_suite
        return {task.id: Structure.of(suite.task(task.id)) for task in self._folder.spec.tasks}

    @cached_property
    def _complexities(self) -> Mapping[str, Complexity]:
        return {
            name: measure_complexity(structure, self._known_suite.applications)
            for name, structure in self._structures.items()
        }


def values_by_task(
    tracks: Iterable[Track], value: Callable[[Track], float]
) -> dict[str, list[float]]:
    """Return a value for each trial, grouped by task."""
    by_task: dict[str, list[float]] = {}
    for track in tracks:
        by_task.setdefault(track.result.task, []).append(value(track))
    return by_task


def passed(track: Track) -> float:
    """Return 1 if a trial passed, else 0."""
    return float(track.result.verdict is Verdict.PASS)


def completed(track: Track) -> float:
    """Return a trial's completion ratio, 0 to 1."""
    return track.result.score.completion_ratio


def _listed(interval: tuple[float, float] | None) -> Json:
    return None if interval is None else list(interval)


def _mean_by_task(pairs: Iterable[tuple[str, float | None]]) -> Json:
    by_task: dict[str, list[float]] = {}
    for task, value in pairs:
        if value is not None:
            by_task.setdefault(task, []).append(value)
    return {
        "mean": mean_of_tasks(by_task.values()),
        "trials": sum(map(len, by_task.values())),
    }
