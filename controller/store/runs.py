"""Store runs: one folder per run, one append-only log per attempt, screenshots by content.

::

    <runs>/<run>/run.json                                        the specification; never changed
    <runs>/<run>/proof.json                                      how its tasks were proven then
    <runs>/<run>/lock                                            held while the run is running
    <runs>/<run>/trials/<task>.<repeat>/attempt-<n>/events.jsonl
    <runs>/<run>/trials/<task>.<repeat>/attempt-<n>/end-state/   its machines, if they are kept
    <runs>/<run>/trials/<task>.<repeat>/attempt-<n>/regrades/    later judgements
    <runs>/<run>/blobs/<sha256>.png                              screenshots; trees: <sha256>.json

A trial has one attempt, unless its process was killed, it was cancelled, or its machines or model
failed. All attempts are kept; only the last one counts. Each line of a log is flushed and synced
before the trial continues, so that a killed process loses no finished step. An attempt is finished
when its log has a line of type ``end``.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import logging
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from controller.episode.result import TRIAL_RESULT, Reason
from controller.store.event_log import EVENTS, TrialLog, read_events
from controller.store.lost_attempt import last_graph, result_of_lost
from controller.store.proofs import PROOF_FILE, ProofStore, proven_levels
from controller.store.regrade_record import Regrade, read_regrades
from controller.store.schema import read_result, read_spec
from foundation.errors import StoreError, UnknownNameError, UsageError
from foundation.files import FileLock, write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.episode.result import Ending, TrialResult
    from controller.specification.job import TrialJob
    from controller.specification.run import RunSpec
    from controller.store.proofs import Proven
    from foundation.clock import Clock

_log = logging.getLogger(__name__)

LATEST = "latest"
PROOFS = "proofs"
"""Name of the folder of proofs, beside that of runs."""
_ATTEMPT = "attempt-"
_SHOWN = 10


@dataclass(frozen=True)
class Attempt:
    """One attempt at a trial, read from its log.

    Attributes:
        number: number of the attempt, from 1.
        path: path of its log.
    """

    number: int
    path: Path

    @property
    def folder(self) -> Path:
        """The folder with its log and other files."""
        return self.path.parent

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """The lines of its log.

        Raises:
            StoreError: a line other than a truncated last one is damaged.
        """
        return list(read_events(self.path))

    @property
    def result(self) -> TrialResult | None:
        """Its result; None if it did not end.

        Raises:
            StoreError: its log is damaged.
        """
        for event in self.events:
            if event["type"] == "end":
                return read_result(event["result"])
        return None

    @property
    def regrades(self) -> list[Regrade]:
        """Its regrades, oldest first.

        Raises:
            StoreError: a record is damaged.
        """
        return read_regrades(self.folder)


class RunFolder:
    """One run on disk; a `controller.scheduling.sink.TrialSink`.

    Args:
        path: the run's folder.

    Raises:
        StoreError: there is no readable ``run.json``, or it has another schema.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spec = read_spec(path / "run.json")

    @property
    def proven(self) -> dict[str, Proven]:
        """How each task was proven when the run was created."""
        unproven: dict[str, Proven] = dict.fromkeys(
            (task.id for task in self.spec.tasks), "unproven"
        )
        try:
            known: dict[str, Proven] = json.loads((self.path / PROOF_FILE).read_text("utf-8"))
        except (OSError, ValueError):  # a run of an earlier version
            return unproven
        return unproven | known

    def begin_attempt(self, job: TrialJob, clock: Clock) -> TrialLog:
        """Open the log of a new attempt.

        Raises:
            StoreError: the attempt was begun before, or the log cannot be created.
        """
        return self._open_log(job, clock)

    def conclude_attempt(self, job: TrialJob, ending: Ending, clock: Clock) -> TrialResult:
        """Append the end of an attempt whose process died to its log; return its result.

        Raises:
            StoreError: the attempt has a result already, or the log cannot be read or written.
        """
        with self._open_log(job, clock, is_begun=True) as log:
            events = list(read_events(log.path))
            if any(event["type"] == "end" for event in events):
                raise StoreError(f"{log.path} has a result already.")
            result = result_of_lost(events, job, ending, self.spec, clock.now_s())
            log.append(
                "end",
                result=TRIAL_RESULT.dump_python(result, mode="json"),
                graph=last_graph(events),
            )
        return result

    def _open_log(self, job: TrialJob, clock: Clock, *, is_begun: bool = False) -> TrialLog:
        folder = self._trial(job.task, job.repeat) / f"{_ATTEMPT}{job.attempt}"
        return TrialLog(folder, self.path / "blobs", clock, attempt=job.attempt, is_begun=is_begun)

    def attempts(self, task: str, repeat: int) -> list[Attempt]:
        """Return all attempts at a trial, oldest first."""
        folder = self._trial(task, repeat)
        names = (path.name for path in folder.glob(f"{_ATTEMPT}*"))
        numbers = sorted(int(name.removeprefix(_ATTEMPT)) for name in names)
        return [Attempt(number, folder / f"{_ATTEMPT}{number}" / EVENTS) for number in numbers]

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Hold the run's lock for the duration of a block.

        Raises:
            StoreError: another process uses the run.
        """
        lock = FileLock(self.path / "lock")
        if not lock.try_acquire():
            raise StoreError(
                f"Another process is using run {self.spec.run}.",
                resolution="Wait until it ends, or stop it.",
            )
        try:
            lock.path.touch()
            yield
        finally:
            lock.path.touch()
            lock.release()

    @property
    def stamp(self) -> int:
        """A value that changes whenever a process acquires or releases the run."""
        return _stamp(self.path)

    def is_running(self) -> bool:
        """Return whether a process is using the run, without interfering with that process."""
        return FileLock(self.path / "lock").is_taken()

    def events(self, task: str, repeat: int) -> list[dict[str, Any]]:
        """Return the log of a trial's last attempt; an empty list if there is none.

        Raises:
            StoreError: a line other than a truncated last one is damaged.
        """
        attempts = self.attempts(task, repeat)
        return attempts[-1].events if attempts else []

    def results(self) -> list[TrialResult]:
        """Return the results of the trials that ended, one per trial, in the planned order.

        Raises:
            StoreError: a log is damaged.
        """
        results = (self.result(task, repeat) for task, repeat in self.spec.planned)
        return [result for result in results if result is not None]

    def result(self, task: str, repeat: int) -> TrialResult | None:
        """Return the result of a trial's last attempt; None if it did not end.

        Raises:
            StoreError: its log is damaged.
        """
        attempts = self.attempts(task, repeat)
        return attempts[-1].result if attempts else None

    def unfinished(self) -> list[tuple[str, int, int]]:
        """Return task, repeat and number of logged steps of every trial that did not end."""
        rows = []
        for task, repeat in self.spec.planned:
            types = [event["type"] for event in self.events(task, repeat)]
            if "end" not in types:
                rows.append((task, repeat, types.count("step")))
        return rows

    def is_complete(self) -> bool:
        """Return whether every trial was judged: none is unfinished or cancelled."""
        results = self.results()
        is_judged = all(result.reason is not Reason.CANCELLED for result in results)
        return is_judged and len(results) == len(self.spec.planned)

    def _trial(self, task: str, repeat: int) -> Path:
        return self.path / "trials" / f"{task}.{repeat}"


class Store:
    """All runs of this appliance.

    Args:
        root: the folder of runs; created when needed.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self, spec: RunSpec, *, is_begun: bool = False) -> RunFolder:
        """Create the folder of a new run.

        Args:
            spec: the run's specification.
            is_begun: accept an existing folder, which a killed process may have left.

        Raises:
            StoreError: the folder exists, or cannot be created.
        """
        path = self.root / spec.run
        try:
            path.mkdir(parents=True, exist_ok=is_begun)
            write_atomic(path / "run.json", spec.model_dump_json(indent=2) + "\n")
            levels = proven_levels(spec, ProofStore(self.root.parent / PROOFS))
            write_atomic(path / PROOF_FILE, json.dumps(levels, indent=1) + "\n")
        except OSError as exc:
            raise StoreError(
                f"The run's folder {path} cannot be created.", details=str(exc)
            ) from exc
        return RunFolder(path)

    def has(self, name: str) -> bool:
        """Return whether there is a run with this id."""
        return (self.root / name / "run.json").is_file()

    def names(self) -> list[str]:
        """Return the ids of all runs, oldest first."""
        return sorted(path.parent.name for path in self.root.glob("*/run.json"))

    def stamp(self, name: str) -> int:
        """Return a run's `RunFolder.stamp` without reading the run."""
        return _stamp(self.root / name)

    def open(self, name: str) -> RunFolder:
        """Open a run by id, the ``latest``, or the latest match, such as ``latest:smoke,model``.

        Args:
            name: id, ``latest``, or ``latest:`` and comma-separated patterns (``*`` is a wildcard),
                each of which must match the name of the suite, the name of the agent
                (``model:gpt-5``), its kind (``model``) or the run's id.

        Raises:
            UnknownNameError: there is no such run; the error suggests similar ids.
            UsageError: no run matches all patterns.
            StoreError: the run cannot be read.
        """
        names = self.names()
        if name == LATEST and names:
            return RunFolder(self.root / names[-1])
        if name.startswith(f"{LATEST}:"):
            return self._open_latest(name.removeprefix(f"{LATEST}:").split(","))
        if name not in names:
            raise UnknownNameError.of("run", name, [LATEST, *names[-20:]])
        return RunFolder(self.root / name)

    def _open_latest(self, patterns: list[str]) -> RunFolder:
        """Open the latest readable run that matches all patterns.

        Raises:
            UsageError: there is none.
        """
        known: dict[str, None] = {}
        for name in reversed(self.names()):
            try:
                folder = RunFolder(self.root / name)
            except StoreError as exc:
                _log.warning("skipping run %s: %s", name, exc)
                continue
            if all(_matches(folder.spec, pattern.strip()) for pattern in patterns):
                return folder
            known[f"{folder.spec.suite.name},{folder.spec.agent_name}"] = None
        wanted = ", ".join(map(repr, map(str.strip, patterns)))
        raise UsageError(
            f"No run matches {wanted}: its suite, agent and id were compared with each pattern.",
            details=_listed(list(known)),
            resolution="Use a suite and an agent of an existing run; `mesocosm results` lists all runs.",
        )


def _listed(known: list[str]) -> str:
    """Return suites and agents of existing runs as text, the latest first."""
    if not known:
        return "There is no run."
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"Runs exist of: {'; '.join(known[:_SHOWN])}{more}."


def _stamp(folder: Path) -> int:
    try:
        return (folder / "lock").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _matches(spec: RunSpec, pattern: str) -> bool:
    names = {spec.run, spec.suite.name, spec.agent_name}
    names |= {member.agent.kind for member in spec.agents}
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)
