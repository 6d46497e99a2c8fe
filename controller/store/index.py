"""An index of all runs in SQLite: only a cache of the logs, rebuilt whenever it is wrong."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.base.errors import StoreError
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.store.runs import RunFolder, Store

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, suite TEXT, agent TEXT, started_s REAL, state TEXT,
    planned INTEGER, passed INTEGER, failed INTEGER, inconclusive INTEGER
) STRICT;
"""
_COLUMNS = "run, suite, agent, started_s, state, planned, passed, failed, inconclusive"
FINISHED, RUNNING, UNFINISHED, DAMAGED = "finished", "running", "unfinished", "damaged"


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run at a glance.

    Attributes:
        run: its id.
        suite: name.
        agent: name.
        started_s: seconds since the epoch.
        state: ``finished``, ``running``, ``unfinished`` (killed or interrupted) or ``damaged``.
        planned: number of trials.
        passed: finished with PASS.
        failed: finished with FAIL.
        inconclusive: finished with INCONCLUSIVE.
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


def list_runs(store: Store) -> list[RunRow]:
    """Give all runs, oldest first; finished ones come from the index, the others from their logs.

    Raises:
        StoreError: neither the index nor its replacement can be used.
    """
    path = store.root / "index.sqlite"
    try:
        return _list(store)
    except sqlite3.DatabaseError:
        for name in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            name.unlink(missing_ok=True)
    try:
        return _list(store)
    except sqlite3.DatabaseError as exc:
        raise StoreError(f"The index {path} cannot be made.", details=str(exc)) from exc


def _list(store: Store) -> list[RunRow]:
    names = store.names()
    if not names:
        return []
    with _open(store) as database:
        known = {
            row[0]: RunRow(*row)
            for row in database.execute(f"SELECT {_COLUMNS} FROM runs")  # noqa: S608 - constant
        }
        rows = []
        for name in names:
            row = known.get(name)
            if row is None or row.state != FINISHED:
                row = _summarise(store, name)
                values = [getattr(row, column) for column in _COLUMNS.split(", ")]
                database.execute(
                    f"INSERT OR REPLACE INTO runs ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",  # noqa: S608
                    values,
                )
            rows.append(row)
        return rows


@contextlib.contextmanager
def _open(store: Store) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(store.root / "index.sqlite", timeout=10)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.executescript(_SCHEMA)
        with database:
            yield database


def _summarise(store: Store, name: str) -> RunRow:
    try:
        folder = store.open(name)
        verdicts = [result.verdict for result in folder.results()]
    except StoreError:
        return RunRow(name, "", "", 0.0, DAMAGED, 0, 0, 0, 0)
    spec = folder.spec
    return RunRow(
        run=name,
        suite=spec.suite,
        agent=spec.agent,
        started_s=spec.started_s,
        state=_state(folder, len(verdicts)),
        planned=len(spec.planned),
        passed=verdicts.count(Verdict.PASS),
        failed=verdicts.count(Verdict.FAIL),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
    )


def _state(folder: RunFolder, finished: int) -> str:
    if finished == len(folder.spec.planned):
        return FINISHED
    return RUNNING if folder.is_running() else UNFINISHED
