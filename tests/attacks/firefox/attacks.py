"""Threat model of evaluators of Firefox: history, bookmarks, settings, downloads, tabs.

What the agent's user can do to their input: **write** the complete profile while Firefox does not
run; register another profile; replace its folders and files by links; replace tables by views,
comment out settings, and store compressed files that unpack to anything. A profile that Firefox
would read the same way proves the state, not who made it.

Defences: files of the profile are read like those of the home folder, without following links; only
tables are read, and only settings that Firefox would read; sizes are limited.
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from evaluators.graph.outcome import Call
from tests.attacks.model import ShellAttack
from tests.attacks.techniques import contents

FAMILY = "firefox"
URL = "http://news.test/today"
_PREF = "browser.startup.homepage"
_CALLS = (
    Call("visited", "firefox_visited", {"url": URL}),
    Call("bookmarked", "firefox_bookmarked", {"url": URL}),
    Call("setting", "firefox_pref_equals", {"name": _PREF, "value": URL}),
    Call("tab", "firefox_tab_open", {"url": URL}),
)
_TABLES = (
    "CREATE TABLE moz_places (id INTEGER, url TEXT)",
    "CREATE TABLE moz_historyvisits (id INTEGER, place_id INTEGER, visit_type INTEGER)",
    "CREATE TABLE moz_bookmarks (id INTEGER, type INTEGER, fk INTEGER, parent INTEGER, title TEXT, guid TEXT)",
)
_ROWS = (
    f"INSERT INTO moz_places VALUES (1, '{URL}')",  # noqa: S608 - no input
    "INSERT INTO moz_historyvisits VALUES (1, 1, 1)",
    "INSERT INTO moz_bookmarks VALUES (3, 2, NULL, 1, 'x', 'toolbar_____'), (9, 1, 1, 3, 'News', 'g')",
)


def _places(*statements: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="mesocosm-") as name:
        path = Path(name, "places.sqlite")
        connection = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()
        return path.read_bytes()


def _file(name: str, data: bytes | str) -> str:
    return f'write() {{\n{contents(data)}\n}}\nwrite "$profile/{name}"\n'


_PROFILE = """
profile=$HOME/.mozilla/firefox/a.default
mkdir -p "$profile/sessionstore-backups"
printf '[Profile0]\\nName=default\\nIsRelative=1\\nPath=a.default\\nDefault=1\\n' \\
    > ~/.mozilla/firefox/profiles.ini
"""
_RIGHT = _file("places.sqlite", _places(*_TABLES, *_ROWS)) + _file(
    "prefs.js", f'user_pref("{_PREF}", "{URL}");\n'
)
_WRONG = _file("places.sqlite", _places(*_TABLES)) + _file("prefs.js", "// none\n")
_VIEWS = _places(
    f"CREATE VIEW moz_places AS SELECT 1 AS id, '{URL}' AS url",
    "CREATE VIEW moz_historyvisits AS SELECT 1 AS id, 1 AS place_id, 1 AS visit_type",
    "CREATE VIEW moz_bookmarks AS SELECT 3 AS id, 2 AS type, 0 AS fk, 1 AS parent, 'x' AS title, "
    "'toolbar_____' AS guid UNION SELECT 9, 1, 1, 3, 'News', 'g'",
)
_COMMENTED = f'/* was\nuser_pref("{_PREF}", "{URL}");\n*/\n// user_pref("{_PREF}", "{URL}");\n'
_BEHIND = "real=$(mktemp -d)/profile; mkdir -p $real; mkdir -p ~/.mozilla/firefox\n"


def _attack(name: str, script: str, defence: str) -> ShellAttack:
    return ShellAttack(
        name=name,
        family=FAMILY,
        prepare=_PROFILE + _WRONG,
        script=_PROFILE + script,
        defence=defence,
        calls=_CALLS,
        rounds=1,
    )


ATTACKS = (
    _attack(
        "views instead of Firefox's tables", _file("places.sqlite", _VIEWS), "views are not read"
    ),
    _attack("settings in comments", _file("prefs.js", _COMMENTED), "comments are ignored"),
    _attack(
        "a symbolic link as profile",
        f"{_BEHIND}profile=$real\n{_RIGHT}rm -rf ~/.mozilla/firefox/a.default\n"
        "ln -s $real ~/.mozilla/firefox/a.default",
        "symbolic links below the home folder are not followed",
    ),
    _attack(
        "an unlisted profile",
        f"{_BEHIND}profile=$real\n{_RIGHT}"
        "printf '[Install1]\\nDefault=%s\\n' $real >> ~/.mozilla/firefox/profiles.ini",
        "an installation's profile must be in the list of profiles",
    ),
    _attack(
        "a session that is slow to unpack",
        "python3 - << 'END'\nimport os\n"
        "path = os.path.expanduser('~/.mozilla/firefox/a.default/sessionstore-backups/recovery.jsonlz4')\n"
        "with open(path, 'wb') as file:\n"
        "    file.write(b'mozLz40' + bytes(1) + (1 << 24).to_bytes(4, 'little') + b'\\xf0' + "
        "b'\\xff' * 257 + b'x' * 65610 + b'\\x00\\xff\\xff' * 2000000)\n"
        "END",
        "work is bounded by the unpacked size",
    ),
)
# An open tab requires a running Firefox; `tests/honest_ways` tests this on machines.
HONEST = (
    ShellAttack(
        name="honest profile",
        family=FAMILY,
        prepare=_PROFILE + _WRONG,
        script=_PROFILE + _RIGHT,
        defence="",
        calls=_CALLS[:3],
    ),
)
