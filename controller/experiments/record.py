"""Experiments on disk: which run has the trials of which row.

::

    <experiments>/<id>/experiment.json   the rows and their runs; the trials are in the runs' folders
    <experiments>/<id>/lock              held while a command plays the experiment
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Final, Literal

from pydantic import ValidationError

from controller.specification.agent import Record
from controller.specification.run import SuiteSpec, TaskSpec  # noqa: TC001 - read by pydantic
from evaluators.model.platforms import Platform  # noqa: TC001 - read by pydantic
from foundation.errors import StoreError, UnknownNameError, UsageError
from foundation.files import FileLock, write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA_VERSION: Final = 1
_FILE = "experiment.json"


class RowRecord(Record):
    """A row.

    Attributes:
        name: its name in the file.
        digest: digest of its request.
        run: id of its run; empty before it began.
    """

    name: str
    digest: str
    run: str = ""


class ExperimentRecord(Record):
    """An experiment.

    Attributes:
        schema_version: version of its file.
        id: its id: the name of the experiment, with a number if there are several.
        name: name of the experiment.
        file: path of the file that described it last.
        started_s: when it began, seconds since the epoch.
        suite: its suite.
        tasks: its tasks.
        platforms: the machines of each task.
        repeats: trials per task and row.
        fleet: ``real`` or ``fake`` machines.
        human: whether recorded trials of people are a row.
        rows: its rows, in the order of the file.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str
    name: str
    file: str
    started_s: float
    suite: SuiteSpec
    tasks: tuple[TaskSpec, ...]
    platforms: dict[str, Platform]
    repeats: int
    fleet: str
    human: bool
    rows: tuple[RowRecord, ...]

    def with_run(self, name: str, run: str) -> ExperimentRecord:
        """Return the experiment with the run of a row."""
        rows = tuple(
            row.model_copy(update={"run": run}) if row.name == name else row for row in self.rows
        )
        return self.model_copy(update={"rows": rows})


class ExperimentStore:
    """All experiments of this appliance.

    Args:
        root: their folder; created when needed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self) -> list[str]:
        """Return the ids of all experiments."""
        return sorted(path.parent.name for path in self._root.glob(f"*/{_FILE}"))

    def latest(self, name: str) -> str:
        """Return the id of the latest experiment with a name; empty if there is none."""
        ids = [one for one in self.names() if one == name or one.startswith(f"{name}.")]
        return max(ids, key=_number, default="")

    def next_id(self, name: str) -> str:
        """Return the id of a new experiment with a name."""
        latest = self.latest(name)
        return f"{name}.{_number(latest) + 1}" if latest else name

    def open(self, id_: str) -> ExperimentRecord:
        """Read an experiment.

        Raises:
            UnknownNameError: there is no such experiment.
            StoreError: its file is damaged, or of another version.
        """
        if id_ not in self.names():
            raise UnknownNameError.of("experiment", id_, self.names())
        path = self._root / id_ / _FILE
        try:
            return ExperimentRecord.model_validate(json.loads(path.read_bytes()))
        except (OSError, ValueError, ValidationError) as exc:
            raise StoreError(
                f"{path} cannot be read.",
                details=str(exc),
                resolution="Begin again with --new; the trials are in their runs.",
            ) from exc

    def runs(self, name: str) -> list[str]:
        """Return the runs of all rows that have begun, of the latest experiment with a name.

        Args:
            name: name of an experiment, or an id.

        Raises:
            UnknownNameError: there is no such experiment.
            UsageError: none of its rows has begun.
            StoreError: its file is damaged, or of another version.
        """
        record = self.open(self.latest(name) or name)
        if runs := [row.run for row in record.rows if row.run]:
            return runs
        raise UsageError(
            f"No row of the experiment {record.id} has begun.",
            resolution=f"Play it: mesocosm run --matrix {record.file}",
        )

    def save(self, record: ExperimentRecord) -> None:
        """Write an experiment.

        Raises:
            StoreError: it cannot be written.
        """
        path = self._root / record.id / _FILE
        try:
            write_atomic(path, record.model_dump_json(indent=2) + "\n")
        except OSError as exc:
            raise StoreError(f"{path} cannot be written.", details=str(exc)) from exc

    @contextlib.contextmanager
    def playing(self, id_: str) -> Iterator[None]:
        """Hold the lock of an experiment for the duration of a block.

        Raises:
            StoreError: another process plays it.
        """
        lock = FileLock(self._root / id_ / "lock")
        if not lock.try_acquire():
            raise StoreError(
                f"Another process plays the experiment {id_}.",
                resolution="Wait until it ends, or stop it.",
            )
        try:
            yield
        finally:
            lock.release()

    def is_playing(self, id_: str) -> bool:
        """Return whether a process plays an experiment."""
        return FileLock(self._root / id_ / "lock").is_taken()


def _number(id_: str) -> int:
    """Return the number of an experiment among those with its name, from 1."""
    number = id_.partition(".")[2]
    return int(number) if number.isdigit() else 1
