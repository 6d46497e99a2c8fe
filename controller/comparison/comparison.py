"""Compare two runs task by task, excluding tasks that differ between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller.store.run_metrics import completed, passed, read_tracks, values_by_task
from evaluators.metrics.intervals import Comparison, compare
from foundation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.specification.run import RunSpec, TaskSpec
    from controller.store.run_metrics import Track
    from controller.store.runs import RunFolder
    from provisioning.protocols import Json

_COMPARED = ("action_space", "observation", "actions", "repeats", "retries", "seed", "order")
"""Parts of a specification whose effect is compared; differences in them are expected."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A part in which two specifications differ.

    Attributes:
        name: name of the part, such as ``agent.model``.
        first: value in the first run; None if there is none.
        second: value in the second run; None if there is none.
    """

    name: str
    first: Json
    second: Json

    def to_dict(self) -> dict[str, Json]:
        """Return the difference as JSON."""
        return {"name": self.name, "first": self.first, "second": self.second}


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Comparison of two runs on the tasks that are identical in both.

    Attributes:
        first: id of the first run.
        second: id of the second run.
        differences: the compared differences: agent, model, prompts, observation.
        tasks: ids of the tasks included in the figures.
        left_out: reason for excluding each other task, by id.
        warnings: other differences that may explain the results.
        success_rate: comparison of SR, second minus first; each task counts once.
        completion_ratio: comparison of CR, likewise.
    """

    first: str
    second: str
    differences: tuple[Difference, ...]
    tasks: tuple[str, ...]
    left_out: Mapping[str, str]
    warnings: tuple[str, ...]
    success_rate: Comparison
    completion_ratio: Comparison

    def to_dict(self) -> dict[str, Json]:
        """Return the comparison as JSON; keys are never removed."""
        return {
            "SR": self.success_rate.to_dict(),
            "CR": self.completion_ratio.to_dict(),
            "first": self.first,
            "second": self.second,
            "differences": [difference.to_dict() for difference in self.differences],
            "tasks": list(self.tasks),
            "left_out": dict(self.left_out),
            "warnings": list(self.warnings),
        }


def compare_runs(first: RunFolder, second: RunFolder, *, strict: bool = False) -> RunComparison:
    """Compare two runs of one suite.

    Args:
        first: the baseline run.
        second: the other run; differences are second minus first.
        strict: reject runs with differences other than the compared ones.

    Raises:
        UsageError: the runs are of different suites, have no identical task that was judged in
            both, or there are warnings and `strict` is set.
        StoreError: a log is damaged.
    """
    ours, theirs = first.spec, second.spec
    if ours.suite.name != theirs.suite.name:
        raise UsageError(
            f"{ours.run} and {theirs.run} are runs of different suites.",
            details=f"{ours.suite.name}, {theirs.suite.name}",
            resolution="Compare runs of the same suite.",
        )
    tracks = [
        [track for track in read_tracks(folder) if track.is_conclusive]
        for folder in (first, second)
    ]
    warnings = _warnings(ours, theirs, *(_accelerators(track) for track in tracks))
    if strict and warnings:
        raise UsageError(
            f"{ours.run} and {theirs.run} were not run under the same conditions.",
            details="\n".join(warnings),
            resolution="Compare them without --strict, or run both under the same conditions.",
        )
    left_out = _left_out(ours, theirs, *({track.result.task for track in side} for side in tracks))
    kept = tuple(task.id for task in ours.tasks if task.id not in left_out)
    if not kept:
        raise UsageError(
            f"{ours.run} and {theirs.run} have no comparable task.",
            details="\n".join(f"{name}: {reason}" for name, reason in left_out.items()),
            resolution="Compare runs that have conclusive trials of the same version of a task.",
        )
    return RunComparison(
        first=ours.run,
        second=theirs.run,
        differences=_differences(ours, theirs),
        tasks=kept,
        left_out=left_out,
        warnings=warnings,
        success_rate=compare(*(_only(values_by_task(track, passed), kept) for track in tracks)),
        completion_ratio=compare(
            *(_only(values_by_task(track, completed), kept) for track in tracks)
        ),
    )


def _only(values: Mapping[str, list[float]], tasks: tuple[str, ...]) -> dict[str, list[float]]:
    return {name: values[name] for name in tasks}


def _left_out(
    ours: RunSpec, theirs: RunSpec, our_trials: set[str], their_trials: set[str]
) -> dict[str, str]:
    first = {task.id: task for task in ours.tasks}
    second = {task.id: task for task in theirs.tasks}
    reasons = {}
    for name in dict.fromkeys((*first, *second)):
        if name not in first or name not in second:
            reason = f"only in {ours.run if name in first else theirs.run}"
        else:
            reason = _reason(first[name], second[name])
        if not reason:
            runs = ((ours.run, our_trials), (theirs.run, their_trials))
            missing = [run for run, names in runs if name not in names]
            reason = f"no conclusive trial in {' and '.join(missing)}" if missing else ""
        if reason:
            reasons[name] = reason
    return reasons


def _reason(first: TaskSpec, second: TaskSpec) -> str:
    """Return why two tasks of the same name are not identical; empty if they are."""
    parts = first.differences(second)
    return f"differs in: {', '.join(parts)}" if parts else ""


def _differences(ours: RunSpec, theirs: RunSpec) -> tuple[Difference, ...]:
    first, second = (
        _flatten("", {**_members(spec), **spec.model_dump(mode="json", include=set(_COMPARED))})
        for spec in (ours, theirs)
    )
    return tuple(
        Difference(name, first.get(name), second.get(name))
        for name in dict.fromkeys((*first, *second))
        if first.get(name) != second.get(name)
    )


def _members(spec: RunSpec) -> dict[str, Json]:
    """Return the agents of a run by the names of its members."""
    return {member.name: member.agent.model_dump(mode="json") for member in spec.agents}


def _flatten(name: str, value: Any) -> dict[str, Json]:  # noqa: ANN401 - any JSON
    if not isinstance(value, dict):
        return {name: value}
    leaves: dict[str, Json] = {}
    for key, part in value.items():
        leaves |= _flatten(f"{name}.{key}" if name else key, part)
    return leaves


def _warnings(
    ours: RunSpec, theirs: RunSpec, our_accelerators: set[str], their_accelerators: set[str]
) -> tuple[str, ...]:
    lines = []
    for kind in sorted({*ours.images, *theirs.images}):
        first, second = ours.images.get(kind), theirs.images.get(kind)
        if first != second:
            lines.append(f"image recipe of {kind}s: {_short(first)}, {_short(second)}")
    if our_accelerators != their_accelerators:
        names = ("+".join(sorted(side)) for side in (our_accelerators, their_accelerators))
        lines.append(f"accelerator: {', '.join(name or 'none' for name in names)}")
    if ours.code != theirs.code:
        lines.append(f"code: {ours.code}, {theirs.code}")
    elif ours.code.is_modified:
        lines.append(f"code: both {ours.code}; the modifications are unknown")
    return tuple(lines)


def _short(digest: str | None) -> str:
    return digest[:12] if digest else "unknown"


def _accelerators(tracks: list[Track]) -> set[str]:
    return {machine.accelerator for track in tracks for machine in track.result.machines} - {"none"}
