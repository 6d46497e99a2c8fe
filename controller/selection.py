"""Select the tasks of a run by name, pattern and tag, and override their limits."""

from __future__ import annotations

import fnmatch
from dataclasses import replace
from typing import TYPE_CHECKING

from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.specification.run import LimitsSpec
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task

_WILDCARDS = "*?["


def choose_tasks(
    suite: Suite, patterns: Sequence[str] = (), tags: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the ids of the selected tasks, in the order of the suite.

    Args:
        suite: the suite to select from.
        patterns: ids, or patterns of ids such as ``desktop-*``; a task must match at least one.
        tags: a task must have at least one of them.

    Raises:
        UnknownNameError: the suite does not have such an id or tag.
        UsageError: no task has tags, a pattern matches no task, or no task matches both.
    """
    ids = [task.id for task in suite.tasks]
    known_tags = {tag for task in suite.tasks for tag in task.tags}
    if tags and not known_tags:
        raise UsageError(
            f"No task of {suite.name} has tags.",
            resolution=f"Omit --tag, or select tasks with --task: {', '.join(ids)}.",
        )
    for tag in tags:
        if tag not in known_tags:
            raise UnknownNameError.of("tag", tag, known_tags)
    for pattern in patterns:
        if not set(_WILDCARDS) & set(pattern):
            suite.task(pattern)
        elif not fnmatch.filter(ids, pattern):
            raise UsageError(
                f"No task of {suite.name} matches {pattern!r}.",
                resolution=f"Choose from these tasks: {', '.join(ids)}.",
            )
    chosen = tuple(task.id for task in suite.tasks if _matches(task, patterns, tags))
    if not chosen:
        raise UsageError(
            f"No task of {suite.name} matches both --task and --tag.",
            resolution="Omit one of the two options, or select other tasks or tags.",
        )
    return chosen


def with_limits(suite: Suite, limits: LimitsSpec) -> Suite:
    """Return a copy of a suite in which the run's limits replace those of the tasks."""
    update = {name: value for name, value in limits.model_dump().items() if value is not None}
    if not update:
        return suite
    tasks = tuple(
        task.model_copy(update={"limits": task.limits.model_copy(update=update)})
        for task in suite.tasks
    )
    return replace(suite, tasks=tasks)


def _matches(task: Task, patterns: Sequence[str], tags: Sequence[str]) -> bool:
    is_named = not patterns or any(fnmatch.fnmatchcase(task.id, pattern) for pattern in patterns)
    return is_named and (not tags or bool(set(tags) & set(task.tags)))
