"""Select and sort a provider's rows with SQL from callers of ``content``.

The rows are copied into an in-memory database that contains nothing else, so that an expression
cannot read other state; its operations and run time are limited.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from images.phone.device.store.database import Row

_MAX_CHARS = 4096
_MAX_STEPS = 2000
_STEP_OPERATIONS = 1000
_ALLOWED = frozenset((sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT))
_FUNCTIONS = frozenset(
    (
        *("abs", "coalesce", "count", "date", "datetime", "glob", "ifnull", "instr", "length"),
        *("like", "lower", "ltrim", "max", "min", "nullif", "round", "rtrim", "strftime"),
        *("substr", "sum", "time", "trim", "typeof", "unicode", "upper"),
    )
)


def select(rows: list[Row], columns: Sequence[str], where: str, sort: str) -> list[Row]:
    """Return the rows that meet a condition, sorted.

    Args:
        rows: rows with all columns.
        columns: names that the expressions may use.
        where: an SQL expression; empty selects all rows.
        sort: the text after ORDER BY; empty keeps the order.

    Raises:
        CommandError: an expression is invalid, too long, or takes too long.
    """
    if not where and not sort:
        return rows
    if max(len(where), len(sort)) > _MAX_CHARS:
        raise CommandError("[ERROR] the expression is too long")
    with closing(sqlite3.connect(":memory:")) as db:
        names = ", ".join(f'"{name}" {_affinity(rows, name)}' for name in columns)
        db.execute(f"CREATE TABLE data (place INTEGER, {names})")
        marks = ", ".join("?" * (len(columns) + 1))
        db.executemany(
            f"INSERT INTO data VALUES ({marks})",  # noqa: S608 - question marks only
            [(place, *(row[name] for name in columns)) for place, row in enumerate(rows)],
        )
        steps = iter(range(_MAX_STEPS))
        db.set_authorizer(_authorize)
        db.set_progress_handler(lambda: next(steps, None) is None, _STEP_OPERATIONS)
        query = f"SELECT place FROM data WHERE ({where or '1'}\n) ORDER BY {sort or 'place'}"  # noqa: S608 - see above
        try:
            return [rows[place] for (place,) in db.execute(query).fetchall()]
        except (sqlite3.Error, sqlite3.Warning, ValueError, IndexError, TypeError) as exc:
            raise CommandError(f"[ERROR] {exc}: {where} {sort}".rstrip()) from exc


def _affinity(rows: list[Row], name: str) -> str:
    """Return a column's type; numbers compare equal to quoted numbers only in a numeric column."""
    kinds = {type(row[name]) for row in rows if row[name] is not None}
    if kinds <= {int, bool}:
        return "INTEGER"
    return "REAL" if kinds <= {int, float} else "TEXT"


def _authorize(action: int, _: str | None, name: str | None, *__: str | None) -> int:
    is_known = action == sqlite3.SQLITE_FUNCTION and name in _FUNCTIONS
    return sqlite3.SQLITE_OK if action in _ALLOWED or is_known else sqlite3.SQLITE_DENY
