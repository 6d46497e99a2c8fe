"""Read and write the state."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from images.phone.device.store.schema import TABLES, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Value = None | int | float | str
Row = dict[str, Any]


class Store:
    """The state of one phone; callers must hold `Phone.lock`.

    Args:
        path: path of the database, which is created if missing.
    """

    def __init__(self, path: Path) -> None:
        # autocommit: each statement is its own transaction.
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._epoch = 0
        try:
            for pragma in ("journal_mode = WAL", "synchronous = OFF", "foreign_keys = ON"):
                self._db.execute(f"PRAGMA {pragma}")
            prepare(self._db)
        except BaseException:
            self._db.close()
            raise

    @property
    def version(self) -> tuple[int, int]:
        """A value that changes whenever the state may have changed."""
        return self._epoch, self._db.total_changes

    def close(self) -> None:
        """Write everything to the database file and close it."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Return the rows of a query."""
        return [dict(row) for row in self._db.execute(sql, values)]

    def change(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Change rows and return their number.

        Raises:
            sqlite3.Error: the change violates a constraint.
        """
        return self._db.execute(sql, values).rowcount

    def insert(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Insert a row and return its ID.

        Raises:
            sqlite3.Error: the row violates a constraint.
        """
        return int(self._db.execute(sql, values).lastrowid or 0)

    def setting(self, namespace: str, key: str, default: str = "") -> str:
        """Return a setting's value."""
        rows = self.rows("SELECT value FROM setting WHERE namespace=? AND key=?", (namespace, key))
        return str(rows[0]["value"]) if rows else default

    def has_setting(self, namespace: str, key: str) -> bool:
        """Return whether a setting has a value."""
        return bool(
            self.rows("SELECT 1 FROM setting WHERE namespace=? AND key=?", (namespace, key))
        )

    def put_setting(self, namespace: str, key: str, value: str) -> None:
        """Set a setting."""
        self.change("INSERT OR REPLACE INTO setting VALUES (?, ?, ?)", (namespace, key, value))

    def delete_setting(self, namespace: str, key: str) -> int:
        """Remove a setting; return the number of removed rows."""
        return self.change("DELETE FROM setting WHERE namespace=? AND key=?", (namespace, key))

    def properties(self) -> dict[str, str]:
        """Return all system properties."""
        return {row["key"]: row["value"] for row in self.rows("SELECT * FROM property")}

    def put_property(self, key: str, value: str) -> None:
        """Set a system property."""
        self.change("INSERT OR REPLACE INTO property VALUES (?, ?)", (key, value))

    def load_interface(self) -> dict[str, Any] | None:
        """Return the document with the open activities; None on a new phone."""
        rows = self.rows("SELECT document FROM interface")
        return dict(json.loads(rows[0]["document"])) if rows else None

    def save_interface(self, document: str) -> None:
        """Save the document with the open activities."""
        self.change("INSERT OR REPLACE INTO interface VALUES (1, ?)", (document,))

    def digest(self) -> dict[str, str]:
        """Return the SHA-256 of the rows of each table."""
        digests = {}
        for table in TABLES:
            rows = self.rows(f"SELECT * FROM {table} ORDER BY 1, 2")  # noqa: S608 - a constant
            text = json.dumps([list(row.values()) for row in rows])
            digests[table] = hashlib.sha256(text.encode()).hexdigest()
        return digests

    def copy_to(self, path: Path) -> None:
        """Write the whole state to another file."""
        with closing(sqlite3.connect(path)) as other:
            self._db.backup(other)

    def load_from(self, path: Path) -> None:
        """Replace the whole state with that of another file, atomically.

        Raises:
            sqlite3.Error: the file is not a valid state; this state stays unchanged.
        """
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as other:
            if other.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("the snapshot's database is damaged")
            other.backup(self._db)
        prepare(self._db)
        self._epoch += 1
