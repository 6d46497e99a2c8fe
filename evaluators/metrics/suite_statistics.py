"""Figures of a suite, and their comparison with those that it declares.

Nodes are those that earn credit: `keep` nodes are guards, and count for nothing in the papers that
publish such figures. A task without an application counts none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from evaluators.metrics.structure import Structure
from evaluators.model.platforms import PLATFORMS, platform_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluators.model.platforms import Platform
    from evaluators.model.statistics import Statistics
    from evaluators.model.subtask import Subtask
    from evaluators.model.task import Task
    from provisioning.protocols import Json

K = TypeVar("K", bound=str)
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a suite beside what is expected.

    Attributes:
        name: what is counted.
        value: the count, or the mean.
        expected: the expected value; None if the suite declares none.
        within: largest deviation.
    """

    name: str
    value: float
    expected: float | None = None
    within: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the figure is as expected, or nothing is."""
        if self.expected is None:
            return True
        return abs(self.value - self.expected) <= self.within + _ROUNDING

    def to_dict(self) -> dict[str, Json]:
        """Return the figure as JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "expected": self.expected,
            "within": self.within,
            "holds": self.holds,
        }


@dataclass(frozen=True, slots=True)
class SuiteStatistics:
    """Figures of a suite.

    Attributes:
        platforms: tasks by platform.
        composed: tasks composed of subtasks.
        hand_made: tasks written as a graph.
        subtasks: definitions of subtasks by platform.
        histogram: tasks by number of nodes, ascending.
        applications: number of applications of each task.
        tags: tasks by tag, sorted.
    """

    platforms: Mapping[Platform, int]
    composed: int
    hand_made: int
    subtasks: Mapping[Platform, int]
    histogram: Mapping[int, int]
    applications: Sequence[int]
    tags: Mapping[str, int] = field(default_factory=dict)

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self.composed + self.hand_made

    @property
    def nodes(self) -> int:
        """Number of nodes of all tasks."""
        return sum(size * count for size, count in self.histogram.items())

    @property
    def mean_applications(self) -> float:
        """Mean number of applications per task; 0 without tasks."""
        return fmean(self.applications) if self.applications else 0.0

    def figures(self, expected: Statistics) -> list[Figure]:
        """Return all figures, each with the one that the suite declares."""
        mean = expected.applications
        return [
            Figure("tasks", self.tasks, expected.tasks),
            *_rows("tasks", self.platforms, expected.platforms, PLATFORMS),
            Figure("composed tasks", self.composed, expected.composed),
            Figure("hand-made tasks", self.hand_made, expected.hand_made),
            *_rows("subtask templates", self.subtasks, expected.subtasks, PLATFORMS),
            Figure("nodes", self.nodes, expected.nodes),
            *self._bins(expected),
            Figure(
                "applications per task",
                self.mean_applications,
                mean.mean if mean else None,
                mean.within if mean else 0.0,
            ),
            *_rows("tasks tagged", self.tags, expected.tags, sorted({*self.tags, *expected.tags})),
        ]

    def _bins(self, expected: Statistics) -> Iterator[Figure]:
        """Yield the number of tasks of each size, up to the largest size here or expected."""
        wanted = expected.histogram
        largest = max([*self.histogram, len(wanted.tasks) if wanted else 0], default=0)
        for size in range(1, largest + 1):
            name = f"tasks of {size} {'node' if size == 1 else 'nodes'}"
            count = self.histogram.get(size, 0)
            if wanted is None:
                yield Figure(name, count)
            else:
                is_declared = size <= len(wanted.tasks)
                yield Figure(
                    name, count, wanted.tasks[size - 1] if is_declared else 0, wanted.within
                )

    def to_dict(self) -> dict[str, Json]:
        """Return the figures as JSON."""
        return {
            "tasks": self.tasks,
            "platforms": {str(name): count for name, count in self.platforms.items()},
            "composed": self.composed,
            "hand_made": self.hand_made,
            "subtasks": {str(name): count for name, count in self.subtasks.items()},
            "nodes": self.nodes,
            "histogram": {str(size): count for size, count in self.histogram.items()},
            "applications_per_task": self.mean_applications,
            "tags": dict(self.tags),
        }


def measure_suite(tasks: Sequence[Task], subtasks: Iterable[Subtask]) -> SuiteStatistics:
    """Count the tasks and subtasks of a suite.

    Args:
        tasks: its tasks.
        subtasks: its definitions of subtasks.
    """
    sizes = Counter(len(task.credit_nodes) for task in tasks)
    composed = sum(bool(task.parts) for task in tasks)
    return SuiteStatistics(
        platforms=_by_platform(platform_of(task.kinds.values()) for task in tasks),
        composed=composed,
        hand_made=len(tasks) - composed,
        subtasks=_by_platform(
            platform_of([spec.kind for spec in subtask.roles.values()]) for subtask in subtasks
        ),
        histogram=dict(sorted(sizes.items())),
        applications=[len(applications_of(task)) for task in tasks],
        tags=dict(sorted(Counter(tag for task in tasks for tag in task.tags).items())),
    )


def applications_of(task: Task) -> frozenset[str]:
    """Return the applications that the subtasks of a task use."""
    return frozenset(filter(None, Structure.of(task).apps.values()))


def _by_platform(platforms: Iterable[Platform]) -> dict[Platform, int]:
    counts = Counter(platforms)
    return {name: counts[name] for name in PLATFORMS if counts[name]}


def _rows(
    name: str, values: Mapping[K, int], expected: Mapping[K, int], keys: Sequence[K]
) -> Iterator[Figure]:
    """Yield a figure for each key that has tasks, or should have some."""
    for key in keys:
        if key in values or key in expected:
            yield Figure(f"{name}: {key}", values.get(key, 0), expected.get(key))
