"""Threat model of evaluators of SQLite databases, including Firefox's.

What the agent's user can do to their input: everything that it can do to files
(`tests.attacks.files`); leave journals and write-ahead logs next to a database, never commit,
define views instead of tables, damage pages; fill the disk that copies are stored on.

Defences: a consistent copy of database, journal, and log is stored in a folder that the user cannot
fill, read as SQLite reads it, and must pass SQLite's integrity check.
"""

from __future__ import annotations

import base64
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.model import NO_TOOL, ShellAttack
from tests.attacks.techniques import (
    MOUNTS,
    TIMES,
    WRITES,
    Target,
    ThreatModel,
    contents,
    generate,
    honest,
    hostile,
)

if TYPE_CHECKING:
    from provisioning.protocols import Json

FAMILY = "databases"


def _database(*statements: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="mesocosm-") as name:
        path = Path(name, "shop.db")
        connection = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()
        return path.read_bytes()


_TABLE = "CREATE TABLE item (name TEXT)"
_RIGHT = _database(_TABLE, "INSERT INTO item VALUES ('pear')")
_WRONG = _database(_TABLE)


def _rows(path: str) -> Call:
    args: dict[str, Json] = {"path": path, "query": "SELECT name FROM item", "rows": [["pear"]]}
    return Call("rows", "sqlite_query_equals", args)


def _python(code: str) -> str:
    """Return a script that runs Python code on the database at ``$1``."""
    text = base64.b64encode(
        f"import os, sqlite3, sys\npath = sys.argv[1]\n{code}".encode()
    ).decode()
    return (
        f"command -v python3 > /dev/null || {{ echo {NO_TOOL}; exit 0; }}; "
        f'echo {text} | base64 -d > make-db.py; {contents(_WRONG)}\npython3 make-db.py "$1"'
    )


DATABASE = Target("database", "shop.db", contents(_RIGHT), contents(_WRONG), _rows)
_MODEL = ThreatModel(FAMILY, (DATABASE,), WRITES, MOUNTS, TIMES)

HOSTILE = (
    hostile(
        FAMILY,
        DATABASE,
        "view instead of a table",
        contents(_database("CREATE VIEW item AS SELECT 'pear' AS name")),
        "views are not read",
    ),
    hostile(
        FAMILY,
        DATABASE,
        "uncommitted row",
        _python(
            "db = sqlite3.connect(path, isolation_level=None)\n"
            "db.execute('PRAGMA cache_size=1'); db.execute('PRAGMA cache_spill=1')\n"
            "db.execute('BEGIN'); db.execute(\"INSERT INTO item VALUES ('pear')\")\n"
            "db.executemany('INSERT INTO item VALUES (?)', [('x' * 4000,)] * 99)\n"
            "db.execute(\"DELETE FROM item WHERE name <> 'pear'\")\n"
            "os.kill(os.getpid(), 9)"
        ),
        "uncommitted changes are rolled back",
    ),
    hostile(
        FAMILY,
        DATABASE,
        "damaged page",
        contents(_RIGHT[:4096] + bytes(len(_RIGHT) - 4096)),
        "the database must pass the integrity check",
    ),
    hostile(
        FAMILY,
        DATABASE,
        "symbolic link as write-ahead log",
        contents(_WRONG) + '\nln -sfn /dev/zero "$1-wal"; ln -sfn "$right" "$1-journal"',
        "a database with an unreadable log is unmet",
    ),
    hostile(
        FAMILY,
        DATABASE,
        "generated column",
        contents(
            _database(
                "CREATE TABLE item (x INTEGER, name TEXT GENERATED ALWAYS AS "
                "(CASE WHEN x THEN 'pear' END))",
                "INSERT INTO item (x) VALUES (0)",
            )
        ),
        "rows are compared as SQLite reads them",
    ),
)
ATTACKS: tuple[ShellAttack, ...] = (*generate(_MODEL), *HOSTILE)
HONEST = (honest(FAMILY, DATABASE),)
