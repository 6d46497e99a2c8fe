"""Evaluators of SQLite databases on a desktop. Paths are as in `files`.

A database is copied, with its journal and write-ahead log, to a folder that only the evaluators'
user can access, and read there by SQLite, which rolls back uncommitted changes. The copy must pass
SQLite's integrity check. The original may be locked, and is never modified.

Columns are compared with their declared collation: with ``COLLATE NOCASE``, Apple equals apple. An
unknown collation of another program is replaced by the order of code points.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import re
import sqlite3
import struct
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.reading import look, opened, private_folder, read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.probe.guest import Guest

_MAX_BYTES = 1 << 27
_MAX_ROWS = 10_000
_MAX_STEPS = 2_000
_OPERATIONS_A_STEP = 10_000
_HEAD = b"SQLite format 3\0"
_READS = 5
_ROUNDED = 1e-12
_MAX_COLLATIONS = 8
_LOCK = struct.Struct("hhqqi4x")
"""``struct flock`` on 64-bit systems."""
_PENDING, _RESERVED = 0x40000000, 0x40000001
_COMPANIONS = ("-journal", "-wal")
_SELECT = re.compile(r"\s*(SELECT|WITH)\s", re.IGNORECASE)
_QUOTED = re.compile(
    r"""'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|$)|"(?P<name>(?:[^"]|"")*)\"""",
    re.DOTALL,
)
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


@evaluator(on="desktop")
def sqlite_query_equals(
    guest: Guest, path: MachinePath, query: str, rows: list[list[object]]
) -> bool:
    """Return whether a query on an SQLite database returns exactly the given rows, in the given order.

    A text does not equal a number; 1 equals 1.0; floating-point numbers may differ by one part in a
    trillion, because sums depend on the order. Only committed rows count. The query must read
    tables, because a view with the same name could return anything. Columns are compared with their
    declared collation: with ``COLLATE NOCASE``, Apple equals apple. A database that is missing,
    corrupt or larger than 128 MiB, or does not have the tables or columns, is unmet; a name in
    double quotes is never treated as text. Proves the state, not who
    caused it.

    Example:
        ``{on: desktop, check: sqlite_query_equals, with: {path: ~/shop.db, query: "SELECT name FROM
        item ORDER BY name", rows: [[apple], [pear]]}}``

    Args:
        guest: the desktop.
        path: path of the database.
        query: a single SELECT, with ORDER BY if there is more than one row.
        rows: the expected rows, cell by cell.

    Raises:
        ValueError: `query` is not a SELECT.
    """
    if not _SELECT.match(query):
        raise ValueError("the query must be a SELECT")
    result_rows = query_rows(guest, path, _with_names(query))
    if result_rows is None or [len(row) for row in result_rows] != [len(row) for row in rows]:
        return False
    return all(map(_is_value, chain(*result_rows), chain(*rows)))


@evaluator(on="desktop")
def sqlite_row_count(guest: Guest, path: MachinePath, table: str, count: int) -> bool:
    """Return whether a table of an SQLite database has exactly the given number of rows.

    Only committed rows count. A database that is missing, corrupt or larger than 128 MiB, or does
    not have the table, is unmet. A view is not a table. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: sqlite_row_count, with: {path: ~/shop.db, table: item, count: 2}}``

    Args:
        guest: the desktop.
        path: path of the database.
        table: name of the table.
        count: number of rows.
    """
    name = table.replace('"', '""')
    return query_rows(guest, path, f'SELECT count(*) FROM "{name}"') == [(count,)]  # noqa: S608


def _is_value(seen: object, wanted: object) -> bool:
    """Compare two values; floating-point results depend on the order of operations."""
    if isinstance(seen, float) and isinstance(wanted, (int, float)):
        return math.isclose(seen, wanted, rel_tol=_ROUNDED, abs_tol=_ROUNDED)
    return seen == wanted


def _with_names(query: str) -> str:
    """Return a query with backticks, which SQLite never treats as text, instead of double quotes.

    Source: SQLite, "Quirks, Caveats, and Gotchas", section 8.
    """
    return _QUOTED.sub(_in_backticks, query)


def _in_backticks(match: re.Match[str]) -> str:
    name = match["name"]
    if name is None:
        return match[0]
    return "`{}`".format(name.replace('""', '"').replace("`", "``"))


def query_rows(
    guest: Guest, path: str, query: str, values: Sequence[object] = ()
) -> list[tuple[object, ...]] | None:
    """Run a SELECT on a copy of a database.

    Args:
        guest: the desktop.
        path: path of the database.
        query: a single SELECT from tables; views cannot be read.
        values: values of its question marks.

    Returns:
        At most 10 000 rows; None if the database, table or column does not exist, the database is
        corrupt, or the query takes too long.

    Raises:
        OSError: the copy could not be written.
    """
    files = _snapshot(guest, path)
    if files is None:
        return None
    with private_folder() as folder:
        for suffix, content in files.items():
            Path(folder, f"copy.db{suffix}").write_bytes(content)
        try:
            with contextlib.closing(sqlite3.connect(Path(folder, "copy.db"))) as connection:
                return _select(connection, query, values)
        except (sqlite3.Error, UnicodeDecodeError, OverflowError):
            return None


def _snapshot(guest: Guest, path: str) -> dict[str, bytes] | None:
    """Read a consistent state of a database, its journal and its log, by suffix.

    Returns:
        None if there is no complete database, it changes continuously, a companion file cannot be
        read, or the journal belongs to a transaction over several databases.
    """
    companions = _companions(guest, path)
    for _ in range(_READS):
        data = read_bytes(guest, path, _MAX_BYTES)
        before, companions = companions, _companions(guest, path)
        if data is None or companions is None:
            return None
        if before == companions:
            is_complete = data.startswith(_HEAD) and len(data) % _page_bytes(data) == 0
            return {"": data, **companions} if is_complete else None
    return None


def _companions(guest: Guest, path: str) -> dict[str, bytes] | None:
    """Read the files that SQLite keeps next to a database; None if one cannot be read.

    A journal that ends with the name of a super-journal is rejected, because SQLite deletes the
    file of that name, and any user can write a name there.

    Source: SQLite's file format, section 3, and ``pager.c``, ``readSuperJournal``.
    """
    files = {}
    for suffix in _COMPANIONS:
        if suffix == "-journal" and _is_reserved(guest, path):
            continue
        content = read_bytes(guest, path + suffix, _MAX_BYTES)
        if content is None and look(guest, path + suffix) is not None:
            return None
        if content:
            files[suffix] = content
    return None if files.get("-journal", b"").endswith(_JOURNAL_MAGIC) else files


def _is_reserved(guest: Guest, path: str) -> bool:
    """Return whether a program is about to write but has not started, so that its journal is not hot.

    Source: SQLite's file locking document, 5.1 (hot journals), and ``os.h`` for the bytes.
    """
    with opened(guest, path) as file:
        return file is not None and _is_locked(file, _RESERVED) and not _is_locked(file, _PENDING)


def _is_locked(file: BinaryIO, place: int) -> bool:
    """Return whether another process has a lock on a byte of a file."""
    question = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0)
    kind: int = _LOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, question))[0]
    return kind != fcntl.F_UNLCK


def _page_bytes(data: bytes) -> int:
    """Return the page size in bytes; the size of a complete file is a multiple of it.

    Source: SQLite's file format, section 1.3: two bytes at offset 16, big-endian; 1 means 65536.
    """
    size = int.from_bytes(data[16:18], "big")
    return 1 << 16 if size <= 1 else size


def _select(
    connection: sqlite3.Connection, query: str, values: Sequence[object]
) -> list[tuple[object, ...]]:
    steps = iter(range(_MAX_STEPS))
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.set_progress_handler(lambda: next(steps, None) is None, _OPERATIONS_A_STEP)
    _prepare(connection, query, values)
    views = {
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")
    }
    connection.set_authorizer(lambda *asked: _may(asked, views))
    rows = connection.execute(query, tuple(values)).fetchmany(_MAX_ROWS + 1)
    if len(rows) > _MAX_ROWS:
        raise sqlite3.DataError("too many rows")
    return rows


def _prepare(connection: sqlite3.Connection, query: str, values: Sequence[object]) -> None:
    """Verify a copy, and open the tables that a query uses, without running the query.

    R-trees prepare to write when they are opened, which `_may` would deny. A missing collation is
    replaced, and its indexes are rebuilt, because an old index could return other rows than the
    table.

    Raises:
        sqlite3.Error: the database is corrupt, or does not have the tables or columns.
    """
    for _ in range(_MAX_COLLATIONS):
        try:
            connection.execute(f"EXPLAIN {query}", tuple(values)).fetchall()
            if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
                raise sqlite3.DatabaseError("the database is damaged")
        except sqlite3.OperationalError as exc:
            name = str(exc).partition("no such collation sequence: ")[2]
            if not name:
                raise
            connection.create_collation(name, _by_code_points)
            connection.execute('REINDEX "{}"'.format(name.replace('"', '""')))
        else:
            return
    raise sqlite3.DatabaseError("too many collations are missing")


def _by_code_points(left: str, right: str) -> int:
    return (left > right) - (left < right)


def _may(asked: tuple[object, ...], views: set[str]) -> int:
    """Authorise SQLite to read tables only, and full-text tables to read their version."""
    action, first, *_, inner = asked
    if (action, first) == (sqlite3.SQLITE_PRAGMA, "data_version"):
        return sqlite3.SQLITE_OK
    allowed = {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
    is_view = first in views or inner in views
    return sqlite3.SQLITE_OK if action in allowed and not is_view else sqlite3.SQLITE_DENY
