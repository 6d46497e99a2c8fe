"""The default profile of Firefox: history, bookmarks, downloads, tabs, settings.

A missing profile, or a broken file in it, is unmet. Firefox writes its session some 15 s after a
change, and settings at irregular times: a task must allow for that. A task that
uses one of these does not run on a desktop without Firefox.

Source: Mozilla's ``profiles.ini``, ``places.sqlite`` (tables ``moz_places``, ``moz_bookmarks``,
``moz_annos``), ``sessionstore-backups/recovery.jsonlz4`` and ``prefs.js``, as Firefox 128 ESR
writes them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from evaluators.decorators import evaluator
from evaluators.desktop.database import query_rows
from evaluators.desktop.ini import parse_ini
from evaluators.desktop.lz4 import unpack
from evaluators.desktop.reading import is_file, lines_of, read_bytes, read_text

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_ROOT = "~/.mozilla/firefox"
_MAX_SESSION_BYTES = 1 << 24
_PREF = re.compile(r'^user_pref\("((?:[^"\\]|\\.)+)", (.+)\);$')
_FOLDERS = {"toolbar": "toolbar_____", "menu": "menu________", "other": "unfiled_____"}

_VISITED = (
    "SELECT 1 FROM moz_places p JOIN moz_historyvisits v ON v.place_id = p.id WHERE p.url = ?"
)
_BOOKMARKED = """
    SELECT b.title, f.title, f.guid FROM moz_bookmarks b
    JOIN moz_places p ON b.fk = p.id JOIN moz_bookmarks f ON b.parent = f.id
    WHERE b.type = 1 AND p.url = ?
"""
_DOWNLOADED = """
    SELECT a.content FROM moz_annos a
    JOIN moz_anno_attributes n ON a.anno_attribute_id = n.id JOIN moz_places p ON a.place_id = p.id
    WHERE n.name = 'downloads/destinationFileURI' AND p.url = ?
"""


@evaluator(on="desktop", needs="Firefox")
def firefox_visited(guest: Guest, url: str) -> bool:
    """Return whether Firefox's history has a visit to exactly this address.

    Example:
        ``{on: desktop, check: firefox_visited, with: {url: "http://news.test/today"}}``

    Args:
        guest: the desktop.
        url: the whole address, as Firefox stores it (a host alone ends with a slash).
    """
    return bool(_places(guest, _VISITED, url))


@evaluator(on="desktop", needs="Firefox")
def firefox_bookmarked(guest: Guest, url: str, title: str = "", folder: str = "") -> bool:
    """Return whether an address is bookmarked in Firefox, under a title and in a folder if given.

    Example:
        ``{on: desktop, check: firefox_bookmarked, with: {url: "http://news.test/", folder: toolbar}}``

    Args:
        guest: the desktop.
        url: the whole address.
        title: of the bookmark, whole; any when empty.
        folder: title of the folder it is in, or ``toolbar``, ``menu``, ``other`` for Firefox's
            own folders; any when empty.
    """
    return any(
        title in {"", own}
        and (not folder or (guid == _FOLDERS[folder] if folder in _FOLDERS else above == folder))
        for own, above, guid in _places(guest, _BOOKMARKED, url)
    )


@evaluator(on="desktop", needs="Firefox")
def firefox_downloaded(guest: Guest, url: str, path: str) -> bool:
    """Return whether Firefox has downloaded an address to a file, and the file exists.

    Example:
        ``{on: desktop, check: firefox_downloaded, with: {url: "http://files.test/form.pdf", path:
        ~/Downloads/form.pdf}}``

    Args:
        guest: the desktop.
        url: the whole address of the download.
        path: of the file.
    """
    uris = [str(uri) for (uri,) in _places(guest, _DOWNLOADED, url)]
    paths = [guest.path(unquote(uri[7:])) for uri in uris if uri.startswith("file:///")]
    return guest.path(path) in paths and is_file(guest, path)


@evaluator(on="desktop", needs="Firefox")
def firefox_tab_open(guest: Guest, url: str) -> bool:
    """Return whether a running Firefox has an open tab at exactly this address.

    The tab's history is ignored.

    Example:
        ``{on: desktop, check: firefox_tab_open, with: {url: "http://news.test/today"}}``

    Args:
        guest: the desktop.
        url: the whole address.
    """
    return any(_shown(tab) == url for window in _windows(guest) for tab in window["tabs"])


@evaluator(on="desktop", needs="Firefox")
def firefox_tab_count(guest: Guest, count: int) -> bool:
    """Return whether a running Firefox has this many tabs open, in all its windows together.

    Example:
        ``{on: desktop, check: firefox_tab_count, with: {count: 3}}``

    Args:
        guest: the desktop.
        count: how many, at least 1.
    """
    return count > 0 and sum(len(window["tabs"]) for window in _windows(guest)) == count


@evaluator(on="desktop", needs="Firefox")
def firefox_pref_equals(guest: Guest, name: str, value: str | int | bool) -> bool:  # noqa: FBT001
    """Return whether a setting of Firefox was changed to this value.

    Firefox stores only changed settings; one that still has its default is unmet.

    Example:
        ``{on: desktop, check: firefox_pref_equals, with: {name: browser.startup.homepage, value:
        "http://news.test/"}}``

    Args:
        guest: the desktop.
        name: as ``about:config`` shows it.
        value: text, whole number or bool.
    """
    found: object = None
    profile = _profile(guest)
    for line in lines_of(guest, f"{profile}/prefs.js") if profile else []:
        entry = _PREF.match(line)
        if entry and _decoded(f'"{entry[1]}"') == name:
            found = _decoded(entry[2])
    return type(found) is type(value) and found == value


def _profile(guest: Guest) -> str | None:
    """Return the default profile's folder: the installation's, else the marked or first one."""
    parser = parse_ini(read_text(guest, f"{_ROOT}/profiles.ini"))
    sections = [(name, parser[name]) for name in parser.sections()]
    installed = [
        each["Default"]
        for name, each in sections
        if name.startswith("Install") and "Default" in each
    ]
    profiles = [each for name, each in sections if name.startswith("Profile") and "Path" in each]
    marked = [each["Path"] for each in profiles if each.get("Default") == "1"]
    known = [each["Path"] for each in profiles]
    path = next(iter(installed or marked or known), None)
    if path is None or path not in known:
        return None
    return path if path.startswith("/") else f"{_ROOT}/{path}"


def _places(guest: Guest, query: str, url: str) -> list[tuple[Any, ...]]:
    profile = _profile(guest)
    if profile is None:
        return []
    return query_rows(guest, f"{profile}/places.sqlite", query, [url]) or []


def _windows(guest: Guest) -> list[dict[str, Any]]:
    """Return the windows of the running Firefox, each with its tabs; none when it does not run."""
    profile = _profile(guest)
    if profile is None:
        return []
    path = f"{profile}/sessionstore-backups/recovery.jsonlz4"
    data = read_bytes(guest, path, _MAX_SESSION_BYTES)
    try:
        session = json.loads(unpack(data or b""))
        windows = [window for window in session["windows"] if isinstance(window["tabs"], list)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return windows


def _shown(tab: dict[str, Any]) -> str | None:
    """Return the address a tab shows: ``index`` counts its entries from 1."""
    try:
        index = int(tab["index"])
        return str(tab["entries"][index - 1]["url"]) if index > 0 else None
    except (ValueError, KeyError, TypeError, IndexError):
        return None


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
