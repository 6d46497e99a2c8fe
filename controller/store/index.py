"""An SQLite index of all runs: a cache of the logs, rebuilt whenever it is invalid."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.store.run_fleet import fleet_of
from controller.store.spending import BUDGET_SPENT, open_budget
from evaluators.graph.outcome import Verdict
from foundation.errors import StoreError
from foundation.logging import suppress_logged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.store.runs import RunFolder, Store

_log = logging.getLogger(__name__)

_SCHEMA_VERSION = 5
_SCHEMA = f"""
BEGIN IMMEDIATE;
DROP TABLE IF EXISTS runs;
CREATE TABLE runs (
    run TEXT PRIMARY KEY, suite TEXT, agent TEXT, started_s REAL, state TEXT,
    planned INTEGER, passed INTEGER, failed INTEGER, inconclusive INTEGER, stamp INTEGER,
    fleet TEXT
) STRICT;
PRAGMA user_version = {_SCHEMA_VERSION};
COMMIT;
"""
_LOCK_TIMEOUT_S = 5.0
_DAMAGED_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_COLUMNS = (
    "run, suite, agent, started_s, state, planned, passed, failed, inconclusive, stamp, fleet"
)
FINISHED, RUNNING, UNFINISHED, DAMAGED = "finished", "running", "unfinished", "damaged"


@dataclass(frozen=True, slots=True)
class RunRow:
    """Summary of a run.

    Attributes:
        run: id of the run.
        suite: name of the suite.
        agent: name of the agent.
        started_s: start, seconds since the epoch.
        state: ``finished``, ``running``, ``unfinished`` (killed, interrupted or cancelled),
            ``budget_spent`` or ``damaged``.
        planned: number of trials.
        passed: number of trials with PASS.
        failed: number of trials with FAIL.
        inconclusive: number of trials with INCONCLUSIVE.
        stamp: stamp of the run's folder when it was read.
        fleet: ``real`` or ``fake`` (in-memory machines); empty if unknown.
    """

    run: str
    suite: str
    agent: str
    started_s: float
    state: str
    planned: int
    passed: int
    failed: int
    inconclusive: int
    stamp: int = 0
    fleet: str = ""


def list_runs(store: Store) -> list[RunRow]:
    """Return all runs, oldest first: finished ones from the index, others from their logs.

    If the index cannot be used because another process holds its lock or the folder is not
    writable, all rows are read from the logs. A damaged index is moved aside and rebuilt.
    """
    with suppress_logged(_log, "read the index of runs", _DamagedIndexError):
        return _list(store)
    _move_aside(store)
    try:
        return _list(store)
    except _DamagedIndexError:
        return [_summarise(store, name) for name in store.names()]


class _DamagedIndexError(StoreError):
    """The index is not a database, or its content is malformed."""

    code = "index_damaged"


def _list(store: Store) -> list[RunRow]:
    """List the runs through the index.

    Raises:
        _DamagedIndexError: the index is damaged.
    """
    names = store.names()
    if not names:
        return []
    try:
        with _open(store) as database:
            return _update(store, names, database)
    except sqlite3.DatabaseError as exc:
        # The low byte is the primary result code. Source: https://www.sqlite.org/rescode.html
        if getattr(exc, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _DAMAGED_CODES:
            raise _DamagedIndexError(f"{_path(store)} is damaged.", details=str(exc)) from exc
        _log.warning("cannot use the index of runs (%s); reading the logs instead", exc)
        return [_summarise(store, name) for name in names]


def _update(store: Store, names: list[str], database: sqlite3.Connection) -> list[RunRow]:
    known = {
        row[0]: RunRow(*row)
        for row in database.execute(f"SELECT {_COLUMNS} FROM runs")  # noqa: S608 - constant
    }
    rows = []
    for name in names:
        row = known.get(name)
        if row is None or row.state != FINISHED or row.stamp != store.stamp(name):
            row = _summarise(store, name)
            if row != known.get(name):
                database.execute(
                    f"INSERT OR REPLACE INTO runs ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)",  # noqa: S608
                    [getattr(row, column) for column in _COLUMNS.split(", ")],
                )
        rows.append(row)
    return rows


def _path(store: Store) -> Path:
    return store.root / "index.sqlite"


def _move_aside(store: Store) -> None:
    """Rename a damaged index and its associated files, so that nothing is lost."""
    path = _path(store)
    number = 1 + len(list(path.parent.glob(f"{path.name}.damaged*")))
    target = path.with_name(f"{path.name}.damaged{number}")
    _log.warning("%s is damaged; moving it to %s and rebuilding it", path, target)
    # The journals go first: a new database must never be opened with the old one's journals.
    for suffix in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(target.with_name(target.name + suffix))


@contextlib.contextmanager
def _open(store: Store) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(_path(store), timeout=_LOCK_TIMEOUT_S)
    with contextlib.closing(connection) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version != _SCHEMA_VERSION:
            database.execute("PRAGMA journal_mode=WAL")
            database.executescript(_SCHEMA)
        with database:
            yield database


def _summarise(store: Store, name: str) -> RunRow:
    try:
        folder = store.open(name)
        stamp = folder.stamp
        results = folder.results()
    except StoreError:
        return RunRow(name, "", "", 0.0, DAMAGED, 0, 0, 0, 0)
    spec = folder.spec
    verdicts = [result.verdict for result in results]
    return RunRow(
        run=name,
        suite=spec.suite.name,
        agent=spec.agent_name,
        started_s=spec.started_s,
        state=_state(folder),
        planned=len(spec.planned),
        passed=verdicts.count(Verdict.PASS),
        failed=verdicts.count(Verdict.FAIL),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
        stamp=stamp,
        fleet=fleet_of(spec, results),
    )


def _state(folder: RunFolder) -> str:
    if folder.is_running():
        return RUNNING
    if folder.is_complete():
        return FINISHED
    return BUDGET_SPENT if open_budget(folder).excess() else UNFINISHED
