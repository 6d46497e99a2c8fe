"""Write trajectories to a folder: one file a trial and format, pictures once, resumable.

::

    <folder>/export.json                 what was selected, and what came of it; written last
    <folder>/trials.jsonl                one row a trial: verdict, reward, nodes, time
    <folder>/atif/<trial>.json           ATIF
    <folder>/messages/<trial>.jsonl      one row a reply
    <folder>/images/<sha256>.png         pictures
    <folder>/trials/<trial>.json         its row; written when its other files are complete
"""

from __future__ import annotations

import fnmatch
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from controller.store.runs import Attempt
from controller.trajectories.atif import to_atif
from controller.trajectories.messages import to_rows
from controller.trajectories.pictures import FOLDER, Pictures
from controller.trajectories.reading import read_trajectory
from controller.trajectories.rewards import describe_result, total_time
from evaluators.graph.outcome import Verdict
from foundation.errors import StoreError, UsageError
from foundation.files import digest_file, write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from controller.store.runs import RunFolder
    from controller.trajectories.reading import Trajectory

Format = Literal["atif", "messages"]
FORMATS: tuple[Format, ...] = ("atif", "messages")
SCHEMA_VERSION = 1
_MANIFEST, _ROWS = "export.json", "trials.jsonl"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which trials are exported, and how.

    Attributes:
        suites: names of suites; all if empty.
        tasks: patterns of task ids; all if empty.
        passed_only: only trials with the verdict PASS.
        all_attempts: also attempts before the last one that ended.
        formats: what is written.
    """

    suites: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    passed_only: bool = False
    all_attempts: bool = False
    formats: tuple[Format, ...] = FORMATS

    def to_dict(self) -> dict[str, Any]:
        """Return the selection as JSON."""
        return {
            "suites": sorted(self.suites),
            "tasks": sorted(self.tasks),
            "passed_only": self.passed_only,
            "all_attempts": self.all_attempts,
            "formats": sorted(self.formats),
        }

    def attempts(self, folder: RunFolder) -> list[Attempt]:
        """Return the attempts of a run that are selected by suite and task."""
        if self.suites and folder.spec.suite.name not in self.suites:
            return []
        chosen: list[Attempt] = []
        for task, repeat in folder.spec.planned:
            if self.tasks and not any(fnmatch.fnmatchcase(task, one) for one in self.tasks):
                continue
            attempts = folder.attempts(task, repeat)
            chosen += attempts if self.all_attempts else attempts[-1:]
        return chosen


@dataclass(slots=True)
class Outcome:
    """What an export did.

    Attributes:
        written: number of trials that were written.
        kept: number of trials that an earlier export had written.
        left_out: number of attempts that did not end, or did not pass if only those were wanted.
        rows: number of rows of messages.
        exact_rows: number of those that are exactly what a model was sent.
        missing_pictures: digests of pictures that the runs no longer have.
        failed: why a trial could not be exported, by its log.
    """

    written: int = 0
    kept: int = 0
    left_out: int = 0
    rows: int = 0
    exact_rows: int = 0
    missing_pictures: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return {
            "trials": self.written + self.kept,
            "written": self.written,
            "kept": self.kept,
            "left_out": self.left_out,
            "message_rows": self.rows,
            "exact_message_rows": self.exact_rows,
            "missing_pictures": len(self.missing_pictures),
            "failed": dict(self.failed),
        }


class Exporter:
    """Exports the trials of runs.

    Args:
        target: the folder; created when needed.
        selection: which trials, and how.

    Raises:
        UsageError: the folder has something else, or an export of another selection.
        StoreError: it cannot be read or written.
    """

    def __init__(self, target: Path, selection: Selection) -> None:
        self._target = target
        self._selection = selection
        self.outcome = Outcome()
        self._require_own_folder()

    def export(
        self, jobs: Sequence[tuple[RunFolder, Attempt]], advance: Callable[[str], object]
    ) -> Outcome:
        """Export attempts; what an earlier export wrote is kept if its log is unchanged.

        Args:
            jobs: attempts with their runs.
            advance: called after each attempt with its name.

        Raises:
            StoreError: a file cannot be written.
        """
        try:
            self._write_manifest(is_complete=False)
            for folder, attempt in jobs:
                name = f"{folder.spec.run}.{attempt.folder.parent.name}.{attempt.number}"
                try:
                    # A new object, whose lines are forgotten after it: the list may be long.
                    self._export(folder, Attempt(attempt.number, attempt.path), name)
                except StoreError as exc:
                    self.outcome.failed[name] = exc.brief
                advance(name)
            self._write_rows()
            self._write_manifest(is_complete=True)
        except OSError as exc:
            raise StoreError(
                f"{self._target} cannot be written.",
                details=str(exc),
                resolution="Free disk space, then export again: what is complete is kept.",
            ) from exc
        return self.outcome

    def _export(self, folder: RunFolder, attempt: Attempt, name: str) -> None:
        """Export one attempt, unless it was exported before or is left out."""
        marker = self._target / "trials" / f"{name}.json"
        source = digest_file(attempt.path) if attempt.path.is_file() else ""
        if (row := self._earlier(marker, source, attempt)) is not None:
            self._count(row)
            self.outcome.kept += 1
            return
        trajectory = read_trajectory(folder, attempt)
        is_wanted = trajectory is not None and (
            not self._selection.passed_only or trajectory.result.verdict is Verdict.PASS
        )
        if trajectory is None or not is_wanted:
            self.outcome.left_out += 1
            return
        pictures = Pictures(folder.path / "blobs", self._target)
        row = self._write(trajectory, pictures)
        row["source"], row["regrades"] = source, len(trajectory.regrades)
        row["missing_pictures"] = sorted(pictures.missing)
        write_atomic(marker, json.dumps(row) + "\n", is_durable=False)
        self._count(row)
        self.outcome.written += 1

    def _write(self, trajectory: Trajectory, pictures: Pictures) -> dict[str, Any]:
        """Write the files of a trial, and return its row."""
        row = _trial_row(trajectory)
        row["message_rows"] = row["exact_message_rows"] = 0
        if "atif" in self._selection.formats:
            path = self._target / "atif" / f"{trajectory.id}.json"
            text = json.dumps(to_atif(trajectory, pictures), indent=1)
            write_atomic(path, text + "\n", is_durable=False)
            row["atif"] = f"atif/{path.name}"
        if "messages" in self._selection.formats:
            path = self._target / "messages" / f"{trajectory.id}.jsonl"
            rows = list(to_rows(trajectory, pictures))
            lines = (json.dumps(one, separators=(",", ":")) + "\n" for one in rows)
            write_atomic(path, "".join(lines), is_durable=False)
            row["messages"] = f"messages/{path.name}"
            row["message_rows"] = len(rows)
            row["exact_message_rows"] = sum(one["is_exact"] for one in rows)
        return row

    def _earlier(self, marker: Path, source: str, attempt: Attempt) -> dict[str, Any] | None:
        """Return the row of a trial that was exported before; None if it is not up to date."""
        try:
            row: dict[str, Any] = json.loads(marker.read_bytes())
            files = [self._target / row[name] for name in self._selection.formats]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        is_same = row.get("source") == source and row.get("regrades") == len(attempt.regrades)
        return row if is_same and all(file.is_file() for file in files) else None

    def _count(self, row: dict[str, Any]) -> None:
        self.outcome.rows += row["message_rows"]
        self.outcome.exact_rows += row["exact_message_rows"]
        self.outcome.missing_pictures.update(row["missing_pictures"])

    def _write_rows(self) -> None:
        """Write the rows of all trials in the folder, those of earlier exports included."""

        def lines() -> Iterator[str]:
            for path in sorted((self._target / "trials").glob("*.json")):
                yield path.read_text().rstrip("\n") + "\n"

        write_atomic(self._target / _ROWS, "".join(lines()))

    def _write_manifest(self, *, is_complete: bool) -> None:
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "selection": self._selection.to_dict(),
            "is_complete": is_complete,
            **({"outcome": self.outcome.to_dict()} if is_complete else {}),
        }
        write_atomic(self._target / _MANIFEST, json.dumps(manifest, indent=1) + "\n")

    def _require_own_folder(self) -> None:
        path = self._target / _MANIFEST
        if path.is_file():
            self._require_same_selection(path)
        elif self._target.exists() and (not self._target.is_dir() or any(self._target.iterdir())):
            raise UsageError(
                f"{self._target} is not empty, and not an export.",
                resolution="Choose another folder with --output.",
            )

    def _require_same_selection(self, path: Path) -> None:
        try:
            earlier = json.loads(path.read_bytes())["selection"]
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise StoreError(f"{path} cannot be read.", details=str(exc)) from exc
        now = self._selection.to_dict()
        if differing := [name for name in now if earlier.get(name) != now[name]]:
            raise UsageError(
                f"{self._target} has an export with other options: {', '.join(differing)}.",
                details="\n".join(
                    f"{name}: {earlier.get(name)}, now {now[name]}" for name in differing
                ),
                resolution="Choose another folder with --output, or the same options.",
            )


def _trial_row(trajectory: Trajectory) -> dict[str, Any]:
    spec, result = trajectory.spec, trajectory.result
    return {
        "trial": trajectory.id,
        "run": spec.run,
        "suite": spec.suite.name,
        "agent": spec.agent_name,
        "model": spec.model_name or None,
        "task": result.task,
        "repeat": result.repeat,
        "attempt": trajectory.attempt,
        "instruction": trajectory.instruction,
        **describe_result(trajectory),
        "turns": len(trajectory.turns),
        "steps": result.steps,
        "seconds": total_time(trajectory),
        "images": FOLDER,
    }
