"""Databases that other programs hold."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from typing import TYPE_CHECKING

import pytest

from evaluators.desktop.database import sqlite_query_equals
from evaluators.testing.desktop import DesktopFixture
from foundation import process

if TYPE_CHECKING:
    from pathlib import Path

_HOLD = """
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
for place in sys.argv[2:]:
    fcntl.lockf(fd, fcntl.LOCK_EX, 1, int(place))
print("held", flush=True)
time.sleep(600)
"""
PENDING, RESERVED = 0x40000000, 0x40000001


def _with_journal(folder: Path) -> Path:
    """Create a database with "new" and a journal that restores "old"."""
    path, kept = folder / "a.db", folder / "kept"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (name)")
        connection.execute("INSERT INTO t VALUES ('old')")
    connection.execute("PRAGMA cache_size = 1")  # more rows than it holds: the journal is written
    connection.execute("UPDATE t SET name = 'new'")
    connection.execute(
        "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n LIMIT 9000) "
        "INSERT INTO t SELECT x FROM n"
    )
    connection.execute("DELETE FROM t WHERE name <> 'new'")
    shutil.copy(f"{path}-journal", kept)
    connection.commit()
    connection.close()
    kept.rename(f"{path}-journal")
    return path


@pytest.mark.parametrize(
    ("held", "name"), [((), "old"), ((RESERVED,), "new"), ((PENDING, RESERVED), "old")]
)
def test_journal_is_rolled_back_unless_a_write_is_imminent(
    tmp_path: Path, held: tuple[int, ...], name: str
) -> None:
    desktop = DesktopFixture(tmp_path)
    path = _with_journal(desktop.home)
    argv = [sys.executable, "-c", _HOLD, str(path), *map(str, held)]
    holder = process.start(argv)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        for row in ("old", "new"):
            guest = desktop.subject()
            is_met = sqlite_query_equals(guest, "~/a.db", "SELECT name FROM t", [[row]])
            assert is_met is (row == name)
    finally:
        process.kill_group(holder)
        for pipe in (holder.stdin, holder.stdout, holder.stderr):
            if pipe is not None:
                pipe.close()
