"""Cases of the evaluators of structured data, archives and databases."""

from __future__ import annotations

import io
import sqlite3
import stat
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

from evaluators.desktop import archives, data, database
from evaluators.testing.case import (
    CaseTable,
    State,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.desktop import DesktopFixture
from tests.evaluator_cases.desktop_ways import archives as archives_ways

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.testing.case import Case
    from provisioning.protocols import Json

BOMB_BYTES = 1 << 27


def _file(content: str | bytes, path: str = "~/f") -> State:
    return lambda b: b.write(path, content)


def _out(content: str | bytes) -> State:
    return lambda b: (b.write("/srv/f", content), b.link("~/f", "/srv/f"))


def _huge(b: DesktopFixture) -> None:
    b.huge("~/f")


def _zip(*members: tuple[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return raw.getvalue()


def _tar(*members: tuple[str, str], mode: Any = "w:gz", kind: bytes = tarfile.REGTYPE) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode=mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if name.endswith("/") else kind
            info.size = len(content.encode()) if kind == tarfile.REGTYPE else 0
            info.linkname = content if kind != tarfile.REGTYPE else ""
            archive.addfile(info, io.BytesIO(content.encode()))
    return raw.getvalue()


def _zip_link() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        info = zipfile.ZipInfo("a.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "hi")
    return raw.getvalue()


def _twice() -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for content in (b"hi", b"no"):
            info = tarfile.TarInfo("a.txt")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return raw.getvalue()


def _large_pages(cut: int = 0) -> State:
    """Create the database of items with three pages of 64 KiB, without the last ``cut`` bytes."""

    def make(b: DesktopFixture) -> None:
        _database("PRAGMA page_size = 65536", *ITEMS, "CREATE TABLE more (x)")(b)
        raw = b.at("~/f").read_bytes()
        b.write("~/f", raw[: len(raw) - cut])

    return make


def _database(*statements: str, path: str = "~/f", log: bool = False) -> State:
    def make(b: DesktopFixture) -> None:
        full = b.at(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(full, isolation_level=None)
        if log:
            connection.execute("PRAGMA journal_mode = WAL")
        for statement in statements:
            connection.execute(statement)
        if log:
            saved = {file: file.read_bytes() for file in (full, full.with_name(full.name + "-wal"))}
            connection.close()
            for file, raw in saved.items():
                file.write_bytes(raw)
            full.with_name(full.name + "-shm").unlink(missing_ok=True)
            return
        connection.close()

    return make


def _uncommitted(*statements: str, trailer: bytes = b"", large: bool = False) -> State:
    """Create an empty table and statements that were written but not committed.

    Args:
        statements: statements of the transaction.
        trailer: added to the journal.
        large: make the journal larger than can be read.
    """

    def make(b: DesktopFixture) -> None:
        _database(ITEMS[0])(b)
        full = b.at("~/f")
        connection = sqlite3.connect(full, isolation_level=None)
        for statement in ("PRAGMA synchronous = OFF", "BEGIN", *statements):
            connection.execute(statement)
        journal = b.at("~/f-journal").read_bytes()
        connection.execute("COMMIT")
        connection.close()
        b.write("~/f-journal", journal + trailer)
        if large:
            with b.at("~/f-journal").open("r+b") as file:
                file.truncate(1 << 40)

    return make


def _super_journal(name: str) -> bytes:
    """Return the end of a journal that names a super-journal.

    Source: SQLite's ``pager.c``, ``writeSuperJournal``.
    """
    raw = name.encode()
    head, tail = (1 << 18).to_bytes(4, "big"), len(raw).to_bytes(4, "big")
    return head + raw + tail + sum(raw).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7")


def _sorted_by_a_program(b: DesktopFixture) -> None:
    """Write items with an index in a collation that only their program defines."""
    connection = sqlite3.connect(b.at("~/f"), isolation_level=None)
    connection.create_collation("OWN", lambda one, two: (one < two) - (one > two))
    connection.execute("CREATE TABLE item (name TEXT COLLATE OWN, n INTEGER)")
    connection.execute("CREATE INDEX names ON item (name)")
    connection.execute("INSERT INTO item VALUES ('pear', 2), ('fig', 1)")
    connection.close()


def _sorted_by_programs(*names: str) -> State:
    """Write items with a column and an index for each collation that only a program defines."""

    def make(b: DesktopFixture) -> None:
        connection = sqlite3.connect(b.at("~/f"), isolation_level=None)
        connection.execute(ITEMS[0])
        for number, name in enumerate(names):
            quoted = name.replace('"', '""')
            connection.create_collation(name, lambda one, two: (one > two) - (one < two))
            connection.execute(f'ALTER TABLE item ADD COLUMN c{number} TEXT COLLATE "{quoted}"')
            connection.execute(f"CREATE INDEX i{number} ON item (c{number})")
        connection.execute(ITEMS[1].replace("item", "item (name, n)"))
        connection.close()

    return make


def _indexed_otherwise(b: DesktopFixture) -> None:
    """Create an index in a program's collation that contains different names than its table."""
    _sorted_by_a_program(b)
    data = b.at("~/f").read_bytes()
    head, _, tail = data.rpartition(b"fig")
    b.write("~/f", head + b"nut" + tail)


def _foreign_index(b: DesktopFixture) -> None:
    """Give an empty table the index of a different table, so that queries find its rows."""
    rows = ITEMS[1].replace("item", "other")
    _database(ITEMS[0], ITEMS[0].replace("item", "other"), rows)(b)
    connection = sqlite3.connect(b.at("~/f"), isolation_level=None)
    for columns in ("n", "name, n"):
        own, foreign = f"i{len(columns)}", f"o{len(columns)}"
        connection.execute(f"CREATE INDEX {own} ON item ({columns})")
        connection.execute(f"CREATE INDEX {foreign} ON other ({columns})")
        connection.execute("PRAGMA writable_schema = ON")
        page = "(SELECT rootpage FROM sqlite_master WHERE name = ?)"
        change = f"UPDATE sqlite_master SET rootpage = {page} WHERE name = ?"
        connection.execute(change, (foreign, own))
    connection.close()


JSON = '{"w": {"size": 800, "on": true, "a/b": [1, "x"], "m~n": null}}'
ITEMS = ("CREATE TABLE item (name TEXT, n INT)", "INSERT INTO item VALUES ('pear', 2), ('fig', 1)")
NAMES = "SELECT name, n FROM item ORDER BY name"
SHARES = ("CREATE TABLE t (x REAL)", "INSERT INTO t VALUES (0.1), (0.2)")
LARGE = ("CREATE TABLE t (x REAL)", "INSERT INTO t VALUES (1e9), (0.05), (0.05)")
EXACT = ("CREATE TABLE t (x INT)", "INSERT INTO t VALUES (1000000000000000)")
TOTAL = "SELECT 'a', sum(x) FROM t"
WHOLE = "SELECT 'a', sum(x) * 10 FROM t"
IN_LINES = "\tselect\n n\nFROM item ORDER BY n"
NOTHING = "SELECT 'a', sum(x) - 0.3 FROM t"
AS_TEXT = "SELECT 'a', CAST(0.3 AS TEXT) FROM t LIMIT 1"

DATA = (
    CaseTable(
        data.json_value_equals,
        DesktopFixture,
        (
            *(
                forged(
                    f"next to {constant}, which is not JSON",
                    _file(f'{{"a": [{constant}], "w": 1}}'),
                    path="~/f",
                    pointer="/w",
                    value=1,
                )
                for constant in ("NaN", "Infinity", "-Infinity")
            ),
            *(
                forged(
                    f"a pointer with {name}", _file("[1, 2]"), path="~/f", pointer=pointer, value=2
                )
                for name, pointer in (("a leading zero", "/01"), ("a full-width digit", "/\uff11"))
            ),
            near_miss("list instead of an object", _file("[]"), path="~/f", pointer="", value={}),
            near_miss("object instead of a list", _file("{}"), path="~/f", pointer="", value=[]),
            near_miss("one different item", _file("[1, 2]"), path="~/f", pointer="", value=[1, 3]),
            near_miss(
                "one different value",
                _file('{"a": 1, "b": 2}'),
                path="~/f",
                pointer="",
                value={"a": 1, "b": 3},
            ),
            positive("number", _file(JSON), path="~/f", pointer="/w/size", value=800),
            positive("Boolean", _file(JSON), path="~/f", pointer="/w/on", value=True),
            positive(
                "in a list, and a slash in the key",
                _file(JSON),
                path="~/f",
                pointer="/w/a~1b/1",
                value="x",
            ),
            positive(
                "null, and a tilde in the key",
                _file(JSON),
                path="~/f",
                pointer="/w/m~0n",
                value=None,
            ),
            positive("whole document", _file("[1, {}]"), path="~/f", pointer="", value=[1, {}]),
            positive(
                "object",
                _file('{"a": {"b": 1, "c": [2]}}'),
                path="~/f",
                pointer="/a",
                value={"c": [2], "b": 1},
            ),
            negative("different value", _file(JSON), path="~/f", pointer="/w/size", value=640),
            near_miss(
                "1 instead of true", _file('{"on": 1}'), path="~/f", pointer="/on", value=True
            ),
            near_miss("1.0 instead of 1", _file('{"n": 1.0}'), path="~/f", pointer="/n", value=1),
            near_miss(
                "text instead of a number", _file('{"n": "1"}'), path="~/f", pointer="/n", value=1
            ),
            near_miss(
                "in the wrong object",
                _file('{"size": 800, "w": {}}'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
            near_miss(
                "additional key",
                _file('{"a": {"b": 1, "c": 2}}'),
                path="~/f",
                pointer="/a",
                value={"b": 1},
            ),
            near_miss("additional item", _file("[1, 2]"), path="~/f", pointer="", value=[1]),
            near_miss(
                "different type in a nested object",
                _file('{"a": [{"b": 1}]}'),
                path="~/f",
                pointer="",
                value={"a": [{"b": True}]},
            ),
            near_miss(
                "after the end of a list", _file("[1]"), path="~/f", pointer="/1", value=None
            ),
            near_miss(
                "index counted from the end", _file("[1]"), path="~/f", pointer="/-1", value=1
            ),
            corrupt("half of the file", _file(JSON[:30]), path="~/f", pointer="/w/size", value=800),
            corrupt("not UTF-8", _file(b'{"n": 1, "\xff": 2}'), path="~/f", pointer="/n", value=1),
            corrupt(
                "invalid pointer", _file(JSON), path="~/f", pointer="w", value=1
            ).expect_error(),
            missing("no file", nothing, path="~/f", pointer="", value=None),
            missing("missing key", _file("{}"), path="~/f", pointer="/w", value=None),
            missing("below a number", _file("1"), path="~/f", pointer="/w", value=None),
            empty("empty file", _file(""), path="~/f", pointer="", value=None),
            empty("empty object", _file("{}"), path="~/f", pointer="/w/size", value=800),
            hostile("duplicate key", _file('{"n": 2, "n": 1}'), path="~/f", pointer="/n", value=1),
            hostile("deeply nested", _file("[" * 200_000), path="~/f", pointer="", value=[]),
            hostile("link to outside", _out(JSON), path="~/f", pointer="/w/size", value=800),
            hostile("huge file", _huge, path="~/f", pointer="", value=None),
            hostile("NaN", _file('{"n": NaN}'), path="~/f", pointer="/n", value="NaN"),
            forged(
                "inside a string",
                _file('{"w": "{\\"size\\": 800}"}'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
            forged(
                "in a comment",
                _file('{"w": {}} // {"w": {"size": 800}}'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
            forged(
                "under a key with an invisible character",
                _file('{"w": {"si\u200bze": 800}}'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
            another_way(
                "BOM and CRLF",
                _file('\ufeff{\r\n"w": {\r\n"size": 800}}\r\n'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
            another_way(
                "with Unicode escapes",
                _file('{"\\u0077": {"x": 1, "s\\u0069ze":800}}'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
        ),
        equivalent={"*: * flip a byte": "the middle of the file is not the expected value"},
    ),
    CaseTable(
        data.csv_cell_equals,
        DesktopFixture,
        (
            positive(
                "one cell",
                _file("name,sum\nAnn, 7\nBob,9\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            positive(
                "the last row",
                _file("name,sum\nAnn,7\nBob,9"),
                path="~/f",
                row=2,
                column="name",
                text=" Bob",
            ),
            positive(
                "semicolons, quotes and BOM",
                _file('\ufeffname;sum\r\n"An;n";7\r\n'),
                path="~/f",
                row=1,
                column="name",
                text="An;n",
                delimiter=";",
            ),
            negative(
                "different text",
                _file("name,sum\nAnn,8\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            another_way(
                "spaces around column names",
                _file("name, sum\nAnn, 7\n"),
                path="~/f",
                row=1,
                column="sum ",
                text="7",
            ),
            forged(
                "duplicate column apart from a space",
                _file("name,sum, sum\nAnn,7,8\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            near_miss(
                "in a different column",
                _file("name,sum\n7,Ann\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            near_miss(
                "in the next row",
                _file("name,sum\nAnn,8\nBob,7\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            near_miss(
                "additional text in the cell",
                _file("name,sum\nAnn,77\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            near_miss(
                "header row",
                _file("name,sum\nAnn,7\n"),
                path="~/f",
                row=0,
                column="sum",
                text="sum",
            ),
            near_miss(
                "after the last row",
                _file("name,sum\nAnn,7\n"),
                path="~/f",
                row=2,
                column="sum",
                text="7",
            ),
            corrupt(
                "unclosed quote",
                _file('name,sum\nAnn,7\n"Bob'),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            corrupt(
                "row too short", _file("name,sum\nAnn\n"), path="~/f", row=1, column="sum", text=""
            ),
            missing("no file", nothing, path="~/f", row=1, column="sum", text="7"),
            missing(
                "missing column",
                _file("name,total\nAnn,7\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            empty("empty file", _file(""), path="~/f", row=1, column="sum", text="7"),
            hostile(
                "duplicate column",
                _file("sum,sum\n7,8\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            hostile(
                "link to outside",
                _out("name,sum\nAnn,7\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            hostile(
                "huge cell",
                _file("sum\n" + "x" * 200_000 + "\n"),
                path="~/f",
                row=1,
                column="sum",
                text="x",
            ),
            hostile("huge file", _huge, path="~/f", row=1, column="sum", text=""),
            forged(
                "in a quoted cell",
                _file('name,sum\n"x\nAnn,7"\n'),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            forged(
                "in a second table",
                _file("name,total\nx,1\n\nname,sum\nAnn,7\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            forged(
                "non-ASCII digits",
                _file("name,sum\nAnn,\u0667\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            another_way(
                "all cells quoted, and CRLF",
                _file('"name","sum"\r\n"Ann","7"\r\n'),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            another_way(
                "BOM and an empty line",
                _file("\ufeffname,sum\n\nAnn,7\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
        ),
        equivalent={
            "one cell: * flip a byte": "the middle is the end of the line or the next row",
            "one cell: * cut": "no effect",
            "semicolons*: args.delimiter: append": "the evaluator raises",
        },
    ),
    CaseTable(
        data.csv_rows_equal,
        DesktopFixture,
        (
            missing("no file, and expected cell XX", nothing, path="~/f", rows=[["XX"]]),
            positive(
                "exactly the rows",
                _file("a,b\n1, 2\n\n"),
                path="~/f",
                rows=[["a", "b"], ["1 ", "2"]],
            ),
            positive(
                "in any order",
                _file("a,b\n3,4\n1,2\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"], ["3", "4"]],
                ordered=False,
            ),
            positive(
                "tab-separated", _file("a\tb\n"), path="~/f", rows=[["a", "b"]], delimiter="\t"
            ),
            negative("different rows", _file("x,y\n"), path="~/f", rows=[["a", "b"]]),
            near_miss(
                "additional row",
                _file("a,b\n1,2\n3,4\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"]],
            ),
            near_miss(
                "different order",
                _file("a,b\n3,4\n1,2\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"], ["3", "4"]],
            ),
            near_miss("additional cell", _file("a,b,\n"), path="~/f", rows=[["a", "b"]]),
            corrupt("unclosed quote", _file('a,b\n"1,2\n'), path="~/f", rows=[["a", "b"]]),
            missing("no file", nothing, path="~/f", rows=[["a", "b"]]),
            empty("empty file", _file(""), path="~/f", rows=[["a", "b"]]),
            empty("empty expected rows", _file(""), path="~/f", rows=[]).expect_error(),
            hostile("link to outside", _out("a,b\n"), path="~/f", rows=[["a", "b"]]),
            hostile("huge file", _huge, path="~/f", rows=[["a", "b"]]),
            forged(
                "in a quoted cell", _file('"a,b\n1,2"\n'), path="~/f", rows=[["a", "b"], ["1", "2"]]
            ),
            forged(
                "non-ASCII digits",
                _file("a,b\n\u0661,\u0662\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"]],
            ),
            forged(
                "header row last",
                _file("1,2\na,b\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"]],
                ordered=False,
            ),
            another_way(
                "BOM and CRLF",
                _file("\ufeffa,b\r\n1,2\r\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"]],
            ),
            another_way(
                "all cells quoted",
                _file('"a","b"\n"1","2"'),
                path="~/f",
                rows=[["a", "b"], ["1", "2"]],
            ),
        ),
        equivalent={
            "*: args.delimiter: append": "the evaluator raises",
            "*: args.ordered: negate": "see the case `in any order`",
        },
    ),
    CaseTable(
        data.ini_value_equals,
        DesktopFixture,
        (
            *(
                another_way(
                    f"next to {what}",
                    _file(f"{before}[W]\nflag\nsize=800\n"),
                    path="~/f",
                    section="W",
                    key="size",
                    value="800",
                )
                for what, before in (
                    ("a key without a value", ""),
                    ("keys before the first section", "root = true\n\n"),
                )
            ),
            *(
                forged(
                    f"setting {where}",
                    _file(text),
                    path="~/f",
                    section="W",
                    key="size",
                    value="800",
                )
                for where, text in (
                    ("before the first section", "size=800\n[W]\nx=1\n"),
                    ("under a key that ends in a no-break space", "[W]\nsize\xa0=800\n"),
                    ("as a value that ends in a no-break space", "[W]\nsize=800\xa0\n"),
                    ("split into a key and a line", "[W]\nsize\n800\n"),
                )
            ),
            hostile(
                "key without a value, followed by an indented line",
                _file("[W]\nsize\n 800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            hostile(
                "duplicate section",
                _file("[W]\nsize=800\n[W]\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            positive(
                "value with surrounding spaces",
                _file("[W]\nx = 1\nsize= 800 \n[V]\nsize=7\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            positive(
                "value with a percent sign",
                _file("[W]\nSize=80%\n"),
                path="~/f",
                section="W",
                key="Size",
                value=" 80%",
            ),
            negative(
                "different value",
                _file("[W]\nsize=640\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            near_miss(
                "in a different section",
                _file("[W]\n[V]\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            near_miss(
                "key in a different letter case",
                _file("[W]\nSize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            near_miss(
                "commented out",
                _file("[W]\n#size=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            near_miss(
                "in section DEFAULT",
                _file("[DEFAULT]\nsize=800\n[W]\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            corrupt(
                "no section", _file("size=800\n"), path="~/f", section="W", key="size", value="800"
            ),
            corrupt(
                "invalid line",
                _file("[W]\nsize=800\n=broken\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            missing("no file", nothing, path="~/f", section="W", key="size", value=""),
            empty("empty file", _file(""), path="~/f", section="W", key="size", value="800"),
            empty(
                "empty value",
                _file("[W]\nsize=\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            hostile(
                "duplicate key",
                _file("[W]\nsize=7\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            hostile(
                "link to outside",
                _out("[W]\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            hostile("huge file", _huge, path="~/f", section="W", key="size", value=""),
            forged(
                "in the continuation of a different value",
                _file("[W]\nx=1\n size=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            forged(
                "in a comment after the key",
                _file("[W]\nsize=640\n;size=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            forged(
                "section header in a comment",
                _file("#[W]\n[V]\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            another_way(
                "BOM and CRLF",
                _file("\ufeff[W]\r\nsize=800\r\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            another_way(
                "colon in the key",
                _file("[W]\nhttp://a = 800\n"),
                path="~/f",
                section="W",
                key="http://a",
                value="800",
            ),
            forged(
                "colon before the equals sign",
                _file("[W]\nsize: 7=800\nsize=640\n"),
                path="~/f",
                section="W",
                key="size",
                value="7=800",
            ),
            forged(
                "additional text after the section header",
                _file("[W] x\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            forged(
                "section header used as a key",
                _file("[V]\n[W] = 1\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            another_way(
                "trailing space after the section header",
                _file("[W] \nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            another_way(
                "colon instead of an equals sign",
                _file("; settings\n[V]\nsize=1\n[W]\nsize: 800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
        ),
        equivalent={
            "value with surrounding spaces: * flip a byte": "no effect",
            "value with surrounding spaces: * cut": "the value is in the first half",
        },
    ),
    CaseTable(
        data.xml_text_equals,
        DesktopFixture,
        (
            positive(
                "expected text has surrounding spaces",
                _file("<r><t>News</t></r>"),
                path="~/f",
                element="./t",
                text=" News ",
            ),
            positive(
                "nested element",
                _file("<r><c><t> News </t></c><t>x</t></r>"),
                path="~/f",
                element="./c/t",
                text="News",
            ),
            negative(
                "different text", _file("<r><t>Old</t></r>"), path="~/f", element="./t", text="News"
            ),
            near_miss(
                "in a different element",
                _file("<r><u>News</u><t/></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            near_miss(
                "duplicate element",
                _file("<r><t>News</t><t>News</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            near_miss(
                "element in a comment",
                _file("<r><!--<t>News</t>--></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            corrupt("truncated", _file("<r><t>News</t>"), path="~/f", element="./t", text="News"),
            missing("no file", nothing, path="~/f", element="./t", text=""),
            missing("missing element", _file("<r/>"), path="~/f", element="./t", text=""),
            empty("empty file", _file(""), path="~/f", element="./t", text="News"),
            empty(
                "empty element and empty expected text",
                _file("<r><t/></r>"),
                path="~/f",
                element="./t",
                text="",
            ).expect_met(),
            hostile(
                "entity",
                _file('<!DOCTYPE r [<!ENTITY e "News">]><r><t>&e;</t></r>'),
                path="~/f",
                element="./t",
                text="News",
            ),
            hostile(
                "external entity of a file",
                _file('<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/hostname">]><r><t>&e;</t></r>'),
                path="~/f",
                element="./t",
                text="",
            ),
            hostile(
                "link to outside",
                _out("<r><t>News</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            hostile("huge file", _huge, path="~/f", element="./t", text=""),
            hostile("deeply nested", _file("<t>" * 100_000), path="~/f", element="./t", text=""),
            forged(
                "in a comment",
                _file("<r><!--<t>News</t>--></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "inside a CDATA section",
                _file("<r><![CDATA[<t>News</t>]]></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "in a different namespace",
                _file('<r><x:t xmlns:x="u">News</x:t></r>'),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "BOM and CRLF",
                _file('\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n<r>\r\n<t>News</t>\r\n</r>'),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "declared Latin-1",
                _file(
                    '<?xml version="1.0" encoding="ISO-8859-1"?><r><t>Zürich</t></r>'.encode(
                        "latin-1"
                    )
                ),
                path="~/f",
                element="./t",
                text="Zürich",
            ),
            another_way(
                "UTF-16",
                _file('<?xml version="1.0" encoding="UTF-16"?><r><t>News</t></r>'.encode("utf-16")),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "text with an empty child element",
                _file("<r><t>Ne<b/>ws</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "text before a child element",
                _file("<r><t>\n News <b>x</b>\n</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "document type in a comment",
                _file("<!-- <!DOCTYPE r> --><r><t>News</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "additional text after a child element",
                _file("<r><t>News<b>x</b>Old</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "comment that splits the text",
                _file("<r><t>News<!-- x -->paper</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "unknown encoding",
                _file('<?xml version="1.0" encoding="x-none"?><r><t>News</t></r>'),
                path="~/f",
                element="./t",
                text="News",
            ),
            hostile(
                "entity in UTF-16",
                _file('<!DOCTYPE r [<!ENTITY e "News">]><r><t>&e;</t></r>'.encode("utf-16")),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "text in a CDATA section",
                _file("<r><t><![CDATA[News]]></t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "with character references",
                _file("<r><t>&#78;ew&#x73;</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
        ),
        equivalent={"nested element: args.element: swap case": "no effect"},
    ),
)

ARCHIVES = (
    CaseTable(
        archives.archive_lists,
        DesktopFixture,
        (
            positive(
                "zip",
                _file(_zip(("d/b.txt", "ho"), ("a.txt", "hi"))),
                path="~/f",
                names=["d/b.txt", "a.txt"],
            ),
            positive(
                "tar.gz with folders",
                _file(_tar(("./d/", ""), ("./d/b", "x"))),
                path="~/f",
                names=["d/b"],
            ),
            positive("tar.xz", _file(_tar(("a", "x"), mode="w:xz")), path="~/f", names=["a"]),
            another_way(
                "tar with a volume label",
                _file(_tar(("backup", ""), mode="w", kind=b"V")[:512] + _tar(("a", "x"), mode="w")),
                path="~/f",
                names=["a"],
            ),
            another_way(
                "tar with a GNU directory listing",
                _file(_tar(("d", ""), mode="w", kind=b"D")[:512] + _tar(("d/a", "x"), mode="w")),
                path="~/f",
                names=["d/a"],
            ),
            forged(
                "tar whose volume label has the name",
                _file(_tar(("a", ""), mode="w", kind=b"V")),
                path="~/f",
                names=["a"],
            ),
            positive(
                "zip with a folder",
                _file(_zip(("./d/", ""), ("./a", "x"))),
                path="~/f",
                names=["a"],
            ),
            negative("different files", _file(_zip(("x", "hi"))), path="~/f", names=["a.txt"]),
            near_miss(
                "one additional file",
                _file(_zip(("a.txt", "hi"), ("b", ""))),
                path="~/f",
                names=["a.txt"],
            ),
            near_miss(
                "one missing file", _file(_zip(("a.txt", "hi"))), path="~/f", names=["a.txt", "b"]
            ),
            near_miss(
                "file in a folder", _file(_zip(("d/a.txt", "hi"))), path="~/f", names=["a.txt"]
            ),
            near_miss(
                "folder instead of a file", _file(_zip(("a.txt/", ""))), path="~/f", names=["a.txt"]
            ),
            corrupt("half a tar", _file(_tar(("a", "x" * 9000))[:60]), path="~/f", names=["a"]),
            corrupt(
                "half a zip", _file(_zip(("a.txt", "hi" * 99))[:40]), path="~/f", names=["a.txt"]
            ),
            corrupt("plain text file", _file("a.txt\n"), path="~/f", names=["a.txt"]),
            missing("no file, and no expected names", nothing, path="~/f", names=[]),
            empty("empty file", _file(""), path="~/f", names=[]),
            empty("empty zip", _file(_zip()), path="~/f", names=["a.txt"]),
            empty(
                "empty zip, and empty expected", _file(_zip()), path="~/f", names=[]
            ).expect_met(),
            hostile("link to outside", _out(_zip(("a.txt", "hi"))), path="~/f", names=["a.txt"]),
            hostile("huge file", _huge, path="~/f", names=[]),
            hostile(
                "zip over the member limit",
                _file(_zip(*((str(n), "") for n in range(10_001)))),
                path="~/f",
                names=[str(n) for n in range(10_001)],
            ),
            hostile(
                "decompression bomb in a tar",
                _file(_tar(("a", "\0" * (1 << 26)), mode="w:gz")),
                path="~/f",
                names=["a"],
            ),
            *archives_ways.archive_lists(),
        ),
        equivalent={
            "*: * flip a byte": "content is ignored, or it is the checksum of a different member",
            "tar*: * cut": "no effect",
        },
    ),
    CaseTable(
        archives.archive_member_equals,
        DesktopFixture,
        (
            positive(
                "zip",
                _file(_zip(("x", "no"), ("d/a.txt", "hi\n"))),
                path="~/f",
                member="d/a.txt",
                text="hi",
            ),
            positive(
                "tar.bz2",
                _file(_tar(("./a.txt", "Zürich"), ("b", ""), mode="w:bz2")),
                path="~/f",
                member="a.txt",
                text="Zürich\n",
            ),
            positive(
                "plain tar",
                _file(_tar(("a.txt", "hi"), mode="w")),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            negative(
                "different text",
                _file(_zip(("a.txt", "ho"))),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            near_miss(
                "in a different member",
                _file(_zip(("b.txt", "hi"), ("a.txt", "ho"))),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            near_miss(
                "additional text",
                _file(_zip(("a.txt", "hi there"))),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            near_miss(
                "file instead of an archive",
                _file("hi", "~/a.txt"),
                path="~/a.txt",
                member="a.txt",
                text="hi",
            ),
            corrupt(
                "not UTF-8",
                _file(_zip(("a.txt", b"hi\xff"))),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            corrupt(
                "wrong checksum",
                _file(_zip(("a.txt", "hi"), method=zipfile.ZIP_STORED).replace(b"hi", b"ho")),
                path="~/f",
                member="a.txt",
                text="ho",
            ),
            missing("no file", nothing, path="~/f", member="a.txt", text=""),
            missing(
                "missing member", _file(_zip(("b", "hi"))), path="~/f", member="a.txt", text=""
            ),
            empty(
                "empty member", _file(_zip(("a.txt", ""))), path="~/f", member="a.txt", text="hi"
            ),
            empty("empty file", _file(""), path="~/f", member="a.txt", text=""),
            hostile(
                "decompression bomb",
                _file(_zip(("a.txt", b"x" * BOMB_BYTES))),
                path="~/f",
                member="a.txt",
                text="x" * ((1 << 20) + 1),
            ),
            hostile(
                "exactly at the size limit",
                _file(_zip(("a.txt", "x" * (1 << 20)))),
                path="~/f",
                member="a.txt",
                text="x" * (1 << 20),
            ).expect_met(),
            hostile(
                "exactly at the size limit, in a tar",
                _file(_tar(("a.txt", "x" * (1 << 20)))),
                path="~/f",
                member="a.txt",
                text="x" * (1 << 20),
            ).expect_met(),
            hostile(
                "over the size limit, in a tar",
                _file(_tar(("a.txt", "x" * ((1 << 20) + 1)))),
                path="~/f",
                member="a.txt",
                text="x" * ((1 << 20) + 1),
            ),
            hostile("duplicate member", _file(_twice()), path="~/f", member="a.txt", text="hi"),
            hostile(
                "symbolic link in a zip", _file(_zip_link()), path="~/f", member="a.txt", text="hi"
            ),
            hostile(
                "symbolic link in a tar",
                _file(_tar(("b.txt", "hi"), ("a.txt", "b.txt"), kind=tarfile.SYMTYPE)),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            hostile(
                "link to outside",
                _out(_zip(("a.txt", "hi"))),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            hostile("huge file", _huge, path="~/f", member="a.txt", text=""),
            *archives_ways.archive_member_equals(),
        ),
        equivalent={
            "*: * flip a byte": "the middle of the file is not the member",
            "tar.bz2: args.text: cut": "one trailing newline is ignored",
            "plain tar: * cut": "the end of a tar has no content",
        },
    ),
)

SUMS: tuple[tuple[Callable[..., Case], str, tuple[str, ...], str, Json], ...] = (
    (another_way, "query over several lines", ITEMS, IN_LINES, [[1], [2]]),
    (another_way, "sum of binary fractions", SHARES, TOTAL, [["a", 0.3]]),
    (another_way, "sum that is an integer", SHARES, WHOLE, [["a", 3]]),
    (another_way, "fractions that cancel out", SHARES, NOTHING, [["a", 0]]),
    (another_way, "large rounded sum", LARGE, TOTAL, [["a", 1e9 + 0.1]]),
    (forged, "text that looks like the sum", SHARES, AS_TEXT, [["a", 0.3]]),
    (forged, "large sum that differs by 0.01", LARGE, TOTAL, [["a", 1e9 + 0.11]]),
    (forged, "large number that differs by one", EXACT, TOTAL, [["a", 10**15 + 1]]),
    (near_miss, "sum that differs slightly", SHARES, TOTAL, [["a", 0.3000000001]]),
    (near_miss, "additional cell in each row", SHARES, TOTAL, [["a", 0.3, 1]]),
    (near_miss, "cells in different rows", ITEMS, NAMES, [["fig"], [1, "pear", 2]]),
)

DATABASES = (
    CaseTable(
        database.sqlite_query_equals,
        DesktopFixture,
        (
            positive(
                "leading space in the query",
                _database(*ITEMS),
                path="~/f",
                query=f" {NAMES}",
                rows=[["fig", 1], ["pear", 2]],
            ),
            forged(
                "quoted unknown column, read as a string",
                _database(*ITEMS),
                path="~/f",
                query='SELECT "none" FROM item',
                rows=[["none"], ["none"]],
            ),
            forged(
                "condition on a quoted unknown column",
                _database(*ITEMS),
                path="~/f",
                query='SELECT "name" FROM item WHERE "price" > 5 ORDER BY "name"',
                rows=[["fig"], ["pear"]],
            ),
            another_way(
                "names in double quotes",
                _database(*ITEMS),
                path="~/f",
                query='SELECT "name" FROM "item" ORDER BY "name"',
                rows=[["fig"], ["pear"]],
            ),
            another_way(
                "double quotes in a string",
                _database(*ITEMS),
                path="~/f",
                query="""SELECT '"name"' /* "x" */ FROM item -- "y""",
                rows=[['"name"'], ['"name"']],
            ),
            another_way(
                "column name with quotes",
                _database('CREATE TABLE t ("a""b`c" INT)', "INSERT INTO t VALUES (7)"),
                path="~/f",
                query='SELECT "a""b`c" FROM t',
                rows=[[7]],
            ),
            another_way(
                "full-text table",
                _database("CREATE VIRTUAL TABLE f USING fts5(t)", "INSERT INTO f VALUES ('a fig')"),
                path="~/f",
                query="SELECT t FROM f WHERE f MATCH 'fig'",
                rows=[["a fig"]],
            ),
            forged(
                "full-text table of a view",
                _database(
                    "CREATE VIEW v AS SELECT 1 AS id, 'a fig' AS t",
                    "CREATE VIRTUAL TABLE f USING fts5(t, content='v', content_rowid='id')",
                ),
                path="~/f",
                query="SELECT t FROM f WHERE rowid = 1",
                rows=[["a fig"]],
            ),
            positive(
                "large pages",
                _database("PRAGMA page_size = 65536", *ITEMS),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            positive(
                "exactly the rows",
                _database(*ITEMS),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            *(
                case(name, _database(*statements), path="~/f", query=query, rows=rows)
                for case, name, statements, query, rows in SUMS
            ),
            positive(
                "in the write-ahead log",
                _database(*ITEMS, log=True),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            positive(
                "with a common table expression",
                _database(*ITEMS),
                path="~/f",
                query="with t AS (SELECT n FROM item) SELECT sum(n) FROM t",
                rows=[[3]],
            ),
            another_way(
                "with a custom collation of the program",
                _sorted_by_a_program,
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "query by a column with a custom collation",
                _sorted_by_a_program,
                path="~/f",
                query="SELECT n FROM item WHERE name = 'pear'",
                rows=[[2]],
            ),
            forged(
                "only in the index of a custom collation",
                _indexed_otherwise,
                path="~/f",
                query="SELECT name FROM item WHERE name >= 'nut' ORDER BY name",
                rows=[["nut"], ["pear"]],
            ),
            negative(
                "different rows", _database(*ITEMS[:1]), path="~/f", query=NAMES, rows=[["fig", 1]]
            ),
            near_miss(
                "additional row", _database(*ITEMS), path="~/f", query=NAMES, rows=[["fig", 1]]
            ),
            near_miss(
                "different order",
                _database(*ITEMS),
                path="~/f",
                query=NAMES,
                rows=[["pear", 2], ["fig", 1]],
            ),
            near_miss(
                "text instead of a number",
                _database(*ITEMS),
                path="~/f",
                query=NAMES,
                rows=[["fig", "1"], ["pear", "2"]],
            ),
            corrupt(
                "truncated",
                lambda b: (_database(*ITEMS)(b), b.write("~/f", b.at("~/f").read_bytes()[:5000])),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            corrupt(
                "different file format", _file("name,n\nfig,1\n"), path="~/f", query=NAMES, rows=[]
            ),
            corrupt(
                "not a SELECT", _database(*ITEMS), path="~/f", query="DELETE FROM item", rows=[]
            ).expect_error(),
            corrupt(
                "text that is not UTF-8",
                _database(
                    "CREATE TABLE item (name TEXT, n INT)",
                    "INSERT INTO item VALUES (CAST(x'ff' AS TEXT), 1)",
                ),
                path="~/f",
                query=NAMES,
                rows=[["?", 1]],
            ),
            missing("no file", nothing, path="~/f", query=NAMES, rows=[]),
            missing(
                "missing table",
                _database("CREATE TABLE other (x)"),
                path="~/f",
                query=NAMES,
                rows=[],
            ),
            empty("empty file", _file(""), path="~/f", query=NAMES, rows=[]),
            empty(
                "empty table and empty expected rows",
                _database(*ITEMS[:1]),
                path="~/f",
                query=NAMES,
                rows=[],
            ).expect_met(),
            hostile(
                "a view",
                _database("CREATE VIEW item AS SELECT 'fig' AS name, 1 AS n"),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1]],
            ),
            hostile(
                "a view of a table",
                _database(
                    "CREATE TABLE t (name, n)",
                    "INSERT INTO t VALUES ('fig', 1)",
                    "CREATE VIEW item AS SELECT * FROM t",
                ),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1]],
            ),
            hostile(
                "slow query",
                _database(*ITEMS),
                path="~/f",
                query="WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
                rows=[],
            ),
            hostile(
                "over the row limit",
                _database(
                    "CREATE TABLE item (name, n)",
                    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10001) INSERT INTO item SELECT x, x FROM c",
                ),
                path="~/f",
                query="SELECT 1 FROM item",
                rows=[[1]] * 10_001,
            ),
            hostile(
                "exactly at the row limit",
                _database(
                    "CREATE TABLE item (name, n)",
                    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10000) INSERT INTO item SELECT x, x FROM c",
                ),
                path="~/f",
                query="SELECT 1 FROM item",
                rows=[[1]] * 10_000,
            ).expect_met(),
            hostile(
                "reads a different file",
                _database(*ITEMS),
                path="~/f",
                query="SELECT readfile('/etc/hostname')",
                rows=[],
            ),
            hostile(
                "link to outside",
                lambda b: (_database(*ITEMS, path="/srv/f")(b), b.link("~/f", "/srv/f")),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            hostile("huge file", _huge, path="~/f", query=NAMES, rows=[]),
            forged(
                "not committed",
                _uncommitted(ITEMS[1]),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            forged(
                "only in the index of a different table",
                _foreign_index,
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            forged(
                "not committed, with a journal over the size limit",
                _uncommitted(ITEMS[1], large=True),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            hostile(
                "journal that names a file to delete",
                _uncommitted(ITEMS[1], trailer=_super_journal("/nonexistent/file")),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            hostile(
                "link in place of the journal",
                lambda b: (
                    _uncommitted(ITEMS[1])(b),
                    b.at("~/f-journal").rename(b.at("~/j")),
                    b.link("~/f-journal", "~/j"),
                ),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            hostile(
                "more custom collations than the limit",
                _sorted_by_programs(*"ABCDEFGHI"),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "custom collation with a quote in its name",
                _sorted_by_programs('O"N'),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "uncommitted rows are rolled back",
                _uncommitted(ITEMS[1]),
                path="~/f",
                query=NAMES,
                rows=[],
            ),
            another_way(
                "with a persistent journal",
                _database("PRAGMA journal_mode = PERSIST", *ITEMS),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "UTF-16, small pages and vacuumed",
                _database("PRAGMA encoding = 'UTF-16'", "PRAGMA page_size = 512", *ITEMS, "VACUUM"),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "with an index, inserted row by row",
                _database(
                    ITEMS[0],
                    "CREATE INDEX a ON item (name, n)",
                    "INSERT INTO item VALUES ('fig', 1)",
                    "INSERT INTO item VALUES ('nut', 1)",
                    "UPDATE item SET name = 'pear', n = 2 WHERE name = 'nut'",
                ),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
        ),
        equivalent={
            "*: args.query: swap case": "SQL ignores letter case",
            "*: * flip a byte": "the middle of the file has no content",
            "in the write-ahead log: home/user/f: *": "the rows are in the log, from which the file is rebuilt",
            "in the write-ahead log: home/user/f-wal: link": "no effect",
            "with a common*: args.query: append": "the evaluator raises, or the text names a column",
            "*: args.query: append": "renames the last column",
        },
    ),
    CaseTable(
        database.sqlite_row_count,
        DesktopFixture,
        (
            positive("two rows", _database(*ITEMS), path="~/f", table="item", count=2),
            positive("large pages", _large_pages(), path="~/f", table="item", count=2),
            corrupt(
                "large pages, truncated", _large_pages(cut=9), path="~/f", table="item", count=2
            ),
            positive(
                "quote in the table name",
                _database('CREATE TABLE "a""b" (x)'),
                path="~/f",
                table='a"b',
                count=0,
            ),
            negative("no rows", _database(*ITEMS[:1]), path="~/f", table="item", count=2),
            near_miss(
                "one additional file",
                _database(*ITEMS, "INSERT INTO item VALUES ('nut', 3)"),
                path="~/f",
                table="item",
                count=2,
            ),
            near_miss(
                "in a second table",
                _database(*ITEMS, "CREATE TABLE other (x)"),
                path="~/f",
                table="other",
                count=2,
            ),
            corrupt(
                "truncated",
                lambda b: (_database(*ITEMS)(b), b.write("~/f", b.at("~/f").read_bytes()[:5000])),
                path="~/f",
                table="item",
                count=2,
            ),
            missing("no file", nothing, path="~/f", table="item", count=0),
            missing(
                "missing table",
                _database("CREATE TABLE other (x)"),
                path="~/f",
                table="item",
                count=0,
            ),
            empty(
                "empty table and empty expected rows",
                _database(*ITEMS[:1]),
                path="~/f",
                table="item",
                count=0,
            ).expect_met(),
            empty("empty file", _file(""), path="~/f", table="item", count=0),
            hostile(
                "a view",
                _database("CREATE VIEW item AS SELECT 1 UNION SELECT 2"),
                path="~/f",
                table="item",
                count=2,
            ),
            hostile(
                "link to outside",
                lambda b: (_database(*ITEMS, path="/srv/f")(b), b.link("~/f", "/srv/f")),
                path="~/f",
                table="item",
                count=2,
            ),
            hostile(
                "SQL injection in the table name",
                _database(*ITEMS),
                path="~/f",
                table='item"; DROP TABLE "item',
                count=2,
            ),
            forged(
                "full-text table of a view",
                _database(
                    "CREATE VIEW v AS SELECT 1 AS id, 'x' AS name UNION SELECT 2, 'y'",
                    "CREATE VIRTUAL TABLE item USING fts5 (name, content=v, content_rowid=id)",
                ),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "R-tree table",
                _database(
                    "CREATE VIRTUAL TABLE item USING rtree (id, low, high)",
                    "INSERT INTO item VALUES (1, 0, 1), (2, 0, 1)",
                ),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "with a custom collation of the program",
                _sorted_by_a_program,
                path="~/f",
                table="item",
                count=2,
            ),
            forged(
                "not committed",
                _uncommitted(ITEMS[1]),
                path="~/f",
                table="item",
                count=2,
            ),
            forged(
                "only in the index of a different table",
                _foreign_index,
                path="~/f",
                table="item",
                count=2,
            ),
            forged(
                "not committed, with a journal over the size limit",
                _uncommitted(ITEMS[1], large=True),
                path="~/f",
                table="item",
                count=2,
            ),
            hostile(
                "journal that names a file to delete",
                _uncommitted(ITEMS[1], trailer=_super_journal("/nonexistent/file")),
                path="~/f",
                table="item",
                count=2,
            ),
            hostile(
                "link in place of the journal",
                lambda b: (
                    _uncommitted(ITEMS[1])(b),
                    b.at("~/f-journal").rename(b.at("~/j")),
                    b.link("~/f-journal", "~/j"),
                ),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "with a persistent journal",
                _database("PRAGMA journal_mode = PERSIST", *ITEMS),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "UTF-16, small pages and vacuumed",
                _database("PRAGMA encoding = 'UTF-16'", "PRAGMA page_size = 512", *ITEMS, "VACUUM"),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "with an index, inserted row by row",
                _database(
                    ITEMS[0],
                    "CREATE INDEX a ON item (name, n)",
                    "INSERT INTO item VALUES ('fig', 1)",
                    "INSERT INTO item VALUES ('nut', 1)",
                    "UPDATE item SET name = 'pear', n = 2 WHERE name = 'nut'",
                ),
                path="~/f",
                table="item",
                count=2,
            ),
        ),
        equivalent={
            "*: args.table: swap case": "SQL ignores letter case",
            "*: * flip a byte": "the middle of the file has no content",
        },
    ),
)

TABLES = (*DATA, *ARCHIVES, *DATABASES)
