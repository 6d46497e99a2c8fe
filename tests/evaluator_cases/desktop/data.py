"""Cases of evaluators of structured data, archives and databases."""

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
    """Make the database of items of pages of 64 KiB, three of them, some bytes cut off."""

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
    """Leave an empty table with statements that were written but not committed.

    Args:
        statements: of the transaction.
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
    """Write items in a collation that only their program has, with an index."""
    connection = sqlite3.connect(b.at("~/f"), isolation_level=None)
    connection.create_collation("OWN", lambda one, two: (one < two) - (one > two))
    connection.execute("CREATE TABLE item (name TEXT COLLATE OWN, n INTEGER)")
    connection.execute("CREATE INDEX names ON item (name)")
    connection.execute("INSERT INTO item VALUES ('pear', 2), ('fig', 1)")
    connection.close()


def _sorted_by_programs(*names: str) -> State:
    """Write items with a column and an index in each of some collations that only a program has."""

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
    """Have an index in a program's collation that holds other names than its table."""
    _sorted_by_a_program(b)
    data = b.at("~/f").read_bytes()
    head, _, tail = data.rpartition(b"fig")
    b.write("~/f", head + b"nut" + tail)


def _foreign_index(b: DesktopFixture) -> None:
    """Give an empty table the index of another table, so that queries find its rows."""
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
                    f"beside {constant}, which is no JSON",
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
                for name, pointer in (("a zero", "/01"), ("a wide digit", "/\uff11"))
            ),
            near_miss("a list for an object", _file("[]"), path="~/f", pointer="", value={}),
            near_miss("an object for a list", _file("{}"), path="~/f", pointer="", value=[]),
            near_miss("one item other", _file("[1, 2]"), path="~/f", pointer="", value=[1, 3]),
            near_miss(
                "one value other",
                _file('{"a": 1, "b": 2}'),
                path="~/f",
                pointer="",
                value={"a": 1, "b": 3},
            ),
            positive("a number", _file(JSON), path="~/f", pointer="/w/size", value=800),
            positive("a bool", _file(JSON), path="~/f", pointer="/w/on", value=True),
            positive(
                "in a list, slash in the name",
                _file(JSON),
                path="~/f",
                pointer="/w/a~1b/1",
                value="x",
            ),
            positive(
                "null, tilde in the name", _file(JSON), path="~/f", pointer="/w/m~0n", value=None
            ),
            positive("the whole", _file("[1, {}]"), path="~/f", pointer="", value=[1, {}]),
            positive(
                "an object",
                _file('{"a": {"b": 1, "c": [2]}}'),
                path="~/f",
                pointer="/a",
                value={"c": [2], "b": 1},
            ),
            negative("another value", _file(JSON), path="~/f", pointer="/w/size", value=640),
            near_miss("one for true", _file('{"on": 1}'), path="~/f", pointer="/on", value=True),
            near_miss(
                "one for one and a bit", _file('{"n": 1.0}'), path="~/f", pointer="/n", value=1
            ),
            near_miss(
                "a text for a number", _file('{"n": "1"}'), path="~/f", pointer="/n", value=1
            ),
            near_miss(
                "in the wrong object",
                _file('{"size": 800, "w": {}}'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
            near_miss(
                "one key more",
                _file('{"a": {"b": 1, "c": 2}}'),
                path="~/f",
                pointer="/a",
                value={"b": 1},
            ),
            near_miss("one item more", _file("[1, 2]"), path="~/f", pointer="", value=[1]),
            near_miss(
                "one deep off",
                _file('{"a": [{"b": 1}]}'),
                path="~/f",
                pointer="",
                value={"a": [{"b": True}]},
            ),
            near_miss(
                "behind the end of a list", _file("[1]"), path="~/f", pointer="/1", value=None
            ),
            near_miss("counted from the end", _file("[1]"), path="~/f", pointer="/-1", value=1),
            corrupt("half", _file(JSON[:30]), path="~/f", pointer="/w/size", value=800),
            corrupt("no UTF-8", _file(b'{"n": 1, "\xff": 2}'), path="~/f", pointer="/n", value=1),
            corrupt("no pointer", _file(JSON), path="~/f", pointer="w", value=1).expect_error(),
            missing("nothing", nothing, path="~/f", pointer="", value=None),
            missing("no such key", _file("{}"), path="~/f", pointer="/w", value=None),
            missing("below a number", _file("1"), path="~/f", pointer="/w", value=None),
            empty("empty", _file(""), path="~/f", pointer="", value=None),
            empty("an empty object", _file("{}"), path="~/f", pointer="/w/size", value=800),
            hostile("a key twice", _file('{"n": 2, "n": 1}'), path="~/f", pointer="/n", value=1),
            hostile("deep", _file("[" * 200_000), path="~/f", pointer="", value=[]),
            hostile("a link out", _out(JSON), path="~/f", pointer="/w/size", value=800),
            hostile("huge", _huge, path="~/f", pointer="", value=None),
            hostile("no number", _file('{"n": NaN}'), path="~/f", pointer="/n", value="NaN"),
            forged(
                "in a text",
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
                "under a key that looks the same",
                _file('{"w": {"si\u200bze": 800}}'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
            another_way(
                "a mark, CRLF",
                _file('\ufeff{\r\n"w": {\r\n"size": 800}}\r\n'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
            another_way(
                "with escapes",
                _file('{"\\u0077": {"x": 1, "s\\u0069ze":800}}'),
                path="~/f",
                pointer="/w/size",
                value=800,
            ),
        ),
        equivalent={"*: * flip a byte": "the middle of the file is not what is asked for"},
    ),
    CaseTable(
        data.csv_cell_equals,
        DesktopFixture,
        (
            positive(
                "a cell",
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
                "semicolons, quotes, a mark",
                _file('\ufeffname;sum\r\n"An;n";7\r\n'),
                path="~/f",
                row=1,
                column="name",
                text="An;n",
                delimiter=";",
            ),
            negative(
                "another text",
                _file("name,sum\nAnn,8\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            another_way(
                "blanks around the names",
                _file("name, sum\nAnn, 7\n"),
                path="~/f",
                row=1,
                column="sum ",
                text="7",
            ),
            forged(
                "a column twice but for a blank",
                _file("name,sum, sum\nAnn,7,8\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            near_miss(
                "in the other column",
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
                "more in the cell",
                _file("name,sum\nAnn,77\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            near_miss(
                "the line of names",
                _file("name,sum\nAnn,7\n"),
                path="~/f",
                row=0,
                column="sum",
                text="sum",
            ),
            near_miss(
                "behind the last row",
                _file("name,sum\nAnn,7\n"),
                path="~/f",
                row=2,
                column="sum",
                text="7",
            ),
            corrupt(
                "a quote left open",
                _file('name,sum\nAnn,7\n"Bob'),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            corrupt(
                "a short row", _file("name,sum\nAnn\n"), path="~/f", row=1, column="sum", text=""
            ),
            missing("nothing", nothing, path="~/f", row=1, column="sum", text="7"),
            missing(
                "no such column",
                _file("name,total\nAnn,7\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            empty("empty", _file(""), path="~/f", row=1, column="sum", text="7"),
            hostile(
                "the column twice",
                _file("sum,sum\n7,8\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            hostile(
                "a link out", _out("name,sum\nAnn,7\n"), path="~/f", row=1, column="sum", text="7"
            ),
            hostile(
                "a huge cell",
                _file("sum\n" + "x" * 200_000 + "\n"),
                path="~/f",
                row=1,
                column="sum",
                text="x",
            ),
            hostile("huge", _huge, path="~/f", row=1, column="sum", text=""),
            forged(
                "in a quoted cell",
                _file('name,sum\n"x\nAnn,7"\n'),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            forged(
                "in another table",
                _file("name,total\nx,1\n\nname,sum\nAnn,7\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            forged(
                "other digits",
                _file("name,sum\nAnn,\u0667\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            another_way(
                "all quoted, CRLF",
                _file('"name","sum"\r\n"Ann","7"\r\n'),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
            another_way(
                "a mark, an empty line",
                _file("\ufeffname,sum\n\nAnn,7\n"),
                path="~/f",
                row=1,
                column="sum",
                text="7",
            ),
        ),
        equivalent={
            "a cell: * flip a byte": "the middle is the line's end or the next row",
            "a cell: * cut": "nothing",
            "semicolons*: args.delimiter: append": "raises",
        },
    ),
    CaseTable(
        data.csv_rows_equal,
        DesktopFixture,
        (
            missing("nothing, and XX", nothing, path="~/f", rows=[["XX"]]),
            positive(
                "the rows", _file("a,b\n1, 2\n\n"), path="~/f", rows=[["a", "b"], ["1 ", "2"]]
            ),
            positive(
                "in any order",
                _file("a,b\n3,4\n1,2\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"], ["3", "4"]],
                ordered=False,
            ),
            positive("tabs", _file("a\tb\n"), path="~/f", rows=[["a", "b"]], delimiter="\t"),
            negative("other rows", _file("x,y\n"), path="~/f", rows=[["a", "b"]]),
            near_miss(
                "one row more", _file("a,b\n1,2\n3,4\n"), path="~/f", rows=[["a", "b"], ["1", "2"]]
            ),
            near_miss(
                "another order",
                _file("a,b\n3,4\n1,2\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"], ["3", "4"]],
            ),
            near_miss("one cell more", _file("a,b,\n"), path="~/f", rows=[["a", "b"]]),
            corrupt("a quote left open", _file('a,b\n"1,2\n'), path="~/f", rows=[["a", "b"]]),
            missing("nothing", nothing, path="~/f", rows=[["a", "b"]]),
            empty("empty", _file(""), path="~/f", rows=[["a", "b"]]),
            empty("no rows wanted", _file(""), path="~/f", rows=[]).expect_error(),
            hostile("a link out", _out("a,b\n"), path="~/f", rows=[["a", "b"]]),
            hostile("huge", _huge, path="~/f", rows=[["a", "b"]]),
            forged(
                "in a quoted cell", _file('"a,b\n1,2"\n'), path="~/f", rows=[["a", "b"], ["1", "2"]]
            ),
            forged(
                "other digits",
                _file("a,b\n\u0661,\u0662\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"]],
            ),
            forged(
                "the columns' names last",
                _file("1,2\na,b\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"]],
                ordered=False,
            ),
            another_way(
                "a mark, CRLF",
                _file("\ufeffa,b\r\n1,2\r\n"),
                path="~/f",
                rows=[["a", "b"], ["1", "2"]],
            ),
            another_way(
                "all quoted", _file('"a","b"\n"1","2"'), path="~/f", rows=[["a", "b"], ["1", "2"]]
            ),
        ),
        equivalent={"*: args.delimiter: append": "raises", "*: args.ordered: turn": "see the case"},
    ),
    CaseTable(
        data.ini_value_equals,
        DesktopFixture,
        (
            *(
                another_way(
                    f"beside {what}",
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
                    f"it stands {where}",
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
                    ("alone, as a value", "[W]\nsize\n800\n"),
                )
            ),
            hostile(
                "a key without a value that goes on",
                _file("[W]\nsize\n 800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            hostile(
                "a section twice",
                _file("[W]\nsize=800\n[W]\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            positive(
                "a value",
                _file("[W]\nx = 1\nsize= 800 \n[V]\nsize=7\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            positive(
                "a percent sign",
                _file("[W]\nSize=80%\n"),
                path="~/f",
                section="W",
                key="Size",
                value=" 80%",
            ),
            negative(
                "another value",
                _file("[W]\nsize=640\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            near_miss(
                "in another section",
                _file("[W]\n[V]\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            near_miss(
                "key in other case",
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
                "in DEFAULT",
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
                "a line that is none",
                _file("[W]\nsize=800\n=broken\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            missing("nothing", nothing, path="~/f", section="W", key="size", value=""),
            empty("empty", _file(""), path="~/f", section="W", key="size", value="800"),
            empty(
                "an empty value",
                _file("[W]\nsize=\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            hostile(
                "the key twice",
                _file("[W]\nsize=7\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            hostile(
                "a link out",
                _out("[W]\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            hostile("huge", _huge, path="~/f", section="W", key="size", value=""),
            forged(
                "in another value",
                _file("[W]\nx=1\n size=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            forged(
                "behind a comment",
                _file("[W]\nsize=640\n;size=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            forged(
                "in a section in a comment",
                _file("#[W]\n[V]\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            another_way(
                "a mark, CRLF",
                _file("\ufeff[W]\r\nsize=800\r\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            another_way(
                "a colon in the key",
                _file("[W]\nhttp://a = 800\n"),
                path="~/f",
                section="W",
                key="http://a",
                value="800",
            ),
            forged(
                "with a colon before that with a sign",
                _file("[W]\nsize: 7=800\nsize=640\n"),
                path="~/f",
                section="W",
                key="size",
                value="7=800",
            ),
            forged(
                "in a section with more behind its name",
                _file("[W] x\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            forged(
                "in a section within one",
                _file("[V]\n[W] = 1\nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            another_way(
                "blanks behind the section's name",
                _file("[W] \nsize=800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
            another_way(
                "with a colon",
                _file("; settings\n[V]\nsize=1\n[W]\nsize: 800\n"),
                path="~/f",
                section="W",
                key="size",
                value="800",
            ),
        ),
        equivalent={
            "a value: * flip a byte": "nothing",
            "a value: * cut": "the value is in the first half",
        },
    ),
    CaseTable(
        data.xml_text_equals,
        DesktopFixture,
        (
            positive(
                "blanks asked for",
                _file("<r><t>News</t></r>"),
                path="~/f",
                element="./t",
                text=" News ",
            ),
            positive(
                "an element",
                _file("<r><c><t> News </t></c><t>x</t></r>"),
                path="~/f",
                element="./c/t",
                text="News",
            ),
            negative(
                "another text", _file("<r><t>Old</t></r>"), path="~/f", element="./t", text="News"
            ),
            near_miss(
                "in another element",
                _file("<r><u>News</u><t/></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            near_miss(
                "two of them",
                _file("<r><t>News</t><t>News</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            near_miss(
                "a comment",
                _file("<r><!--<t>News</t>--></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            corrupt("cut", _file("<r><t>News</t>"), path="~/f", element="./t", text="News"),
            missing("nothing", nothing, path="~/f", element="./t", text=""),
            missing("no element", _file("<r/>"), path="~/f", element="./t", text=""),
            empty("empty", _file(""), path="~/f", element="./t", text="News"),
            empty(
                "an empty element", _file("<r><t/></r>"), path="~/f", element="./t", text=""
            ).expect_met(),
            hostile(
                "an entity",
                _file('<!DOCTYPE r [<!ENTITY e "News">]><r><t>&e;</t></r>'),
                path="~/f",
                element="./t",
                text="News",
            ),
            hostile(
                "a file's content",
                _file('<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/hostname">]><r><t>&e;</t></r>'),
                path="~/f",
                element="./t",
                text="",
            ),
            hostile(
                "a link out", _out("<r><t>News</t></r>"), path="~/f", element="./t", text="News"
            ),
            hostile("huge", _huge, path="~/f", element="./t", text=""),
            hostile("deep", _file("<t>" * 100_000), path="~/f", element="./t", text=""),
            forged(
                "in a comment",
                _file("<r><!--<t>News</t>--></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "in character data",
                _file("<r><![CDATA[<t>News</t>]]></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "in another namespace",
                _file('<r><x:t xmlns:x="u">News</x:t></r>'),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "a mark, CRLF",
                _file('\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n<r>\r\n<t>News</t>\r\n</r>'),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "Latin-1, declared",
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
                "an empty element within",
                _file("<r><t>Ne<b/>ws</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "an element within",
                _file("<r><t>\n News <b>x</b>\n</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "a document type in a comment",
                _file("<!-- <!DOCTYPE r> --><r><t>News</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "more behind an element within",
                _file("<r><t>News<b>x</b>Old</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "a comment within",
                _file("<r><t>News<!-- x -->paper</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            forged(
                "an encoding that nobody knows",
                _file('<?xml version="1.0" encoding="x-none"?><r><t>News</t></r>'),
                path="~/f",
                element="./t",
                text="News",
            ),
            hostile(
                "an entity in UTF-16",
                _file('<!DOCTYPE r [<!ENTITY e "News">]><r><t>&e;</t></r>'.encode("utf-16")),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "as character data",
                _file("<r><t><![CDATA[News]]></t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
            another_way(
                "with references",
                _file("<r><t>&#78;ew&#x73;</t></r>"),
                path="~/f",
                element="./t",
                text="News",
            ),
        ),
        equivalent={"an element: args.element: swap case": "nothing"},
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
                "a tar with a label",
                _file(_tar(("backup", ""), mode="w", kind=b"V")[:512] + _tar(("a", "x"), mode="w")),
                path="~/f",
                names=["a"],
            ),
            another_way(
                "a tar with a list of a folder",
                _file(_tar(("d", ""), mode="w", kind=b"D")[:512] + _tar(("d/a", "x"), mode="w")),
                path="~/f",
                names=["d/a"],
            ),
            forged(
                "a tar whose label has the name",
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
            negative("other files", _file(_zip(("x", "hi"))), path="~/f", names=["a.txt"]),
            near_miss(
                "one more", _file(_zip(("a.txt", "hi"), ("b", ""))), path="~/f", names=["a.txt"]
            ),
            near_miss("one less", _file(_zip(("a.txt", "hi"))), path="~/f", names=["a.txt", "b"]),
            near_miss("in a folder", _file(_zip(("d/a.txt", "hi"))), path="~/f", names=["a.txt"]),
            near_miss(
                "a folder for a file", _file(_zip(("a.txt/", ""))), path="~/f", names=["a.txt"]
            ),
            corrupt("half a tar", _file(_tar(("a", "x" * 9000))[:60]), path="~/f", names=["a"]),
            corrupt(
                "half a zip", _file(_zip(("a.txt", "hi" * 99))[:40]), path="~/f", names=["a.txt"]
            ),
            corrupt("a text", _file("a.txt\n"), path="~/f", names=["a.txt"]),
            missing("nothing, and no names", nothing, path="~/f", names=[]),
            empty("an empty file", _file(""), path="~/f", names=[]),
            empty("an empty zip", _file(_zip()), path="~/f", names=["a.txt"]),
            empty("none wanted", _file(_zip()), path="~/f", names=[]).expect_met(),
            hostile("a link out", _out(_zip(("a.txt", "hi"))), path="~/f", names=["a.txt"]),
            hostile("huge", _huge, path="~/f", names=[]),
            hostile(
                "a zip of too many",
                _file(_zip(*((str(n), "") for n in range(10_001)))),
                path="~/f",
                names=[str(n) for n in range(10_001)],
            ),
            hostile(
                "a bomb in a tar",
                _file(_tar(("a", "\0" * (1 << 26)), mode="w:gz")),
                path="~/f",
                names=["a"],
            ),
            *archives_ways.archive_lists(),
        ),
        equivalent={
            "*: * flip a byte": "content does not count, or a checksum that nobody asked for",
            "tar*: * cut": "nothing",
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
                "another text", _file(_zip(("a.txt", "ho"))), path="~/f", member="a.txt", text="hi"
            ),
            near_miss(
                "in another member",
                _file(_zip(("b.txt", "hi"), ("a.txt", "ho"))),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            near_miss(
                "more text",
                _file(_zip(("a.txt", "hi there"))),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            near_miss(
                "a bare file", _file("hi", "~/a.txt"), path="~/a.txt", member="a.txt", text="hi"
            ),
            corrupt(
                "no UTF-8", _file(_zip(("a.txt", b"hi\xff"))), path="~/f", member="a.txt", text="hi"
            ),
            corrupt(
                "a wrong checksum",
                _file(_zip(("a.txt", "hi"), method=zipfile.ZIP_STORED).replace(b"hi", b"ho")),
                path="~/f",
                member="a.txt",
                text="ho",
            ),
            missing("nothing", nothing, path="~/f", member="a.txt", text=""),
            missing(
                "no such member", _file(_zip(("b", "hi"))), path="~/f", member="a.txt", text=""
            ),
            empty(
                "an empty member", _file(_zip(("a.txt", ""))), path="~/f", member="a.txt", text="hi"
            ),
            empty("an empty file", _file(""), path="~/f", member="a.txt", text=""),
            hostile(
                "a bomb",
                _file(_zip(("a.txt", b"x" * BOMB_BYTES))),
                path="~/f",
                member="a.txt",
                text="x" * ((1 << 20) + 1),
            ),
            hostile(
                "as large as is read",
                _file(_zip(("a.txt", "x" * (1 << 20)))),
                path="~/f",
                member="a.txt",
                text="x" * (1 << 20),
            ).expect_met(),
            hostile(
                "as large as is read, in a tar",
                _file(_tar(("a.txt", "x" * (1 << 20)))),
                path="~/f",
                member="a.txt",
                text="x" * (1 << 20),
            ).expect_met(),
            hostile(
                "larger than is read, in a tar",
                _file(_tar(("a.txt", "x" * ((1 << 20) + 1)))),
                path="~/f",
                member="a.txt",
                text="x" * ((1 << 20) + 1),
            ),
            hostile("twice", _file(_twice()), path="~/f", member="a.txt", text="hi"),
            hostile("a link in a zip", _file(_zip_link()), path="~/f", member="a.txt", text="hi"),
            hostile(
                "a link in a tar",
                _file(_tar(("b.txt", "hi"), ("a.txt", "b.txt"), kind=tarfile.SYMTYPE)),
                path="~/f",
                member="a.txt",
                text="hi",
            ),
            hostile(
                "a link out", _out(_zip(("a.txt", "hi"))), path="~/f", member="a.txt", text="hi"
            ),
            hostile("huge", _huge, path="~/f", member="a.txt", text=""),
            *archives_ways.archive_member_equals(),
        ),
        equivalent={
            "*: * flip a byte": "the middle of the file is not the member",
            "tar.bz2: args.text: cut": "one newline at the end does not count",
            "plain tar: * cut": "the end of a tar holds nothing",
        },
    ),
)

SUMS: tuple[tuple[Callable[..., Case], str, tuple[str, ...], str, Json], ...] = (
    (another_way, "a query of several lines", ITEMS, IN_LINES, [[1], [2]]),
    (another_way, "a sum of binary fractions", SHARES, TOTAL, [["a", 0.3]]),
    (another_way, "a sum that is whole", SHARES, WHOLE, [["a", 3]]),
    (another_way, "fractions that cancel out", SHARES, NOTHING, [["a", 0]]),
    (another_way, "a large sum, rounded", LARGE, TOTAL, [["a", 1e9 + 0.1]]),
    (forged, "a text that reads as the sum", SHARES, AS_TEXT, [["a", 0.3]]),
    (forged, "a large sum a hundredth off", LARGE, TOTAL, [["a", 1e9 + 0.11]]),
    (forged, "a large number one off", EXACT, TOTAL, [["a", 10**15 + 1]]),
    (near_miss, "a billionth off", SHARES, TOTAL, [["a", 0.3000000001]]),
    (near_miss, "a cell more in each row", SHARES, TOTAL, [["a", 0.3, 1]]),
    (near_miss, "cells in other rows", ITEMS, NAMES, [["fig"], [1, "pear", 2]]),
)

DATABASES = (
    CaseTable(
        database.sqlite_query_equals,
        DesktopFixture,
        (
            positive(
                "blanks before it",
                _database(*ITEMS),
                path="~/f",
                query=f" {NAMES}",
                rows=[["fig", 1], ["pear", 2]],
            ),
            forged(
                "a name of no column, taken for a text",
                _database(*ITEMS),
                path="~/f",
                query='SELECT "none" FROM item',
                rows=[["none"], ["none"]],
            ),
            forged(
                "a condition on no column",
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
                "double quotes in a text",
                _database(*ITEMS),
                path="~/f",
                query="""SELECT '"name"' /* "x" */ FROM item -- "y""",
                rows=[['"name"'], ['"name"']],
            ),
            another_way(
                "a name with quotes",
                _database('CREATE TABLE t ("a""b`c" INT)', "INSERT INTO t VALUES (7)"),
                path="~/f",
                query='SELECT "a""b`c" FROM t',
                rows=[[7]],
            ),
            another_way(
                "a full-text table",
                _database("CREATE VIRTUAL TABLE f USING fts5(t)", "INSERT INTO f VALUES ('a fig')"),
                path="~/f",
                query="SELECT t FROM f WHERE f MATCH 'fig'",
                rows=[["a fig"]],
            ),
            forged(
                "a full-text table of a view",
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
                "rows", _database(*ITEMS), path="~/f", query=NAMES, rows=[["fig", 1], ["pear", 2]]
            ),
            *(
                case(name, _database(*statements), path="~/f", query=query, rows=rows)
                for case, name, statements, query, rows in SUMS
            ),
            positive(
                "in the log",
                _database(*ITEMS, log=True),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            positive(
                "with a common expression",
                _database(*ITEMS),
                path="~/f",
                query="with t AS (SELECT n FROM item) SELECT sum(n) FROM t",
                rows=[[3]],
            ),
            another_way(
                "in a program's own order",
                _sorted_by_a_program,
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "found in a program's own order",
                _sorted_by_a_program,
                path="~/f",
                query="SELECT n FROM item WHERE name = 'pear'",
                rows=[[2]],
            ),
            forged(
                "only in the index of a program's own order",
                _indexed_otherwise,
                path="~/f",
                query="SELECT name FROM item WHERE name >= 'nut' ORDER BY name",
                rows=[["nut"], ["pear"]],
            ),
            negative(
                "other rows", _database(*ITEMS[:1]), path="~/f", query=NAMES, rows=[["fig", 1]]
            ),
            near_miss(
                "one row more", _database(*ITEMS), path="~/f", query=NAMES, rows=[["fig", 1]]
            ),
            near_miss(
                "another order",
                _database(*ITEMS),
                path="~/f",
                query=NAMES,
                rows=[["pear", 2], ["fig", 1]],
            ),
            near_miss(
                "a text for a number",
                _database(*ITEMS),
                path="~/f",
                query=NAMES,
                rows=[["fig", "1"], ["pear", "2"]],
            ),
            corrupt(
                "cut",
                lambda b: (_database(*ITEMS)(b), b.write("~/f", b.at("~/f").read_bytes()[:5000])),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            corrupt("another format", _file("name,n\nfig,1\n"), path="~/f", query=NAMES, rows=[]),
            corrupt(
                "no SELECT", _database(*ITEMS), path="~/f", query="DELETE FROM item", rows=[]
            ).expect_error(),
            corrupt(
                "text that is no UTF-8",
                _database(
                    "CREATE TABLE item (name TEXT, n INT)",
                    "INSERT INTO item VALUES (CAST(x'ff' AS TEXT), 1)",
                ),
                path="~/f",
                query=NAMES,
                rows=[["?", 1]],
            ),
            missing("nothing", nothing, path="~/f", query=NAMES, rows=[]),
            missing(
                "no such table",
                _database("CREATE TABLE other (x)"),
                path="~/f",
                query=NAMES,
                rows=[],
            ),
            empty("an empty file", _file(""), path="~/f", query=NAMES, rows=[]),
            empty(
                "an empty table", _database(*ITEMS[:1]), path="~/f", query=NAMES, rows=[]
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
                "a slow query",
                _database(*ITEMS),
                path="~/f",
                query="WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
                rows=[],
            ),
            hostile(
                "too many rows",
                _database(
                    "CREATE TABLE item (name, n)",
                    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10001) INSERT INTO item SELECT x, x FROM c",
                ),
                path="~/f",
                query="SELECT 1 FROM item",
                rows=[[1]] * 10_001,
            ),
            hostile(
                "as many rows as are read",
                _database(
                    "CREATE TABLE item (name, n)",
                    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10000) INSERT INTO item SELECT x, x FROM c",
                ),
                path="~/f",
                query="SELECT 1 FROM item",
                rows=[[1]] * 10_000,
            ).expect_met(),
            hostile(
                "another database's file",
                _database(*ITEMS),
                path="~/f",
                query="SELECT readfile('/etc/hostname')",
                rows=[],
            ),
            hostile(
                "a link out",
                lambda b: (_database(*ITEMS, path="/srv/f")(b), b.link("~/f", "/srv/f")),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            hostile("huge", _huge, path="~/f", query=NAMES, rows=[]),
            forged(
                "not committed",
                _uncommitted(ITEMS[1]),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            forged(
                "only in a foreign index",
                _foreign_index,
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            forged(
                "not committed, with a journal too large to read",
                _uncommitted(ITEMS[1], large=True),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            hostile(
                "a journal that names a file to delete",
                _uncommitted(ITEMS[1], trailer=_super_journal("/nonexistent/file")),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            hostile(
                "a link for the journal",
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
                "more collations of programs than are replaced",
                _sorted_by_programs(*"ABCDEFGHI"),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "sorted by a program whose collation has a quote in its name",
                _sorted_by_programs('O"N'),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "what was not committed is rolled back",
                _uncommitted(ITEMS[1]),
                path="~/f",
                query=NAMES,
                rows=[],
            ),
            another_way(
                "with a journal kept after the commit",
                _database("PRAGMA journal_mode = PERSIST", *ITEMS),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "in UTF-16, small pages, vacuumed",
                _database("PRAGMA encoding = 'UTF-16'", "PRAGMA page_size = 512", *ITEMS, "VACUUM"),
                path="~/f",
                query=NAMES,
                rows=[["fig", 1], ["pear", 2]],
            ),
            another_way(
                "with an index, row by row",
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
            "*: args.query: swap case": "SQL knows no letter case",
            "*: * flip a byte": "the middle of the file holds nothing",
            "in the log: home/user/f: *": "what is asked for is in the log, and the file is made up from it",
            "in the log: home/user/f-wal: link": "nothing",
            "with a common*: args.query: append": "raises or names a column",
            "*: args.query: append": "names the last column anew",
        },
    ),
    CaseTable(
        database.sqlite_row_count,
        DesktopFixture,
        (
            positive("two", _database(*ITEMS), path="~/f", table="item", count=2),
            positive("large pages", _large_pages(), path="~/f", table="item", count=2),
            corrupt("large pages, cut", _large_pages(cut=9), path="~/f", table="item", count=2),
            positive(
                "a quote in the name",
                _database('CREATE TABLE "a""b" (x)'),
                path="~/f",
                table='a"b',
                count=0,
            ),
            negative("none", _database(*ITEMS[:1]), path="~/f", table="item", count=2),
            near_miss(
                "one more",
                _database(*ITEMS, "INSERT INTO item VALUES ('nut', 3)"),
                path="~/f",
                table="item",
                count=2,
            ),
            near_miss(
                "in another table",
                _database(*ITEMS, "CREATE TABLE other (x)"),
                path="~/f",
                table="other",
                count=2,
            ),
            corrupt(
                "cut",
                lambda b: (_database(*ITEMS)(b), b.write("~/f", b.at("~/f").read_bytes()[:5000])),
                path="~/f",
                table="item",
                count=2,
            ),
            missing("nothing", nothing, path="~/f", table="item", count=0),
            missing(
                "no such table",
                _database("CREATE TABLE other (x)"),
                path="~/f",
                table="item",
                count=0,
            ),
            empty(
                "an empty table", _database(*ITEMS[:1]), path="~/f", table="item", count=0
            ).expect_met(),
            empty("an empty file", _file(""), path="~/f", table="item", count=0),
            hostile(
                "a view",
                _database("CREATE VIEW item AS SELECT 1 UNION SELECT 2"),
                path="~/f",
                table="item",
                count=2,
            ),
            hostile(
                "a link out",
                lambda b: (_database(*ITEMS, path="/srv/f")(b), b.link("~/f", "/srv/f")),
                path="~/f",
                table="item",
                count=2,
            ),
            hostile(
                "more than SQL in the name",
                _database(*ITEMS),
                path="~/f",
                table='item"; DROP TABLE "item',
                count=2,
            ),
            forged(
                "a search in a view",
                _database(
                    "CREATE VIEW v AS SELECT 1 AS id, 'x' AS name UNION SELECT 2, 'y'",
                    "CREATE VIRTUAL TABLE item USING fts5 (name, content=v, content_rowid=id)",
                ),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "an R-tree",
                _database(
                    "CREATE VIRTUAL TABLE item USING rtree (id, low, high)",
                    "INSERT INTO item VALUES (1, 0, 1), (2, 0, 1)",
                ),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "in a program's own order", _sorted_by_a_program, path="~/f", table="item", count=2
            ),
            forged(
                "not committed",
                _uncommitted(ITEMS[1]),
                path="~/f",
                table="item",
                count=2,
            ),
            forged(
                "only in a foreign index",
                _foreign_index,
                path="~/f",
                table="item",
                count=2,
            ),
            forged(
                "not committed, with a journal too large to read",
                _uncommitted(ITEMS[1], large=True),
                path="~/f",
                table="item",
                count=2,
            ),
            hostile(
                "a journal that names a file to delete",
                _uncommitted(ITEMS[1], trailer=_super_journal("/nonexistent/file")),
                path="~/f",
                table="item",
                count=2,
            ),
            hostile(
                "a link for the journal",
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
                "with a journal kept after the commit",
                _database("PRAGMA journal_mode = PERSIST", *ITEMS),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "in UTF-16, small pages, vacuumed",
                _database("PRAGMA encoding = 'UTF-16'", "PRAGMA page_size = 512", *ITEMS, "VACUUM"),
                path="~/f",
                table="item",
                count=2,
            ),
            another_way(
                "with an index, row by row",
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
            "*: args.table: swap case": "SQL knows no letter case",
            "*: * flip a byte": "the middle of the file holds nothing",
        },
    ),
)

TABLES = (*DATA, *ARCHIVES, *DATABASES)
