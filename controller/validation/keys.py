"""Keys of attempts: digests of all that decides what an attempt shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.validation import cheats
from evaluators.source_digest import SourceDigester
from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.validation.rounds import Round
    from evaluators.loading.suite import Suite
    from evaluators.model.oracle import OracleStep
    from evaluators.model.task import Task

_KEY_CHARS = 32


def attempt_key(work: Round, task: Task, suite: Suite, images: Mapping[str, str]) -> str:
    """Return the key of a round's attempts at a task, in addition to the key of the task.

    Args:
        work: the round.
        task: the task.
        suite: its suite, with the tasks whose solutions are tried on others.
        images: recipes of the images of all tasks, by key of what they need.
    """
    name = work.names[task.id]
    needs = {spec.key for spec in task.roles.values()}
    return digest_json(
        [
            work.kind.value,
            name,
            work.repeats,
            work.seed,
            work.has_credits,
            _played(work, task, name, suite),
            {key: digest for key, digest in sorted(images.items()) if key in needs},
        ]
    )[:_KEY_CHARS]


def _played(work: Round, task: Task, name: str, suite: Suite) -> object:
    """Return what a round plays on a task, as JSON."""
    if work.plays == "solution":
        # What may change is no part of the task's own digest: it decides no score.
        allowed = {role: row.model_dump(mode="json") for role, row in task.may_change.items()}
        return [_dump(task.solutions[name]), allowed]
    if work.plays == "must fail":
        return _dump(task.must_fail[name])
    if work.plays == "other":
        other = suite.task(name)
        parameters = {key: row.model_dump(mode="json") for key, row in other.parameters.items()}
        return [_dump(next(iter(other.solutions.values()))), parameters]
    return SourceDigester().digest(cheats.CheatDriver) if work.plays == "cheat" else None


def _dump(steps: Sequence[OracleStep]) -> list[object]:
    return [step.model_dump(mode="json", by_alias=True) for step in steps]
