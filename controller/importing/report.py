"""What an import did with each file, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from provisioning.protocols import Json


class Status(StrEnum):
    """How much of a file was imported.

    ``bad`` files do not have the published format.
    """

    WHOLE = "whole"
    PART = "in part"
    REFUSED = "refused"
    BAD = "bad"


IMPORTED = frozenset({Status.WHOLE, Status.PART})
"""Statuses of files of which the suite has a task."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was not carried over.

    Attributes:
        kind: what is counted, such as ``file``; a key of `KINDS`.
        text: what exactly, for people.
    """

    kind: str
    text: str


KINDS = {
    "account": "needs an account at a third party",
    "action": "a checkpoint is the agent's own keystrokes, which no evaluator reads",
    "application": "the application is not on the desktop's image",
    "extent": "the evaluator also compares what the original leaves alone",
    "file": "a file is not in the folder of files",
    "format": "the file does not have the published format",
    "function": "no evaluator decides what the function decides",
    "getter": "no evaluator reads what the getter reads",
    "gui": "its setup drives the screen by keys or coordinates",
    "network": "needs the live Internet",
    "option": "an option or rule of the function has no counterpart",
    "output": "the verdict is the output of a command or program in the guest",
    "program": "a setup command needs a program that the desktop lacks",
    "save": "the original saves, quits or exports for the agent before it judges",
    "setup": "the setup step has no counterpart",
    "state": "the file does not say what the machine must contain",
    "suite": "the task that resulted is refused by the reader of suites",
}
"""What each kind of reason means."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of one file.

    Attributes:
        file: its path, relative to the source.
        benchmark: ``crab``, ``osworld``, or empty if the format is unknown.
        status: how much was imported.
        task: id of the task; empty if there is none.
        reasons: what is missing, why the file was refused, or what is wrong with it.
        notes: differences that do not change a verdict on what the task asks for.
    """

    file: str
    benchmark: str
    status: Status
    task: str = ""
    reasons: tuple[Reason, ...] = ()
    notes: tuple[Reason, ...] = ()

    @property
    def data(self) -> dict[str, Json]:
        """Return the result as JSON."""
        return {
            "file": self.file,
            "benchmark": self.benchmark,
            "status": self.status.value,
            "task": self.task,
            "reasons": [{"kind": why.kind, "text": why.text} for why in self.reasons],
            "notes": [why.text for why in self.notes],
        }


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of all files of a source.

    Attributes:
        results: by file, sorted.
        written: files of the suite that were created or changed.
        unchanged: number of files of the suite that were as they should be already.
        kept: files of the suite that the user changed and the import did not.
        removed: files of the suite that no task needs any more.
    """

    results: Sequence[FileResult]
    written: Sequence[str] = field(default=())
    unchanged: int = 0
    kept: Sequence[str] = field(default=())
    removed: Sequence[str] = field(default=())

    @property
    def is_whole(self) -> bool:
        """Whether every file was imported whole."""
        return all(result.status is Status.WHOLE for result in self.results)

    @property
    def data(self) -> dict[str, Json]:
        """Return the report as JSON."""
        return {
            "counts": dict(count_statuses(self.results)),
            "reasons": dict(count_reasons(self.results)),
            "files": [result.data for result in self.results],
            "suite": {
                "written": list(self.written),
                "unchanged": self.unchanged,
                "kept": list(self.kept),
                "removed": list(self.removed),
            },
        }


def count_statuses(results: Iterable[FileResult]) -> dict[str, int]:
    """Return the number of files by status; every status is there."""
    counts = Counter(result.status for result in results)
    return {status.value: counts[status] for status in Status}


def count_reasons(
    results: Iterable[FileResult], select: Callable[[FileResult], bool] = lambda _: True
) -> dict[str, int]:
    """Return the number of files that each kind of reason concerns, the largest first.

    A file with several kinds of reasons counts for each of them.

    Args:
        results: the files.
        select: which of them count.
    """
    counts = Counter(
        kind
        for result in results
        if select(result)
        for kind in {reason.kind for reason in result.reasons}
    )
    return dict(sorted(counts.items(), key=lambda row: (-row[1], row[0])))
