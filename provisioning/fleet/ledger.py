"""The ledger of leases: who holds which machines until when, and how much memory is reserved.

One SQLite file in the state folder, shared by all processes of this host. Its content is void
after a restart of the host, so it is never synced to the disk; a killed process does not corrupt it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import RequirementError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FILE = "fleet.sqlite"
SCHEMA_VERSION = 1
_BUSY_TIMEOUT_S = 20.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS leases (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    lease_id TEXT NOT NULL UNIQUE,
    holder TEXT NOT NULL,
    kinds TEXT NOT NULL,
    created_s REAL NOT NULL,
    expires_s REAL NOT NULL,
    is_waiting INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS machines (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    machine_id TEXT UNIQUE,
    lease_id TEXT,
    kind TEXT NOT NULL,
    reserved_mib INTEGER NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """A lease, or an acquisition that does not have its machines yet.

    Attributes:
        lease_id: unique in this appliance.
        holder: process that requested it, such as ``4711@host``.
        specs: keys of its machines' specifications, sorted (`ResourceSpec.key`).
        created_s: unix time.
        expires_s: unix time.
        is_waiting: whether its request does not fit into memory now.
    """

    lease_id: str
    holder: str
    specs: tuple[str, ...]
    created_s: float
    expires_s: float
    is_waiting: bool = False


@dataclass(frozen=True, slots=True)
class MachineRow:
    """A reservation of memory.

    Attributes:
        number: number of the row.
        machine_id: machine that uses the memory; empty while the machine is being made.
        lease_id: lease that holds the machine, or that it is made for; empty if idle.
        spec: key of the machine's specification.
        reserved_mib: memory that the machine may use, MiB.
    """

    number: int
    machine_id: str
    lease_id: str
    spec: str
    reserved_mib: int


class Ledger:
    """The table of leases and the table of reserved memory.

    Each method is one transaction.

    Args:
        path: path of the SQLite file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add_lease(self, row: LeaseRow) -> None:
        """Add a lease that has no machines yet, at the end of the queue."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO leases (lease_id, holder, kinds, created_s, expires_s)"
                " VALUES (?, ?, ?, ?, ?)",
                (row.lease_id, row.holder, " ".join(row.specs), row.created_s, row.expires_s),
            )

    def set_waiting(self, lease_id: str, *, is_waiting: bool) -> None:
        """Record whether a lease waits for memory."""
        with self._transaction() as db:
            db.execute(
                "UPDATE leases SET is_waiting = ? WHERE lease_id = ?", (is_waiting, lease_id)
            )

    def set_expiry(self, lease_id: str, expires_s: float) -> bool:
        """Set when a lease ends; return False if it is no longer in the ledger."""
        with self._transaction() as db:
            done = db.execute(
                "UPDATE leases SET expires_s = ? WHERE lease_id = ?", (expires_s, lease_id)
            )
            return done.rowcount == 1

    def remove_lease(self, lease_id: str) -> bool:
        """Remove a lease and reservations for machines that it did not get.

        Its machines stay, idle. Returns whether the lease was in the ledger.
        """
        with self._transaction() as db:
            done = db.execute("DELETE FROM leases WHERE lease_id = ?", (lease_id,))
            db.execute(
                "DELETE FROM machines WHERE lease_id = ? AND machine_id IS NULL", (lease_id,)
            )
            db.execute("UPDATE machines SET lease_id = NULL WHERE lease_id = ?", (lease_id,))
            return done.rowcount == 1

    def leases(self) -> list[LeaseRow]:
        """Return all leases, in the order in which they were requested."""
        with self._transaction() as db:
            rows = db.execute(
                "SELECT lease_id, holder, kinds, created_s, expires_s, is_waiting"
                " FROM leases ORDER BY number"
            ).fetchall()
        return [
            LeaseRow(lease_id, holder, tuple(specs.split()), created_s, expires_s, bool(waits))
            for lease_id, holder, specs, created_s, expires_s, waits in rows
        ]

    def machines(self, lease_id: str | None = None) -> list[MachineRow]:
        """Return all memory reservations, or those of one lease."""
        query = (
            "SELECT number, coalesce(machine_id, ''), coalesce(lease_id, ''), kind, reserved_mib"
            " FROM machines"
        )
        with self._transaction() as db:
            rows = db.execute(f"{query} ORDER BY number").fetchall()
        machine_rows = [MachineRow(*row) for row in rows]
        return (
            machine_rows
            if lease_id is None
            else [row for row in machine_rows if row.lease_id == lease_id]
        )

    def reserve(
        self, lease_id: str, needs: Sequence[tuple[str, int]], *, limit_mib: int
    ) -> list[int] | None:
        """Reserve memory for machines to be made: for all of them or for none.

        Args:
            lease_id: the lease to reserve for.
            needs: key of the specification, and MiB, of each machine.
            limit_mib: maximum of all reservations together.

        Returns:
            The number of each reservation, or None if they do not fit.
        """
        with self._transaction() as db:
            (used_mib,) = db.execute(
                "SELECT coalesce(sum(reserved_mib), 0) FROM machines"
            ).fetchone()
            if used_mib + sum(mib for _spec, mib in needs) > limit_mib:
                return None
            return [
                int(
                    db.execute(
                        "INSERT INTO machines (lease_id, kind, reserved_mib) VALUES (?, ?, ?)",
                        (lease_id, spec, mib),
                    ).lastrowid
                    or 0
                )
                for spec, mib in needs
            ]

    def bind(self, number: int, machine_id: str) -> None:
        """Record which machine uses a reservation; replaces the machine's previous row."""
        with self._transaction() as db:
            db.execute("DELETE FROM machines WHERE machine_id = ?", (machine_id,))
            db.execute("UPDATE machines SET machine_id = ? WHERE number = ?", (machine_id, number))

    def reserve_existing(self, machine_id: str, spec: str, reserved_mib: int) -> None:
        """Reserve memory for an existing machine, whether it fits or not."""
        with self._transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO machines (machine_id, kind, reserved_mib) VALUES (?, ?, ?)",
                (machine_id, spec, reserved_mib),
            )

    def set_holder(self, machine_id: str, lease_id: str) -> None:
        """Record the lease that holds a machine; an empty lease id makes the machine idle."""
        with self._transaction() as db:
            db.execute(
                "UPDATE machines SET lease_id = ? WHERE machine_id = ?",
                (lease_id or None, machine_id),
            )

    def free(self, machine_id: str) -> None:
        """Free the memory of an ended machine; does nothing if none is reserved."""
        with self._transaction() as db:
            db.execute("DELETE FROM machines WHERE machine_id = ?", (machine_id,))

    def cancel(self, numbers: Sequence[int]) -> None:
        """Free reservations that no machine was made for."""
        with self._transaction() as db:
            db.executemany(
                "DELETE FROM machines WHERE number = ? AND machine_id IS NULL",
                [(number,) for number in numbers],
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a block as one exclusive transaction.

        Raises:
            StoreError: the ledger cannot be used.
            RequirementError: this user has no permission for the state folder, it is not a
                folder, or the disk is full.
        """
        try:
            with contextlib.closing(self._connect()) as db:
                db.execute("BEGIN IMMEDIATE")
                with db:
                    yield db
        except (sqlite3.Error, OSError) as exc:
            if isinstance(exc, (FileExistsError, NotADirectoryError)):
                raise _no_folder(self._path.parent, exc) from exc
            if _is_disk_full(exc):
                raise _disk_full(self._path, exc) from exc
            if not os.access(self._path.parent, os.R_OK | os.W_OK | os.X_OK):
                raise _no_rights(self._path.parent, exc) from exc
            raise StoreError(
                "The ledger of leases cannot be used.",
                details=f"{self._path}: {exc}",
                resolution="Remove the file while nothing uses the appliance; it is then recreated.",
            ) from exc

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = OFF")
            _prepare(db)
        except BaseException:
            db.close()
            raise
        return db


def _prepare(db: sqlite3.Connection) -> None:
    """Create the tables in a new file; refuse a file of another version."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == SCHEMA_VERSION:
        return
    if version:
        raise sqlite3.DatabaseError(f"its schema has version {version}, not {SCHEMA_VERSION}")
    db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT")


def _no_rights(folder: Path, exc: Exception) -> RequirementError:
    return RequirementError(
        f"This user has no permission to use {folder}.",
        details=str(exc),
        resolution="Run this as the user who brought the appliance up (often root), or set "
        "MESOCOSM_STATE_DIR to a folder that you own.",
    )


def _no_folder(folder: Path, exc: Exception) -> RequirementError:
    return RequirementError(
        f"The state folder {folder} is not a folder and cannot be created.",
        details=str(exc),
        resolution="Set MESOCOSM_STATE_DIR to a folder, or to a path where one can be created.",
    )


def _is_disk_full(exc: sqlite3.Error | OSError) -> bool:
    if isinstance(exc, OSError):
        return exc.errno in {errno.ENOSPC, errno.EDQUOT}
    return getattr(exc, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def _disk_full(path: Path, exc: Exception) -> RequirementError:
    return RequirementError(
        f"The disk is full: leases cannot be recorded in {path}.",
        details=str(exc),
        resolution="Free space on its file system: `mesocosm results prune`, `mesocosm image prune`.",
    )
