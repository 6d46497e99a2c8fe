"""Order tasks by how hard they look, and choose the hardest ones of a suite.

Harder is, in this order: more nodes; more subtasks; more applications; a longer path of subtasks.
Ties keep the order of the suite. Only files are looked at, never results: a subset must not change
when somebody runs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.metrics.structure import Structure
from evaluators.metrics.suite_statistics import applications_of
from evaluators.model.platforms import platform_of
from foundation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evaluators.model.platforms import Platform
    from evaluators.model.task import Task


def by_hardness(tasks: Iterable[Task]) -> list[Task]:
    """Return tasks, hardest first."""
    return sorted(tasks, key=_hardness, reverse=True)


def hardest(
    tasks: Sequence[Task], count: int, platforms: Mapping[Platform, int] | None = None
) -> list[Task]:
    """Return the hardest tasks, hardest first.

    Args:
        tasks: tasks of a suite.
        count: how many.
        platforms: how many of each platform; together `count`.

    Raises:
        UsageError: there are fewer.
    """
    ordered = by_hardness(tasks)
    chosen = ordered[:count]
    if platforms:
        groups = {
            name: [task for task in ordered if platform_of(task.kinds.values()) == name][:wanted]
            for name, wanted in platforms.items()
        }
        chosen = by_hardness(task for group in groups.values() for task in group)
    if len(chosen) < count:
        raise UsageError(f"There are only {len(chosen)} such tasks, not {count}.")
    return chosen


def _hardness(task: Task) -> tuple[int, ...]:
    structure = Structure.of(task)
    return (
        len(task.credit_nodes),
        len(structure.order),
        len(applications_of(task)),
        max(structure.depths.values()),
    )
