"""Find package names of phone applications in a suite that are probably misspelled."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from controller.actions.phone_shell import PACKAGES
from evaluators.model.oracle import WaitFor
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from provisioning.protocols import Json

_NEAR_RATIO = 0.88
_ARGUMENT = "package"


def misspelt_packages(suite: Suite) -> list[str]:
    """Return a note for each package name that is similar to one of the reference phone.

    This is not an error: other phones may have an application with that name.
    """
    known = list(PACKAGES.values())
    lines = []
    for task in suite.tasks:
        for name in dict.fromkeys(_packages_of(task)):
            near = difflib.get_close_matches(name, known, n=1, cutoff=_NEAR_RATIO)
            if near and name not in known:
                lines.append(
                    f"{task.id}: the reference phone has no application {name!r}. Did you mean {near[0]!r}?"
                )
    return lines


def _packages_of(task: Task) -> Iterator[str]:
    for role, args in _calls_of(task):
        value = args.get(_ARGUMENT)
        if task.place_of(role) == PHONE and isinstance(value, str):
            yield value


def _calls_of(task: Task) -> Iterator[tuple[str | None, Mapping[str, Json]]]:
    """Yield the role and arguments of each call in setup, nodes and solutions."""
    for node in task.graph:
        for check in node.checks:
            yield check.on, check.args
    for steps in (task.setup, *task.solutions.values(), *task.must_fail.values()):
        for step in steps:
            call = step.wait_for if isinstance(step, WaitFor) else step
            yield call.on, call.args
