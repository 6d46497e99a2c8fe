"""Select the tasks of a run by name, pattern, tag, platform and subset, and override their limits."""

from __future__ import annotations

import fnmatch
from dataclasses import replace
from typing import TYPE_CHECKING

from evaluators.model.platforms import PLATFORMS, platform_of
from evaluators.model.statistics import Statistics
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.specification.run import LimitsSpec
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task

_WILDCARDS = "*?["


def choose_tasks(
    suite: Suite,
    patterns: Sequence[str] = (),
    tags: Sequence[str] = (),
    *,
    platforms: Sequence[str] = (),
    subset: str = "",
) -> tuple[str, ...]:
    """Return the ids of the selected tasks, in the order of the suite or of the subset.

    Args:
        suite: the suite to select from.
        patterns: ids, or patterns of ids such as ``desktop-*``; a task must match at least one.
        tags: a task must have at least one of them.
        platforms: a task must have one of them.
        subset: name of a subset that must have the task.

    Raises:
        UnknownNameError: there is no such platform, or the suite has no such id, tag or subset.
        UsageError: no task has tags, a pattern matches no task, or no task matches all.
    """
    suite = suite.only(subset) if subset else suite
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
    for platform in platforms:
        if platform not in PLATFORMS:
            raise UnknownNameError.of("platform", platform, PLATFORMS)
    for pattern in patterns:
        if not set(_WILDCARDS) & set(pattern):
            suite.task(pattern)
        elif not fnmatch.filter(ids, pattern):
            raise UsageError(
                f"No task of {suite.name} matches {pattern!r}.",
                resolution=f"Choose from these tasks: {', '.join(ids)}.",
            )
    chosen = tuple(
        task.id
        for task in suite.tasks
        if _matches(task, patterns, tags)
        and (not platforms or platform_of(task.kinds.values()) in platforms)
    )
    if not chosen:
        options = {"--task": patterns, "--tag": tags, "--platform": platforms, "--subset": subset}
        given = ", ".join(name for name, value in options.items() if value)
        raise UsageError(
            f"No task of {suite.name} matches all of {given}.",
            resolution="Omit one of these options, or select other tasks.",
        )
    return chosen


def narrow(
    suite: Suite,
    patterns: Sequence[str] = (),
    tags: Sequence[str] = (),
    *,
    platforms: Sequence[str] = (),
    subset: str = "",
) -> Suite:
    """Return a suite with the selected tasks only, without figures that it must have.

    For arguments and errors, see `choose_tasks`.
    """
    chosen = choose_tasks(suite, patterns, tags, platforms=platforms, subset=subset)
    tasks = tuple(suite.task(name) for name in chosen)
    return replace(suite, tasks=tasks, statistics=Statistics())


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
