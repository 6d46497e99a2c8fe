"""The steps of one attempt at a trial, with the files of their pictures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller.store.schema import member_of
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from controller.store.runs import RunFolder
    from provisioning.protocols import Json

_KINDS = {
    "observation": "start",
    "step": "step",
    "consulted": "consulted",
    "refused": "refused",
    "end": "end",
}


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of an attempt, its start or its end.

    Attributes:
        kind: ``start``, ``step``, ``consulted``, ``refused`` or ``end``.
        number: number of the last executed action.
        action: the action with its arguments; empty if there is none.
        outcome: nodes that the step met, why the action was refused, or the result.
        pictures: file of each role's screenshot after the step; a file may be missing.
    """

    kind: str
    number: int
    action: str
    outcome: str
    pictures: Mapping[str, Path]

    def to_dict(self) -> dict[str, Json]:
        """Return the step as JSON."""
        return {
            "kind": self.kind,
            "step": self.number,
            "action": self.action,
            "outcome": self.outcome,
            "pictures": {role: str(path) for role, path in self.pictures.items()},
        }


def read_steps(folder: RunFolder, task: str, repeat: int) -> list[StepRecord]:
    """Return the steps of a trial's last attempt, in order.

    Args:
        folder: the run.
        task: id of the task.
        repeat: number of the trial, from 0.

    Raises:
        UnknownNameError: the run has no such task.
        UsageError: the trial has not been started.
        StoreError: its log is damaged.
    """
    tasks = [spec.id for spec in folder.spec.tasks]
    if task not in tasks:
        raise UnknownNameError.of("task", task, tasks)
    events = folder.events(task, repeat)
    if not events:
        raise UsageError(
            f"The trial {task}.{repeat} of {folder.spec.run} was not started.",
            resolution=f"`--repeat` counts from 0; the run has {folder.spec.repeats} per task.",
        )
    return list(_steps(events, folder.path / "blobs"))


def _steps(events: list[dict[str, Any]], blobs: Path) -> Iterator[StepRecord]:
    number, screens = 0, dict[str, str]()
    for event in events:
        kind = _KINDS.get(event["type"])
        if kind is None:
            continue
        number, screens = event.get("n", number), event.get("screens", screens)
        yield StepRecord(
            kind,
            number,
            _describe(event.get("action")),
            _outcome(kind, event),
            {role: blobs / f"{digest}.png" for role, digest in sorted(screens.items())},
        )


def describe_handover(event: Mapping[str, Any]) -> str:
    """Return what a member of a team handed to others, found, or did not do; empty otherwise."""
    if event.get("skipped"):
        return "skipped"
    if target := event.get("target"):
        return f"{target!r} is at {event.get('point')}"
    rows = event.get("handovers") or []
    return "; ".join(f"to {row['to']}: {row['message']}" for row in rows)


def _describe(action: Mapping[str, Any] | None) -> str:
    if not action:
        return ""
    args = json.dumps(action["with"], ensure_ascii=False) if action.get("with") else ""
    place = f"on {action['on']}" if action.get("on") else ""
    return " ".join(part for part in (str(action["do"]), place, args) if part)


def _outcome(kind: str, event: Mapping[str, Any]) -> str:
    if kind == "end":
        result = event["result"]
        return ": ".join(
            part for part in (f"{result['verdict']} {result['reason']}", result["detail"]) if part
        )
    if kind == "consulted":
        return f"{member_of(event)}: {describe_handover(event)}"
    met = ", ".join(event.get("met", ()))
    return str(event.get("why", "")) or (f"met: {met}" if met else "")
