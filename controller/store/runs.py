"""Keep what happened: one folder a run, one append-only log a trial, pictures by content.

::

    <runs>/<run>/run.json                          what was asked for; never changed
    <runs>/<run>/lock                              held while the run goes on
    <runs>/<run>/trials/<task>.<repeat>/events.jsonl
    <runs>/<run>/trials/<task>.<repeat>.lost<n>    as far as it was when its controller was killed
    <runs>/<run>/blobs/<sha256>.png

A line of the log is written through (flushed and synced) before the trial goes on, so that a
killed process loses no finished step. A trial is finished when its last line is of type ``end``.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from appliance.base.errors import StoreError, UnknownNameError
from appliance.base.files import write_atomic
from controller.episode.result import TRIAL_RESULT, TrialResult
from controller.store.event_log import EVENTS, TrialLog, read_events
from controller.store.run_lock import RunLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from appliance.base.clock import Clock

LATEST = "latest"


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a run was asked to do.

    Attributes:
        run: its id.
        suite: name.
        suite_version: as the suite says.
        suite_digest: SHA-256 over everything the suite says.
        agent: name.
        options: of the agent, without secrets.
        tasks: ids, in order.
        repeats: of each task.
        seed: everything random follows from it.
        started_s: seconds since the epoch.
        version: of Mesocosm.
    """

    run: str
    suite: str
    suite_version: str
    suite_digest: str
    agent: str
    tasks: tuple[str, ...]
    repeats: int
    seed: int
    started_s: float
    version: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def planned(self) -> list[tuple[str, int]]:
        """Every trial as task and repeat, in the order of running."""
        return [(task, repeat) for repeat in range(self.repeats) for task in self.tasks]


_RUN_SPEC = TypeAdapter(RunSpec)


class RunFolder:
    """One run on disk.

    Args:
        path: its folder.

    Raises:
        StoreError: there is no readable ``run.json``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.spec = _RUN_SPEC.validate_json((path / "run.json").read_bytes())
        except (OSError, ValidationError) as exc:
            raise StoreError(f"{path} holds no readable run.json.", details=str(exc)) from exc

    def open_trial(self, task: str, repeat: int, clock: Clock) -> TrialLog:
        """Begin the log of a trial.

        Raises:
            StoreError: it already has one.
        """
        return TrialLog(self.path / "trials" / f"{task}.{repeat}", self.path / "blobs", clock)

    def set_aside(self, task: str, repeat: int) -> None:
        """Move the log of a trial that was begun out of the way, to ``<task>.<repeat>.lost<n>``.

        One that was not begun has none, and stays so.

        Raises:
            StoreError: it cannot be moved.
        """
        path = self.path / "trials" / f"{task}.{repeat}"
        before = len(list(path.parent.glob(f"{path.name}.lost*")))
        try:
            if path.exists():
                path.rename(path.with_name(f"{path.name}.lost{before + 1}"))
        except OSError as exc:
            raise StoreError(f"{path} cannot be moved aside.", details=str(exc)) from exc

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Show others for the length of a block that the run goes on.

        Raises:
            StoreError: another process works on it.
        """
        lock = RunLock(self.path / "lock")
        if not lock.try_acquire():
            raise StoreError(f"Another process works on run {self.spec.run}.")
        try:
            yield
        finally:
            lock.release()

    def is_running(self) -> bool:
        """Return whether some process works on it, without being in that process's way."""
        return RunLock(self.path / "lock").is_held()

    def events(self, task: str, repeat: int) -> list[dict[str, Any]]:
        """Read the log of a trial; none is an empty list.

        Raises:
            StoreError: a line other than a torn last one is damaged.
        """
        return list(read_events(self.path / "trials" / f"{task}.{repeat}" / EVENTS))

    def results(self) -> list[TrialResult]:
        """Give the finished trials in the order planned.

        Raises:
            StoreError: a log is damaged.
        """
        found = (self.result(task, repeat) for task, repeat in self.spec.planned)
        return [result for result in found if result is not None]

    def result(self, task: str, repeat: int) -> TrialResult | None:
        """Give how a trial ended; None when it did not.

        Raises:
            StoreError: its log is damaged.
        """
        for event in self.events(task, repeat):
            if event["type"] == "end":
                return TRIAL_RESULT.validate_python(event["result"])
        return None

    def unfinished(self) -> list[tuple[str, int, int]]:
        """Give task, repeat and the steps in the log of every trial without an end."""
        rows = []
        for task, repeat in self.spec.planned:
            types = [event["type"] for event in self.events(task, repeat)]
            if "end" not in types:
                rows.append((task, repeat, types.count("step")))
        return rows


class Store:
    """All runs of this appliance.

    Args:
        root: the folder of runs; made when needed.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self, spec: RunSpec) -> RunFolder:
        """Make the folder of a new run.

        Raises:
            StoreError: it exists, or cannot be made.
        """
        path = self.root / spec.run
        try:
            path.mkdir(parents=True)
            write_atomic(path / "run.json", json.dumps(asdict(spec), indent=2) + "\n")
        except OSError as exc:
            raise StoreError(f"The run's folder {path} cannot be made.", details=str(exc)) from exc
        return RunFolder(path)

    def names(self) -> list[str]:
        """Give the ids of all runs, oldest first."""
        return sorted(path.parent.name for path in self.root.glob("*/run.json"))

    def open(self, name: str) -> RunFolder:
        """Open a run by its id, or the ``latest``.

        Raises:
            UnknownNameError: there is none, with the nearest match.
            StoreError: it cannot be read.
        """
        names = self.names()
        if name == LATEST and names:
            return RunFolder(self.root / names[-1])
        if name not in names:
            raise UnknownNameError.of("run", name, [LATEST, *names[-20:]])
        return RunFolder(self.root / name)
