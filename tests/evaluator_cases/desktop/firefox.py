"""Cases of the evaluators of Firefox, with profiles in the layout of Firefox 128 ESR."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.testing.case import Case

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
    """Bookmark the page in a folder that is not below any of Firefox's own folders."""
    return _places(
        f"INSERT INTO moz_bookmarks VALUES (10, 2, NULL, {above}, 'Lost', 'aaaaaaaaaaaa')",
        "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
        "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 10, 'News', 'g')",
    )


def _profile(ini: str = INSTALLED) -> State:
    return lambda b: b.write(f"{ROOT}/profiles.ini", ini)


def _moved(make: State) -> State:
    """Move the profiles to the folder that recent versions of Firefox use."""

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
    """Keep the last transaction in the write-ahead log, like a running Firefox."""

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


STORED = "http://news.test/caf%C3%A9/find?q=green+tea#top"
SPELLINGS = {
    "as stored": STORED,
    "capitals in the host": STORED.replace("news.test", "News.TEST"),
    "capitals in the scheme": STORED.replace("http", "HTTP"),
    "default port": STORED.replace("news.test", "news.test:80"),
    "empty port": STORED.replace("news.test", "news.test:"),
    "not percent-encoded": STORED.replace("%C3%A9", "\u00e9"),
    "space in the query": STORED.replace("+", " "),
    "encoded space in the query": STORED.replace("+", "%20"),
    "dots in the path": STORED.replace("/find", "/./a/../find"),
    "backslashes": STORED.replace("/", "\\"),
    "surrounding white space": f" {STORED}\n",
}
FORMS = {
    "IPv6 address": ("http://[FE80::A]:80/", "http://[fe80::a]/"),
    "TLS in capitals": ("HTTPS://a.test:443/x", "https://a.test/x"),
    "port with a zero": ("http://a.test:08080/", "http://a.test:8080/"),
    "last port": ("http://a.test:65535/", "http://a.test:65535/"),
    "default port of FTP": ("ftp://a.test:21/b", "ftp://a.test/b"),
    "fragment only": ("http://a.test#x y", "http://a.test/#x%20y"),
    "fragment with a question mark": ("http://a.test/#x?y+z w", "http://a.test/#x?y+z%20w"),
    "two plus signs and a fragment": ("http://a.test/?q=b+c d#e+f", "http://a.test/?q=b+c+d#e+f"),
    "plus signs stored as spaces": ("http://a.test/?q=b+c#e", "http://a.test/?q=b%20c#e"),
    "punctuation in the path": ('http://a.test/"<>`{}|^', "http://a.test/%22%3C%3E%60%7B%7D|%5E"),
    "punctuation in the query": ("http://a.test/?'\"<>`{}", "http://a.test/?%27%22%3C%3E`{}"),
    "punctuation in the fragment": ("http://a.test/#'\"<>`{}", "http://a.test/#'%22%3C%3E%60{}"),
    "percent sign": ("http://a.test/%7e%C3?%zz", "http://a.test/%7e%C3?%zz"),
    "dots at the end": ("http://a.test/b/c/..", "http://a.test/b/"),
    "dot at the end": ("http://a.test/b/.", "http://a.test/b/"),
    "encoded dots": ("http://a.test/b/%2E%2e/c/%2e/d", "http://a.test/c/d"),
    "dots above the root": ("http://a.test/../../b", "http://a.test/b"),
    "empty segment further down": ("http://a.test/b//c", "http://a.test/b//c"),
    "user and password": ("http://ann:a=b@a.test/", "http://ann:a%3Db@a.test/"),
    "line breaks": ("http://a.te\nst/a\tb\rc", "http://a.test/abc"),
    "page of the program": ("ABOUT:Home", "about:Home"),
    "file": ("file:///srv/a b?c#d", "file:///srv/a%20b?c#d"),
}
OTHERS = {
    "capitals in the path": STORED.replace("find", "Find"),
    "different port": STORED.replace("news.test", "news.test:8080"),
    "TLS": STORED.replace("http", "https"),
    "port of TLS without TLS": STORED.replace("news.test", "news.test:443"),
    "plus sign in the path": STORED.replace("caf%C3%A9", "caf%C3%A9+"),
    "literal plus sign in the query": STORED.replace("+", "%2B"),
    "without the fragment": STORED.replace("#top", ""),
    "final slash": STORED.replace("find", "find/"),
}
NO_URLS = {
    "without a scheme and a host": "//find",
    "without a scheme": "news.test/find",
    "only a path": "/find",
    "host and port": "news.test:80/find",
    "empty segment": "http://news.test//find",
    "without a host": "http:///find",
    "port that is no number": "http://news.test:http/",
    "port out of range": "http://news.test:99999/",
    "space in the host": "http://news test/",
    "percent sign in the host": "http://news%2Etest/",
    "only a scheme": "http:",
    "empty": "",
    "letter that browsers keep in the host": "http://fa\u00df.test/",
    "host that is too long": "http://" + "\u00e9" * 70 + ".test/",
    "port above the last one": "http://news.test:65536/",
    "long port": "http://news.test:0000000080/",
}


def url_cases(state: Callable[[str], State], **args: Any) -> tuple[Case, ...]:
    """Return the cases of notations of the same URL, of other URLs, and of texts that are none.

    Args:
        state: creates the state with a stored URL.
        args: the other arguments.
    """
    there = state(STORED)
    return (
        *(another_way(f"URL: {name}", there, url=url, **args) for name, url in SPELLINGS.items()),
        another_way("URL: no final slash", state(NEWS), url="http://news.test", **args),
        another_way(
            "URL: no path before the query",
            state(f"{NEWS}?a=1"),
            url="http://news.test?a=1",
            **args,
        ),
        another_way(
            "URL: host in a different script",
            state("http://xn--bcher-kva.test/"),
            url="http://B\u00dccher.test",
            **args,
        ),
        another_way("URL: port of TLS", state("https://a.test/"), url="https://a.test:443", **args),
        *(forged(f"URL: {name}", there, url=url, **args) for name, url in OTHERS.items()),
        *(
            corrupt(f"URL: {name}", there, url=url, **args).expect_error()
            for name, url in NO_URLS.items()
        ),
    )


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
    """Create a mozLz4 file of literals, with each immediate repetition as one match."""
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
    """Create a mozLz4 file of one match between two texts, whether or not its offset is valid."""
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
    """Create windows with tabs; each tab is its history and the index of its shown entry, from 1."""
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
# lz4.block.compress (LZ4 1.10) of a session that shows NEWS and tomorrow, after Mozilla's header.
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
    "lock file that no process holds": lambda b: b.write(f"{PROFILE}/.parentlock", ""),
    "Firefox ended": lambda b: b.end(b.browse()),
    "a different program holds the lock": lambda b: b.browse(program="/usr/bin/editor"),
    "a copy of Firefox": lambda b: b.browse(program="~/firefox"),
    "Firefox with a different profile": lambda b: b.browse(f"{ROOT}/zz99.default"),
    "different kind of lock": lambda b: b.browse(kind="flock"),
    "Firefox without a lock": lambda b: (
        b.program(FIREFOX),
        b.start(FIREFOX),
        b.write(f"{PROFILE}/.parentlock", ""),
    ),
    "a different program holds the lock while Firefox runs": lambda b: (
        b.program(FIREFOX),
        b.start(FIREFOX),
        b.browse(program="/usr/bin/editor"),
    ),
}
"""States in which a handwritten session exists, but no Firefox displays it."""

SAME_URL = {"*: args.url: swap case": "capitals in scheme and host do not count"}
HALF = {
    "*: * flip a byte": "the middle of the file is not the expected value",
    "*: * cut": "the expected value is in the first half",
}
HOME = 'user_pref("browser.startup.homepage", "http://news.test/");\n'

TABLES = (
    CaseTable(
        firefox.firefox_visited,
        DesktopFixture,
        (
            positive("visited", _visit(NEWS), url=NEWS),
            positive("profile marked as default", _visit(NEWS, ini=MARKED), url=NEWS),
            positive("only profile", _visit(NEWS, ini=SINGLE), url=NEWS),
            positive(
                "profile in a different folder",
                _visit(NEWS, ini="[Profile0]\nPath=/srv/p\n", at="/srv/p/places.sqlite"),
                url=NEWS,
            ),
            negative("different address", _visit("http://other.test/"), url=NEWS),
            near_miss("page below it", _visit(NEWS + "today"), url=NEWS),
            near_miss("only bookmarked", _mark(NEWS, "N", 3), url=NEWS),
            near_miss(
                "in a different profile",
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
                "profile that is not listed",
                _visit(NEWS, ini="[InstallX]\nDefault=ab12.default-esr\n[Profile0]\nPath=q\n"),
                url=NEWS,
            ),
            missing("list without profiles", _visit(NEWS, ini="[General]\nVersion=2\n"), url=NEWS),
            empty("no visits", _places(), url=NEWS),
            empty("empty list of profiles", _visit(NEWS, ini=""), url=NEWS),
            hostile("view instead of a table", _view, url=NEWS),
            hostile("link to a file elsewhere", _other_place(_visit(NEWS), PLACES), url=NEWS),
            hostile("SQL injection in the address", _visit(NEWS), url=f"{NEWS}' OR 1 --"),
            *(
                another_way(f"form: {name}", _visit(stored.replace("'", "''")), url=url)
                for name, (url, stored) in FORMS.items()
            ),
            *url_cases(_visit),
            forged("link in a frame of a different page", _visit(NEWS, 8), url=NEWS),
            forged("embedded in a different page", _visit(NEWS, 4), url=NEWS),
            forged("downloaded, not displayed", _visit(NEWS, 7), url=NEWS),
            another_way(
                "in the folder of recent versions of Firefox", _moved(_visit(NEWS)), url=NEWS
            ),
            another_way("typed address", _visit(NEWS, 2), url=NEWS),
            another_way("through a bookmark", _visit(NEWS, 3), url=NEWS),
            another_way("temporary redirect", _visit(NEWS, 6), url=NEWS),
            another_way("reloaded", _visit(NEWS, 9), url=NEWS),
            another_way("permanent redirect", _visit(NEWS, 5), url=NEWS),
            another_way("only in the write-ahead log", _logged(_visit(NEWS)), url=NEWS),
        ),
        equivalent={
            **HALF,
            **SAME_URL,
            "*/profiles.ini: *": "a different path to the same profile, or the evaluator raises",
        },
    ),
    CaseTable(
        firefox.firefox_bookmarked,
        DesktopFixture,
        (
            another_way(
                "invisible character in the title",
                _mark(NEWS, "Ne\u200bws", 5),
                url=NEWS,
                title="News",
            ),
            forged(
                "two titles that look the same",
                _places(
                    "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
                    "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 3, 'News', 'g')",
                    "INSERT INTO moz_bookmarks VALUES (21, 1, 1, 5, 'Ne\u200bws', 'h')",
                ),
                url=NEWS,
                title="News",
            ),
            positive("in any folder", _mark(NEWS, "News", 5), url=NEWS),
            positive(
                "title and user-created folder",
                _mark(NEWS, "News", 9),
                url=NEWS,
                title="News",
                folder="Daily",
            ),
            positive("on the toolbar", _mark(NEWS, "News", 3), url=NEWS, folder="toolbar"),
            positive("directly in the menu", _mark(NEWS, "News", 2), url=NEWS, folder="menu"),
            positive("in the menu", _mark(NEWS, "News", 2), url=NEWS, folder="menu"),
            positive(
                "in the folder of other bookmarks", _mark(NEWS, "News", 5), url=NEWS, folder="other"
            ),
            negative("different address", _mark("http://other.test/", "News", 3), url=NEWS),
            near_miss("only visited", _visit(NEWS), url=NEWS),
            *url_cases(lambda url: _mark(url, "N", 3)),
            near_miss("different title", _mark(NEWS, "Newss", 3), url=NEWS, title="News"),
            near_miss("different folder", _mark(NEWS, "News", 9), url=NEWS, folder="toolbar"),
            near_miss("not in the subfolder", _mark(NEWS, "News", 3), url=NEWS, folder="Daily"),
            near_miss(
                "user folder named toolbar",
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
            hostile(
                "link to a file elsewhere", _other_place(_mark(NEWS, "N", 3), PLACES), url=NEWS
            ),
            forged(
                "only tagged",
                _places(
                    "INSERT INTO moz_bookmarks VALUES (10, 2, NULL, 4, 'daily', 'aaaaaaaaaaaa')",
                    "INSERT INTO moz_places VALUES (1, 'http://news.test/', '')",
                    "INSERT INTO moz_bookmarks VALUES (20, 1, 1, 10, NULL, 'g')",
                ),
                url=NEWS,
            ),
            forged("in an unreachable folder", _lost(77), url=NEWS, folder="Lost"),
            forged("in a folder that contains itself", _lost(10), url=NEWS),
            another_way(
                "in the folder of recent versions of Firefox",
                _moved(_mark(NEWS, "News", 3)),
                url=NEWS,
            ),
            another_way(
                "in a nested folder",
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
                "among mobile bookmarks",
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
            **SAME_URL,
            "*: args.title: empty": "any title",
            "*: args.folder: empty": "any folder",
        },
    ),
    CaseTable(
        firefox.firefox_downloaded,
        DesktopFixture,
        (
            positive(
                "downloaded",
                _load(FORM, "file:///home/user/Downloads/form%201.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            *url_cases(
                lambda url: _load(url, "file:///home/user/Downloads/form%201.pdf"),
                path="~/Downloads/form 1.pdf",
            ),
            negative(
                "different file",
                _load(FORM, "file:///home/user/Downloads/x.pdf", file="~/Downloads/x.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            near_miss(
                "from a different address",
                _load("http://evil.test/form.pdf", "file:///home/user/Downloads/form%201.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            near_miss(
                "to a different folder",
                _load(FORM, "file:///home/user/form%201.pdf"),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            near_miss(
                "different annotation",
                _load(FORM, "file:///home/user/Downloads/form%201.pdf", attribute=2),
                url=FORM,
                path="~/Downloads/form 1.pdf",
            ),
            near_miss(
                "target is not a file address",
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
                "file deleted",
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
                    ("metadata nested deeper than the limit", "[" * 9000, "pdf"),
                    ("deleted and created again", '{"state":1,"deleted":true}', "pdf"),
                    ("in progress", "", ""),
                    ("invalid metadata", "[1]", "pdf"),
                    ("duplicate metadata", """{"state":1}'), (3, 1, 2, '{"state":3}""", "pdf"),
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
                    ("without metadata", LOADED, "", "x", "~/Downloads/form 1.pdf"),
                    (
                        "metadata without a size",
                        LOADED,
                        '{"state":1}',
                        "",
                        "~/Downloads/form 1.pdf",
                    ),
                    (
                        "saved in a different folder under a different name",
                        "file:///home/user/M%C3%BCll/a%2Bb%23.pdf",
                        '{"state":1}',
                        "pdf",
                        "~/Müll/a+b#.pdf",
                    ),
                )
            ),
            hostile(
                "link in place of the file",
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
            "*Downloads/form 1.pdf: empty": "the content of the file is ignored",
        },
    ),
    CaseTable(
        firefox.firefox_tab_open,
        BrowserFixture,
        (
            positive(
                "in the first window",
                _tabs([([NEWS + "x", NEWS], 2)], [(["about:blank"], 1)]),
                url=NEWS,
            ),
            positive(
                "in the second window",
                _tabs([(["about:blank"], 1)], [(["about:home"], 1), ([NEWS], 1)]),
                url=NEWS,
            ),
            positive("navigated back", _tabs([([NEWS, "about:home"], 1)]), url=NEWS),
            *url_cases(lambda url: _tabs([([url], 1)])),
            positive("page of Firefox", _tabs([(["about:home"], 1)]), url="about:home"),
            positive(
                "file",
                _tabs([(["file:///home/user/a%20b.html"], 1)]),
                url="file:///home/user/a b.html",
            ),
            negative("different page", _tabs([(["about:home"], 1)]), url=NEWS),
            near_miss(
                "earlier entry of the tab's history", _tabs([([NEWS, "about:home"], 2)]), url=NEWS
            ),
            near_miss("page below it", _tabs([([NEWS + "today"], 1)]), url=NEWS),
            near_miss(
                "in the previous session",
                _tabs([([NEWS], 1)], at=f"{PROFILE}/sessionstore.jsonlz4"),
                url=NEWS,
            ),
            positive(
                "packed by the LZ4 library", _session(GOLDEN), url="http://news.test/tomorrow"
            ),
            positive("match with a long offset", _far(), url=NEWS),
            positive(
                "match from the start",
                _session(_matched(b'{"a":', 5, 5, _NESTED, 10 + len(_NESTED))),
                url=NEWS,
            ),
            positive(
                "match up to the end",
                _session(
                    _matched(f"{{{_window(NEWS)}}} ".encode(), 1, 9, b"", len(_window(NEWS)) + 12)
                ),
                url=NEWS,
            ),
            corrupt("match from before the start", _far(len(_FIRST) + _FAR), url=NEWS),
            corrupt("match with offset zero", _far(0), url=NEWS),
            corrupt("larger than declared", _far(size=_WHOLE - 1), url=NEWS),
            corrupt("smaller than declared", _far(size=_WHOLE + 1), url=NEWS),
            corrupt(
                "different header",
                _session(GOLDEN.replace(b"40", b"41", 1)),
                url="http://news.test/tomorrow",
            ),
            hostile(
                "much larger than declared",
                _session(_matched(b"{}", 1, 1 << 28, b"", 16)),
                url=NEWS,
            ),
            near_miss("index zero", _tabs([(["about:home", NEWS], 0)]), url=NEWS),
            corrupt(
                "truncated",
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
                "windows are not a list",
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
            corrupt(
                "list instead of an object",
                _session(pack(b'["windows", "tabs", "entries"]')),
                url=NEWS,
            ),
            missing("no Firefox", nothing, url=NEWS),
            missing("no session", lambda b: (_profile()(b), b.browse()), url=NEWS),
            *(forged(name, _unused(how), url=NEWS) for name, how in UNUSED.items()),
            another_way("Debian's Firefox", _used("/usr/lib/firefox-esr/firefox-esr"), url=NEWS),
            another_way(
                "Firefox from Mozilla's archive", _used("/opt/firefox/firefox-bin"), url=NEWS
            ),
            another_way("Firefox on Fedora", _used("/usr/lib64/firefox/firefox"), url=NEWS),
            empty("no windows", _tabs(), url=NEWS),
            empty("an empty file", _session(b""), url=NEWS),
            hostile(
                "decompression bomb",
                _session(
                    b"mozLz40\0"
                    + (1 << 31).to_bytes(4, "little")
                    + b"\x1fa\x01\x00"
                    + b"\xff" * (1 << 20)
                ),
                url=NEWS,
            ),
            hostile(
                "match larger than declared",
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
                "match before the start of the data",
                _session(b"mozLz40\0" + (9).to_bytes(4, "little") + b"\x11a\x02\x00\x10b"),
                url=NEWS,
            ),
            hostile("deeply nested", _session(pack(b"[" * 300_000)), url=NEWS),
            hostile(
                "link to a file elsewhere", _other_place(_tabs([([NEWS], 1)]), SESSION), url=NEWS
            ),
        ),
        equivalent={
            **SAME_URL,
            "*: args.url: cut": "a missing final slash does not count",
            "*: * flip a byte": "it changes a letter of a title",
            "*/profiles.ini: cut": "the relevant line is the second one",
        },
    ),
    CaseTable(
        firefox.firefox_tab_count,
        BrowserFixture,
        (
            positive(
                "three tabs in two windows",
                _tabs([([NEWS], 1), ([NEWS], 1)], [(["about:home"], 1)]),
                count=3,
            ),
            positive("one tab", _tabs([([NEWS], 1)]), count=1),
            negative("one of three tabs", _tabs([([NEWS], 1)]), count=3),
            near_miss("history entries instead of tabs", _tabs([([NEWS, NEWS, NEWS], 1)]), count=3),
            near_miss("one additional tab", _tabs([([NEWS], 1)] * 4), count=3),
            corrupt(
                "truncated",
                lambda b: (
                    _tabs([([NEWS], 1)])(b),
                    b.write(SESSION, b.at(SESSION).read_bytes()[:-9]),
                ),
                count=1,
            ),
            missing("no session", lambda b: (_profile()(b), b.browse()), count=0),
            *(forged(name, _unused(how), count=1) for name, how in UNUSED.items()),
            another_way("Debian's Firefox", _used("/usr/lib/firefox-esr/firefox-esr"), count=1),
            another_way("different page", _tabs([(["about:home"], 1)]), count=1),
            empty("no tabs", _tabs([]), count=0),
            hostile(
                "invalid windows",
                _session(pack(b'{"windows": [{"tabs": "abc"}, {"tabs": {"a": 1}}]}')),
                count=3,
            ),
        ),
        equivalent={
            "*: * flip a byte": "it changes a letter of a title",
            "*/profiles.ini: cut": "the relevant line is the second one",
        },
    ),
    CaseTable(
        firefox.firefox_pref_equals,
        DesktopFixture,
        (
            *(
                case(
                    f"user.js {what}",
                    _prefs(HOME, user=text),
                    name="browser.startup.homepage",
                    value=NEWS,
                )
                for case, what, text in (
                    (forged, "sets a different value", HOME.replace(NEWS, "http://other.test/")),
                    (another_way, "sets the same value", HOME),
                    (another_way, "sets a different preference", 'user_pref("a", 1);\n'),
                )
            ),
            forged(
                "only user.js sets it",
                _prefs("", user=HOME),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            positive(
                "text",
                _prefs("// Mozilla\n\n" + HOME),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            positive(
                "number",
                _prefs('user_pref("browser.startup.page", 3);\n'),
                name="browser.startup.page",
                value=3,
            ),
            positive(
                "Boolean",
                _prefs('user_pref("a", false);\nuser_pref("a", true);\n'),
                name="a",
                value=True,
            ),
            positive("quote in the name", _prefs('user_pref("a\\"b", 1);\n'), name='a"b', value=1),
            negative(
                "different value", _prefs(HOME), name="browser.startup.homepage", value="about:home"
            ),
            near_miss(
                "different name",
                _prefs(HOME.replace("homepage", "homepage2")),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            near_miss("1 instead of true", _prefs('user_pref("a", 1);\n'), name="a", value=True),
            near_miss(
                "commented out", _prefs("// " + HOME), name="browser.startup.homepage", value=NEWS
            ),
            near_miss(
                "only in user.js",
                _prefs(HOME, at=f"{PROFILE}/user.js"),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            near_miss(
                "overridden by a later line",
                _prefs('user_pref("a", true);\nuser_pref("a", false);\n'),
                name="a",
                value=True,
            ),
            corrupt("invalid value", _prefs('user_pref("a", tru);\n'), name="a", value=True),
            corrupt(
                "invalid escape in the name", _prefs('user_pref("\\q", 1);\n'), name="", value=1
            ),
            missing("no Firefox", nothing, name="a", value="XX"),
            corrupt("unclosed quote", _prefs('user_pref(", 1);\n'), name="", value=1),
            missing("no preferences file", _profile(), name="a", value=True),
            empty("empty file", _prefs(""), name="a", value=""),
            hostile(
                "link to a file elsewhere",
                _other_place(_prefs(HOME), PREFS),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            *(
                forged(name, _prefs(text), name="a", value=True)
                for name, text in (
                    ("in a multi-line comment", '/*\nuser_pref("a", true);\n*/'),
                    (
                        "in the value of a different preference",
                        'user_pref("b", "\\"); user_pref(\\"a\\", true);");',
                    ),
                    ("default preference", 'pref("a", true);'),
                    ("statement without a semicolon", 'user_pref("a", true)'),
                    ("additional word before the statement", 'x user_pref("a", true);'),
                    ("missing comma", 'user_pref("a" true true);'),
                    ("value in quotes", 'user_pref("a", "true");'),
                    ("name without quotes", "user_pref(XaX, true);"),
                    ("after a number sign", '# user_pref("a", true);'),
                    ("unclosed quote in the name", 'user_pref("a, true);'),
                )
            ),
            another_way(
                "in the folder of recent versions of Firefox",
                _moved(_prefs(HOME)),
                name="browser.startup.homepage",
                value=NEWS,
            ),
            *(
                another_way(name, _prefs(text), name="a.b", value=value)
                for name, text, value in (
                    (
                        "two statements on one line",
                        'user_pref("b", "x"); user_pref("a.b", true);',
                        True,
                    ),
                    ("empty text", 'user_pref("a.b", "");', ""),
                    ("with spaces and tabs", ' user_pref ( "a.b" ,\n\t-7 ) ;', -7),
                    ("in single quotes", "user_pref('a.b', '\\'x\\'');", "'x'"),
                    ("after comments", '/* x\n; */ # y;\n// z;\nuser_pref("a.b", 1);', 1),
                    ("with escapes", 'user_pref("a\\x2eb", "\\u00fc\\n\\r\\\\");', "ü\n\r\\"),
                    ("surrogate pair", 'user_pref("a.b", "\\ud83d\\ude00");', "😀"),
                    ("after a broken statement", 'user_pref("a.b", x);\nuser_pref("a.b", +1);', 1),
                )
            ),
        ),
        equivalent={
            "Boolean: * flip a byte": "it changes an earlier line",
            "*/profiles.ini: cut": "the relevant line is the second one",
            "*/profiles.ini: flip a byte": "it changes the line of a different profile",
        },
    ),
)
