"""Cases of evaluators of Firefox: a profile as Firefox 128 ESR lays it out."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from evaluators.desktop import firefox
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
from tests.evaluator_cases.browser import FIREFOX, PROFILE, BrowserFixture

ROOT = "~/.mozilla/firefox"
NEW_ROOT = "~/.config/mozilla/firefox"
PLACES = f"{PROFILE}/places.sqlite"
SESSION = f"{PROFILE}/sessionstore-backups/recovery.jsonlz4"
PREFS = f"{PROFILE}/prefs.js"
INSTALLED = (
    "[Install1234]\nDefault=ab12.default-esr\nLocked=1\n"
    "[Profile1]\nName=default\nIsRelative=1\nPath=zz99.default\nDefault=1\n"
    "[Profile0]\nName=default-esr\nIsRelative=1\nPath=ab12.default-esr\n[General]\nVersion=2\n"
)
MARKED = (
    "[Profile0]\nName=x\nIsRelative=1\nPath=zz99.default\n"
    "[Profile1]\nName=default\nIsRelative=1\nPath=ab12.default-esr\nDefault=1\n"
)
SINGLE = "[Profile0]\nName=x\nIsRelative=1\nPath=ab12.default-esr\n"
NEWS = "http://news.test/"
SCHEMA = (
    "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR)",
    "CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, place_id INTEGER, visit_date INTEGER, visit_type INTEGER)",
    "CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER, parent INTEGER, title LONGVARCHAR, guid TEXT)",
    "CREATE TABLE moz_anno_attributes (id INTEGER PRIMARY KEY, name VARCHAR(32))",
    "CREATE TABLE moz_annos (id INTEGER PRIMARY KEY, place_id INTEGER, anno_attribute_id INTEGER, content LONGVARCHAR)",
    "INSERT INTO moz_anno_attributes VALUES (1, 'downloads/destinationFileURI'), (2, 'downloads/metaData')",
    "INSERT INTO moz_bookmarks VALUES (2, 2, NULL, 1, 'menu', 'menu________'), (3, 2, NULL, 1, 'toolbar', 'toolbar_____'), (4, 2, NULL, 1, 'tags', 'tags________'), (5, 2, NULL, 1, 'unfiled', 'unfiled_____'), (9, 2, NULL, 3, 'Daily', 'xYz123456789')",
)
FORM = "http://files.test/form.pdf"
LOADED = "file:///home/user/Downloads/form%201.pdf"


def _lost(above: int) -> State:
    """Bookmark the page in a folder that is not below any of Firefox' own."""
    return _places(
        f"INSERT INTO moz_bookmarks VALUES (10, 2, NULL, {above}, 'Lost', 'aaaaaaaaaaaa')",
        "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
        "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 10, 'News', 'g')",
    )


def _profile(ini: str = INSTALLED) -> State:
    return lambda b: b.write(f"{ROOT}/profiles.ini", ini)


def _moved(make: State) -> State:
    """Let the profiles stand where a new Firefox puts them."""

    def state(b: DesktopFixture) -> None:
        make(b)
        b.folder_at(NEW_ROOT).rmdir()
        b.at(ROOT).rename(b.at(NEW_ROOT))

    return state


def _places(*statements: str, ini: str = INSTALLED, at: str = PLACES) -> State:
    def make(b: DesktopFixture) -> None:
        _profile(ini)(b)
        full = b.write(at, b"")
        connection = sqlite3.connect(full, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")
        for statement in (*SCHEMA, *statements):
            connection.execute(statement)
        connection.close()

    return make


def _visit(url: str, kind: int = 1, **kept: str) -> State:
    return _places(
        f"INSERT INTO moz_places VALUES (1, '{url}', 'N')",
        f"INSERT INTO moz_historyvisits VALUES (1, 1, 7, {kind})",
        **kept,
    )


def _logged(make: State) -> State:
    """Let the last transaction stand in the write-ahead log, as in a running Firefox."""

    def state(b: DesktopFixture) -> None:
        make(b)
        at = str(b.at(PLACES))
        connection = sqlite3.connect(at, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        rows = connection.execute("SELECT * FROM moz_historyvisits").fetchall()
        connection.execute("DELETE FROM moz_historyvisits")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.executemany("INSERT INTO moz_historyvisits VALUES (?, ?, ?, ?)", rows)
        log = b.at(f"{PLACES}-wal").read_bytes()
        main = b.at(PLACES).read_bytes()
        connection.close()
        b.write(PLACES, main)
        b.write(f"{PLACES}-wal", log)

    return state


def _mark(url: str, title: str, parent: int, kind: int = 1) -> State:
    return _places(
        f"INSERT INTO moz_places VALUES (1, '{url}', 'N')",
        f"INSERT INTO moz_bookmarks VALUES (20, {kind}, 1, {parent}, '{title}', 'gUid12345678')",
    )


def _load(
    url: str,
    uri: str,
    attribute: int = 1,
    file: str = "~/Downloads/form 1.pdf",
    *,
    result: str = "",
    content: str = "pdf",
) -> State:
    rows = [
        f"INSERT INTO moz_places VALUES (1, '{url}', 'N')",
        f"INSERT INTO moz_annos VALUES (1, 1, {attribute}, '{uri}')",
    ]
    rows += [f"INSERT INTO moz_annos VALUES (2, 1, 2, '{result}')"] if result else []
    return lambda b: (_places(*rows)(b), file and b.write(file, content))


def pack(content: bytes) -> bytes:
    """Make a mozLz4 file, with literals and one run of each text that comes again at once."""
    block = bytearray()
    start = at = 0
    while at + 12 < len(content):
        back = next(
            (
                n
                for n in (1, 2, 8)
                if content[at : at + 8] == content[at - n : at - n + 8] and at >= n
            ),
            0,
        )
        if not back:
            at += 1
            continue
        end = at
        while end < len(content) - 5 and content[end] == content[end - back]:
            end += 1
        _sequence(block, content[start:at], end - at - 4)
        block += back.to_bytes(2, "little") + _more(end - at - 4)
        start = at = end
    _sequence(block, content[start:], 0)
    return b"mozLz40\0" + len(content).to_bytes(4, "little") + bytes(block)


def _matched(before: bytes, back: int, count: int, after: bytes, size: int) -> bytes:
    """Make a mozLz4 file of one match between two texts, regardless of the reference."""
    block = bytearray()
    _sequence(block, before, count - 4)
    block += back.to_bytes(2, "little") + _more(count - 4)
    _sequence(block, after, 0)
    return b"mozLz40\0" + size.to_bytes(4, "little") + bytes(block)


def _sequence(block: bytearray, literals: bytes, match: int) -> None:
    block.append(min(len(literals), 15) << 4 | min(match, 15))
    block += _more(len(literals)) + literals


def _more(count: int) -> bytes:
    return b"" if count < 15 else b"\xff" * ((count - 15) // 255) + bytes([(count - 15) % 255])


def _tabs(
    *windows: list[tuple[list[str], int]],
    ini: str = INSTALLED,
    at: str = SESSION,
    running: bool = True,
) -> State:
    """Create windows with tabs, each its history and which entry it shows, from 1."""
    shown: list[Any] = [
        {
            "tabs": [
                {"entries": [{"url": url, "title": "a" * 300} for url in urls], "index": index}
                for urls, index in window
            ]
        }
        for window in windows
    ]
    raw = json.dumps({"version": ["sessionrestore", 1], "windows": shown}).encode()
    return lambda b: (_profile(ini)(b), b.write(at, pack(raw)), running and b.browse())


def _window(url: str) -> str:
    return '"windows":[{"tabs":[{"entries":[{"url":"' + url + '"}],"index":1}]}]'


_BEFORE, _AFTER = _window(NEWS).encode().split(NEWS.encode())
_FIRST = b'{"a":"' + NEWS.encode() + b'","b":"' + b"-" * 300 + b'",' + _BEFORE
_FAR = len(_FIRST) - len(b'{"a":"')
_COPIED = len(NEWS)
_WHOLE = len(_FIRST) + _COPIED + len(_AFTER) + 1
_NESTED = b"0}," + _window(NEWS).encode() + b"}"
# lz4.block.compress (LZ4 1.10) of a session that shows NEWS and tomorrow, behind Mozilla's head.
GOLDEN = bytes.fromhex(
    "6d6f7a4c7a343000f5020000f3037b2277696e646f7773223a205b7b227461620a0063656e747269650d00ff1275"
    "726c223a2022687474703a2f2f6e6577732e746573742f746f646179227d2c20230009f1066d6f72726f77227d5d"
    "2c2022696e646578223a20320e009f6e6f7465223a2022610100ff1a7f626364656667680800ff255068227d5d7d"
)


def _far(back: int = _FAR, size: int = _WHOLE) -> State:
    return _session(_matched(_FIRST, back, _COPIED, _AFTER + b"}", size))


def _session(raw: bytes) -> State:
    return lambda b: (_profile()(b), b.write(SESSION, raw), b.browse())


def _prefs(text: str, ini: str = INSTALLED, at: str = PREFS, *, user: str = "") -> State:
    def make(b: DesktopFixture) -> None:
        _profile(ini)(b)
        b.write(at, text)
        if user:
            b.write(at.replace("prefs.js", "user.js"), user)

    return make


def _view(b: DesktopFixture) -> None:
    _profile()(b)
    b.write(PLACES, b"")
    connection = sqlite3.connect(b.at(PLACES), isolation_level=None)
    connection.execute("CREATE VIEW moz_places AS SELECT 1 AS id, 'http://news.test/' AS url")
    connection.execute("CREATE VIEW moz_historyvisits AS SELECT 1 AS place_id")
    connection.close()


def _other_place(make: State, path: str) -> State:
    """Move the created files elsewhere and replace them by a link."""
    return lambda b: (make(b), b.at(path).rename(b.folder / "srv.bin"), b.link(path, "/srv.bin"))


def _unused(how: State) -> State:
    return lambda b: (_tabs([([NEWS], 1)], running=False)(b), how(b))


def _used(program: str) -> State:
    return _unused(lambda b: b.browse(program=program))


UNUSED: dict[str, State] = {
    "Firefox never ran": nothing,
    "a lock of nobody": lambda b: b.write(f"{PROFILE}/.parentlock", ""),
    "Firefox ended": lambda b: b.end(b.browse()),
    "another program holds the lock": lambda b: b.browse(program="/usr/bin/editor"),
    "a copy of Firefox": lambda b: b.browse(program="~/firefox"),
    "Firefox with another profile": lambda b: b.browse(f"{ROOT}/zz99.default"),
    "another sort of lock": lambda b: b.browse(kind="flock"),
    "Firefox without a lock": lambda b: (
        b.program(FIREFOX),
        b.start(FIREFOX),
        b.write(f"{PROFILE}/.parentlock", ""),
    ),
    "another program, while Firefox runs": lambda b: (
        b.program(FIREFOX),
        b.start(FIREFOX),
        b.browse(program="/usr/bin/editor"),
    ),
}
"""How a handwritten session stands there though no Firefox shows it."""

HALF = {
    "*: * flip a byte": "the middle of the file is not what is asked for",
    "*: * cut": "what is asked for is in the first half",
}
HOME = 'user_pref("browser.startup.homepage", "http://news.test/");\n'

TABLES = (
    CaseTable(
        firefox.firefox_visited,
        DesktopFixture,
        (
            positive("visited", _visit(NEWS), url=NEWS),
            positive("profile marked as default", _visit(NEWS, ini=MARKED), url=NEWS),
            positive("the only profile", _visit(NEWS, ini=SINGLE), url=NEWS),
            positive(
                "a profile elsewhere",
                _visit(NEWS, ini="[Profile0]\nPath=/srv/p\n", at="/srv/p/places.sqlite"),
                url=NEWS,
            ),
            negative("another address", _visit("http://other.test/"), url=NEWS),
            near_miss("below it", _visit(NEWS + "today"), url=NEWS),
            near_miss("only bookmarked", _mark(NEWS, "N", 3), url=NEWS),
            near_miss(
                "in another profile",
                _visit(NEWS, at=f"{ROOT}/zz99.default/places.sqlite"),
                url=NEWS,
            ),
            corrupt(
                "broken database",
                lambda b: (_visit(NEWS)(b), b.write(PLACES, b.at(PLACES).read_bytes()[:4096])),
                url=NEWS,
            ),
            corrupt("broken list of profiles", _visit(NEWS, ini="Path=ab12.default-esr"), url=NEWS),
            missing("no Firefox", nothing, url=NEWS),
            missing("no database", _profile(), url=NEWS),
            missing(
                "a profile that is not listed",
                _visit(NEWS, ini="[InstallX]\nDefault=ab12.default-esr\n[Profile0]\nPath=q\n"),
                url=NEWS,
            ),
            missing(
                "a list without profiles", _visit(NEWS, ini="[General]\nVersion=2\n"), url=NEWS
            ),
            empty("no visits", _places(), url=NEWS),
            empty("an empty list of profiles", _visit(NEWS, ini=""), url=NEWS),
            hostile("a view", _view, url=NEWS),
            hostile("a link to another's", _other_place(_visit(NEWS), PLACES), url=NEWS),
            hostile("SQL in the address", _visit(NEWS), url="' OR 1 --"),
            forged("a link in another page's frame", _visit(NEWS, 8), url=NEWS),
            forged("embedded in another page", _visit(NEWS, 4), url=NEWS),
            forged("downloaded, not shown", _visit(NEWS, 7), url=NEWS),
            another_way("in the folder of a new Firefox", _moved(_visit(NEWS)), url=NEWS),
            another_way("typed", _visit(NEWS, 2), url=NEWS),
            another_way("by a bookmark", _visit(NEWS, 3), url=NEWS),
            another_way("sent there by another page", _visit(NEWS, 6), url=NEWS),
            another_way("loaded again", _visit(NEWS, 9), url=NEWS),
            another_way("sent there for good", _visit(NEWS, 5), url=NEWS),
            another_way("not yet in the database itself", _logged(_visit(NEWS)), url=NEWS),
        ),
        equivalent={**HALF, "*/profiles.ini: *": "another way to the same profile, or raised"},
    ),
    CaseTable(
        firefox.firefox_bookmarked,
        DesktopFixture,
        (
            positive("anywhere", _mark(NEWS, "News", 5), url=NEWS),
            positive(
                "title and own folder",
                _mark(NEWS, "News", 9),
                url=NEWS,
                title="News",
                folder="Daily",
            ),
            positive("on the toolbar", _mark(NEWS, "News", 3), url=NEWS, folder="toolbar"),
            positive("right in the menu", _mark(NEWS, "News", 2), url=NEWS, folder="menu"),
            positive("in the menu", _mark(NEWS, "News", 2), url=NEWS, folder="menu"),
            positive("among others", _mark(NEWS, "News", 5), url=NEWS, folder="other"),
            negative("another address", _mark("http://other.test/", "News", 3), url=NEWS),
            near_miss("only visited", _visit(NEWS), url=NEWS),
            near_miss("another title", _mark(NEWS, "Newss", 3), url=NEWS, title="News"),
            near_miss("another folder", _mark(NEWS, "News", 9), url=NEWS, folder="toolbar"),
            near_miss("not in the folder below", _mark(NEWS, "News", 3), url=NEWS, folder="Daily"),
            near_miss(
                "a folder that calls itself toolbar",
                _places(
                    "INSERT INTO moz_bookmarks VALUES (10, 2, NULL, 5, 'toolbar', 'aaaaaaaaaaaa')",
                    "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
                    "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 10, 'N', 'g')",
                ),
                url=NEWS,
                folder="toolbar",
            ),
            near_miss("not a bookmark", _mark(NEWS, "News", 3, kind=2), url=NEWS),
            corrupt(
                "broken database",
                lambda b: (_profile()(b), b.write(PLACES, "SQLite format 3\0")),
                url=NEWS,
            ),
            missing("no Firefox", nothing, url=NEWS),
            empty("no bookmarks", _places(), url=NEWS),
            hostile("a link to another's", _other_place(_mark(NEWS, "N", 3), PLACES), url=NEWS),
            forged(
                "only tagged",
                _places(
                    "INSERT INTO moz_bookmarks VALUES (10, 2, NULL, 4, 'daily', 'aaaaaaaaaaaa')",
                    "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
                    "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 10, NULL, 'g')",
                ),
                url=NEWS,
            ),
            forged("in a folder that hangs nowhere", _lost(77), url=NEWS, folder="Lost"),
            forged("in a folder inside itself", _lost(10), url=NEWS),
            another_way("in the folder of a new Firefox", _moved(_mark(NEWS, "News", 3)), url=NEWS),
            another_way(
                "in a folder of a folder",
                _places(
                    "INSERT INTO moz_bookmarks VALUES (10, 2, NULL, 9, 'Deep', 'aaaaaaaaaaaa')",
                    "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
                    "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 10, 'News', 'g')",
                ),
                url=NEWS,
                folder="Deep",
            ),
            another_way(
                "tagged and bookmarked",
                _places(
                    "INSERT INTO moz_bookmarks VALUES (10, 2, NULL, 4, 'daily', 'aaaaaaaaaaaa')",
                    "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
                    "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 10, NULL, 'g')",
                    "INSERT INTO moz_bookmarks VALUES (21, 1, 1, 5, 'News', 'h')",
                ),
                url=NEWS,
                title="News",
            ),
            another_way(
                "among those of a phone",
                _places(
                    "INSERT INTO moz_bookmarks VALUES (6, 2, NULL, 1, 'mobile', 'mobile______')",
                    "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
                    "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 6, 'News', 'g')",
                ),
                url=NEWS,
            ),
        ),
        equivalent={
            **HALF,
            "*: args.title: empty": "any title",
            "*: args.folder: empty": "any folder",
        },
    ),
    CaseTable(
        firefox.firefox_downloaded,
        DesktopFixture,
        (
            positive(
                "loaded",
                _load(FORM, "file:///home/user/Downloads/form%201.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            negative(
                "another file",
                _load(FORM, "file:///home/user/Downloads/x.pdf", file="~/Downloads/x.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            near_miss(
                "from another address",
                _load("http://evil.test/form.pdf", "file:///home/user/Downloads/form%201.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            near_miss(
                "to another folder",
                _load(FORM, "file:///home/user/form%201.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            near_miss(
                "another note",
                _load(FORM, "file:///home/user/Downloads/form%201.pdf", attribute=2),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            near_miss(
                "no file's address",
                _load(FORM, "http:////home/user/Downloads/form%201.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            corrupt(
                "broken database",
                lambda b: (_profile()(b), b.write(PLACES, "x"), b.write("~/a", "x")),
                url=FORM,
                path="~/a",
            ),
            missing(
                "the file is gone",
                _load(FORM, "file:///home/user/Downloads/form%201.pdf", file=""),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            missing("no Firefox", lambda b: b.write("~/a", "x"), url=FORM, path="~/a"),
            empty(
                "no downloads", lambda b: (_places()(b), b.write("~/a", "x")), url=FORM, path="~/a"
            ),
            *(
                forged(
                    name,
                    _load(FORM, LOADED, result=result, content=content),
                    url=FORM,
                    path="~/Downloads/form 1.pdf",
                )
                for name, result, content in (
                    ("cancelled", '{"state":3,"deleted":false,"endTime":7}', "pdf"),
                    ("failed", '{"state":2,"endTime":7}', "pdf"),
                    ("deeper than is followed", "[" * 9000, "pdf"),
                    ("deleted, and put there again", '{"state":1,"deleted":true}', "pdf"),
                    ("going on", "", ""),
                    ("a result that is none", "[1]", "pdf"),
                    ("two results", """{"state":1}'), (3, 1, 2, '{"state":3}""", "pdf"),
                )
            ),
            *(
                another_way(
                    name,
                    _load(FORM, uri, result=result, content=content, file=path),
                    url=FORM,
                    path=path,
                )
                for name, uri, result, content, path in (
                    (
                        "finished",
                        LOADED,
                        '{"state":1,"deleted":false,"endTime":7,"fileSize":3}',
                        "pdf",
                        "~/Downloads/form 1.pdf",
                    ),
                    ("not noted yet", LOADED, "", "x", "~/Downloads/form 1.pdf"),
                    ("of no size", LOADED, '{"state":1}', "", "~/Downloads/form 1.pdf"),
                    (
                        "saved elsewhere, under another name",
                        "file:///home/user/M%C3%BCll/a%2Bb%23.pdf",
                        '{"state":1}',
                        "pdf",
                        "~/Müll/a+b#.pdf",
                    ),
                )
            ),
            hostile(
                "a link for the file",
                lambda b: (
                    _load(FORM, "file:///home/user/l", file="")(b),
                    b.write("/srv/l", "x"),
                    b.link("~/l", "/srv/l"),
                ),
                url=FORM,
                path="~/l",
            ),
        ),
        equivalent={
            **HALF,
            "*Downloads/form 1.pdf: empty": "what the file holds does not count",
        },
    ),
    CaseTable(
        firefox.firefox_tab_open,
        BrowserFixture,
        (
            positive("shown", _tabs([([NEWS + "x", NEWS], 2)], [(["about:blank"], 1)]), url=NEWS),
            positive(
                "in the second window",
                _tabs([(["about:blank"], 1)], [(["about:home"], 1), ([NEWS], 1)]),
                url=NEWS,
            ),
            positive("gone back", _tabs([([NEWS, "about:home"], 1)]), url=NEWS),
            negative("another", _tabs([(["about:home"], 1)]), url=NEWS),
            near_miss("was there before", _tabs([([NEWS, "about:home"], 2)]), url=NEWS),
            near_miss("below it", _tabs([([NEWS + "today"], 1)]), url=NEWS),
            near_miss(
                "in the session before",
                _tabs([([NEWS], 1)], at=f"{PROFILE}/sessionstore.jsonlz4"),
                url=NEWS,
            ),
            positive("what the library packed", _session(GOLDEN), url="http://news.test/tomorrow"),
            positive("copied from far back", _far(), url=NEWS),
            positive(
                "copied from the start",
                _session(_matched(b'{"a":', 5, 5, _NESTED, 10 + len(_NESTED))),
                url=NEWS,
            ),
            positive(
                "copied to the end",
                _session(
                    _matched(f"{{{_window(NEWS)}}} ".encode(), 1, 9, b"", len(_window(NEWS)) + 12)
                ),
                url=NEWS,
            ),
            corrupt("copied from before the start", _far(len(_FIRST) + _FAR), url=NEWS),
            corrupt("copied from nowhere", _far(0), url=NEWS),
            corrupt("larger than it says", _far(size=_WHOLE - 1), url=NEWS),
            corrupt("smaller than it says", _far(size=_WHOLE + 1), url=NEWS),
            corrupt(
                "another head",
                _session(GOLDEN.replace(b"40", b"41", 1)),
                url="http://news.test/tomorrow",
            ),
            hostile(
                "far more than it says", _session(_matched(b"{}", 1, 1 << 28, b"", 16)), url=NEWS
            ),
            near_miss("counted from the end", _tabs([(["about:home", NEWS], 0)]), url=NEWS),
            corrupt(
                "cut",
                lambda b: (
                    _tabs([([NEWS], 1)])(b),
                    b.write(SESSION, b.at(SESSION).read_bytes()[:-9]),
                ),
                url=NEWS,
            ),
            corrupt(
                "not packed",
                _session(
                    b'{"windows": [{"tabs": [{"entries": [{"url": "http://news.test/"}], "index": 1}]}]}'
                ),
                url=NEWS,
            ),
            corrupt(
                "no list of windows",
                _session(pack(b'{"windows": {"tabs": 1}, "padding padding": 2}')),
                url=NEWS,
            ),
            corrupt(
                "entry without address",
                _session(
                    pack(
                        b'{"windows": [{"tabs": [{"entries": [{}], "index": 1}, {"entries": 1, "index": 1}, 7]}]}'
                    )
                ),
                url=NEWS,
            ),
            corrupt("a list", _session(pack(b'["windows", "tabs", "entries"]')), url=NEWS),
            missing("no Firefox", nothing, url=NEWS),
            missing("no session", lambda b: (_profile()(b), b.browse()), url=NEWS),
            *(forged(name, _unused(how), url=NEWS) for name, how in UNUSED.items()),
            another_way("Debian's Firefox", _used("/usr/lib/firefox-esr/firefox-esr"), url=NEWS),
            another_way("as an archive of Mozilla's", _used("/opt/firefox/firefox-bin"), url=NEWS),
            another_way("as on Fedora", _used("/usr/lib64/firefox/firefox"), url=NEWS),
            empty("no windows", _tabs(), url=NEWS),
            empty("an empty file", _session(b""), url=NEWS),
            hostile(
                "a bomb",
                _session(
                    b"mozLz40\0"
                    + (1 << 31).to_bytes(4, "little")
                    + b"\x1fa\x01\x00"
                    + b"\xff" * (1 << 20)
                ),
                url=NEWS,
            ),
            hostile(
                "more than it says",
                _session(
                    b"mozLz40\0"
                    + (9).to_bytes(4, "little")
                    + b"\x1fa\x01\x00"
                    + b"\xff" * 99
                    + b"\0"
                ),
                url=NEWS,
            ),
            hostile(
                "refers before its start",
                _session(b"mozLz40\0" + (9).to_bytes(4, "little") + b"\x11a\x02\x00\x10b"),
                url=NEWS,
            ),
            hostile("deep", _session(pack(b"[" * 300_000)), url=NEWS),
            hostile("a link to another's", _other_place(_tabs([([NEWS], 1)]), SESSION), url=NEWS),
        ),
        equivalent={
            "*: * flip a byte": "a letter of a title",
            "*/profiles.ini: cut": "the line that counts is the second",
        },
    ),
    CaseTable(
        firefox.firefox_tab_count,
        BrowserFixture,
        (
            positive(
                "three in two windows",
                _tabs([([NEWS], 1), ([NEWS], 1)], [(["about:home"], 1)]),
                count=3,
            ),
            positive("a single one", _tabs([([NEWS], 1)]), count=1),
            negative("one", _tabs([([NEWS], 1)]), count=3),
            near_miss("entries, not tabs", _tabs([([NEWS, NEWS, NEWS], 1)]), count=3),
            near_miss("one more", _tabs([([NEWS], 1)] * 4), count=3),
            corrupt(
                "cut",
                lambda b: (
                    _tabs([([NEWS], 1)])(b),
                    b.write(SESSION, b.at(SESSION).read_bytes()[:-9]),
                ),
                count=1,
            ),
            missing("no session", lambda b: (_profile()(b), b.browse()), count=0),
            *(forged(name, _unused(how), count=1) for name, how in UNUSED.items()),
            another_way("Debian's Firefox", _used("/usr/lib/firefox-esr/firefox-esr"), count=1),
            another_way("another page in each", _tabs([(["about:home"], 1)]), count=1),
            empty("no tabs", _tabs([]), count=0),
            hostile(
                "windows that are none",
                _session(pack(b'{"windows": [{"tabs": "abc"}, {"tabs": {"a": 1}}]}')),
                count=3,
            ),
        ),
        equivalent={
            "*: * flip a byte": "a letter of a title",
            "*/profiles.ini: cut": "the line that counts is the second",
        },
    ),
    CaseTable(
        firefox.firefox_pref_equals,
        DesktopFixture,
        (
            *(
                case(
                    f"its user.js {what}",
                    _prefs(HOME, user=text),
                    name="browser.startup.homepage",
                    value=NEWS,
                )
                for case, what, text in (
                    (forged, "sets another", HOME.replace(NEWS, "http://other.test/")),
                    (another_way, "sets it, too", HOME),
                    (another_way, "sets something else", 'user_pref("a", 1);\n'),
                )
            ),
            forged(
                "only its user.js sets it",
                _prefs("", user=HOME),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            positive(
                "a text",
                _prefs("// Mozilla\n\n" + HOME),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            positive(
                "a number",
                _prefs('user_pref("browser.startup.page", 3);\n'),
                name="browser.startup.page",
                value=3,
            ),
            positive(
                "a bool",
                _prefs('user_pref("a", false);\nuser_pref("a", true);\n'),
                name="a",
                value=True,
            ),
            positive(
                "a quote in its name", _prefs('user_pref("a\\"b", 1);\n'), name='a"b', value=1
            ),
            negative(
                "another value", _prefs(HOME), name="browser.startup.homepage", value="about:home"
            ),
            near_miss(
                "another name",
                _prefs(HOME.replace("homepage", "homepage2")),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            near_miss("one for true", _prefs('user_pref("a", 1);\n'), name="a", value=True),
            near_miss(
                "commented out", _prefs("// " + HOME), name="browser.startup.homepage", value=NEWS
            ),
            near_miss(
                "in user.js only",
                _prefs(HOME, at=f"{PROFILE}/user.js"),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            near_miss(
                "overruled below",
                _prefs('user_pref("a", true);\nuser_pref("a", false);\n'),
                name="a",
                value=True,
            ),
            corrupt("no value", _prefs('user_pref("a", tru);\n'), name="a", value=True),
            corrupt("no name", _prefs('user_pref("\\q", 1);\n'), name="", value=1),
            missing("no Firefox", nothing, name="a", value="XX"),
            corrupt("a lone quote", _prefs('user_pref(", 1);\n'), name="", value=1),
            missing("no file", _profile(), name="a", value=True),
            empty("empty", _prefs(""), name="a", value=""),
            hostile(
                "a link to another's",
                _other_place(_prefs(HOME), PREFS),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            *(
                forged(name, _prefs(text), name="a", value=True)
                for name, text in (
                    ("in a comment of several lines", '/*\nuser_pref("a", true);\n*/'),
                    (
                        "in another setting's text",
                        'user_pref("b", "\\"); user_pref(\\"a\\", true);");',
                    ),
                    ("a default", 'pref("a", true);'),
                    ("a statement that does not end", 'user_pref("a", true)'),
                    ("a word more", 'x user_pref("a", true);'),
                    ("no comma", 'user_pref("a" true true);'),
                    ("the value in quotes", 'user_pref("a", "true");'),
                    ("a name without quotes", "user_pref(XaX, true);"),
                    ("behind a hash", '# user_pref("a", true);'),
                    ("quotes that do not close", 'user_pref("a, true);'),
                )
            ),
            another_way(
                "in the folder of a new Firefox",
                _moved(_prefs(HOME)),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            *(
                another_way(name, _prefs(text), name="a.b", value=value)
                for name, text, value in (
                    ("two on one line", 'user_pref("b", "x"); user_pref("a.b", true);', True),
                    ("an empty text", 'user_pref("a.b", "");', ""),
                    ("with blanks", ' user_pref ( "a.b" ,\n\t-7 ) ;', -7),
                    ("in single quotes", "user_pref('a.b', '\\'x\\'');", "'x'"),
                    ("behind comments", '/* x\n; */ # y;\n// z;\nuser_pref("a.b", 1);', 1),
                    ("with escapes", 'user_pref("a\\x2eb", "\\u00fc\\n\\r\\\\");', "ü\n\r\\"),
                    ("a letter in two halves", 'user_pref("a.b", "\\ud83d\\ude00");', "😀"),
                    ("behind a broken one", 'user_pref("a.b", x);\nuser_pref("a.b", +1);', 1),
                )
            ),
        ),
        equivalent={
            "a bool: * flip a byte": "an earlier line",
            "*/profiles.ini: cut": "the line that counts is the second",
            "*/profiles.ini: flip a byte": "another profile's line",
        },
    ),
)
