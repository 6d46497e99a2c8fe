"""Evaluators of Firefox's default profile: history, bookmarks, downloads, tabs, settings.

A missing profile, or a corrupt file in it, is unmet. Firefox writes its session about 15 s after a
change, and settings at irregular times: a task must allow for that. A task that uses one of these
evaluators does not run on a desktop without Firefox. The agent can edit these files: if a visit
matters, also check the server.

Source: Mozilla's ``places.sqlite`` (tables ``moz_places``, ``moz_historyvisits``,
``moz_bookmarks``, ``moz_annos``), ``sessionstore-backups/recovery.jsonlz4`` and ``prefs.js``, as
written by Firefox 128 ESR; ``nsINavHistoryService.idl`` and ``DownloadHistory.sys.mjs`` for the
codes of visits and downloads.
"""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.database import query_rows
from evaluators.desktop.firefox_profile import default_profile, is_used, parse_prefs
from evaluators.desktop.lz4 import unpack
from evaluators.desktop.reading import look, read_bytes, read_text
from evaluators.desktop.urls import PageUrl, page_spellings
from evaluators.desktop.visible import alike

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_MAX_SESSION_BYTES = 1 << 24
_FOLDERS = {"toolbar": "toolbar_____", "menu": "menu________", "other": "unfiled_____"}
_FINISHED = 1

# Not 4 (embedded), 7 (downloaded), 8 (link in a frame).
_VISITED = """
    SELECT 1 FROM moz_places p JOIN moz_historyvisits v ON v.place_id = p.id
    WHERE p.url = ? AND v.visit_type IN (1, 2, 3, 5, 6, 9)
"""
# Tags are stored as bookmarks, in invisible folders; bookmarks outside of folders are lost.
_BOOKMARKED = """
    WITH RECURSIVE shown(id) AS (
        SELECT id FROM moz_bookmarks
        WHERE guid IN ('menu________', 'toolbar_____', 'unfiled_____', 'mobile______')
        UNION SELECT b.id FROM moz_bookmarks b JOIN shown ON b.parent = shown.id WHERE b.type = 2
    )
    SELECT b.title, f.title, f.guid FROM moz_bookmarks b
    JOIN moz_places p ON b.fk = p.id JOIN moz_bookmarks f ON b.parent = f.id
    JOIN shown ON shown.id = f.id WHERE b.type = 1 AND p.url = ?
"""
_ANNOTATION = """
    SELECT a.content FROM moz_annos a
    JOIN moz_anno_attributes n ON a.anno_attribute_id = n.id JOIN moz_places p ON a.place_id = p.id
    WHERE p.url = ? AND n.name =
"""
_DESTINATION = f"{_ANNOTATION} 'downloads/destinationFileURI'"
_RESULT = f"{_ANNOTATION} 'downloads/metaData'"


@evaluator(on="desktop", needs="Firefox")
def firefox_visited(guest: Guest, url: PageUrl) -> bool:
    """Return whether Firefox's history has a visit to the given URL.

    Downloads and pages in frames of other pages do not count as visits. Proves the state, not
    who caused it.

    Example:
        ``{on: desktop, check: firefox_visited, with: {url: "http://news.test/today"}}``

    Args:
        guest: the desktop.
        url: the complete URL; it is normalised as by browsers, and spaces in its query may be
            ``+`` or ``%20``.
    """
    return bool(_places(guest, _VISITED, url))


@evaluator(on="desktop", needs="Firefox")
def firefox_bookmarked(guest: Guest, url: PageUrl, title: str = "", folder: str = "") -> bool:
    """Return whether a URL is bookmarked in Firefox, with the given title and folder, if any.

    A tag does not count as a bookmark. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: firefox_bookmarked, with: {url: "http://news.test/", folder: toolbar}}``

    Args:
        guest: the desktop.
        url: the complete URL, normalised as in ``firefox_visited``.
        title: complete title of the bookmark, invisible characters aside; empty matches any.
        folder: title of its folder, or ``toolbar``, ``menu``, ``other`` for Firefox's own folders;
            empty matches any.
    """
    rows = [(str(own or ""), above, guid) for own, above, guid in _places(guest, _BOOKMARKED, url)]
    if title and len(alike((own for own, _, _ in rows), title)) != 1:
        return False
    return any(
        (not title or bool(alike([own], title)))
        and (not folder or (guid == _FOLDERS[folder] if folder in _FOLDERS else above == folder))
        for own, above, guid in rows
    )


@evaluator(on="desktop", needs="Firefox")
def firefox_downloaded(guest: Guest, url: PageUrl, path: MachinePath) -> bool:
    """Return whether Firefox has downloaded a URL to a file, and the file exists.

    A download that is unfinished, failed or was cancelled is unmet. The file's content is not
    checked; check it separately. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: firefox_downloaded, with: {url: "http://files.test/form.pdf", path:
        ~/Downloads/form.pdf}}``

    Args:
        guest: the desktop.
        url: the complete URL of the download, normalised as in ``firefox_visited``.
        path: path of the file.
    """
    uris = [str(uri) for (uri,) in _places(guest, _DESTINATION, url)]
    paths = [guest.path(unquote(uri[7:])) for uri in uris if uri.startswith("file:///")]
    if guest.path(path) not in paths:
        return False
    results = [_decoded(str(text)) for (text,) in _places(guest, _RESULT, url)]
    status = look(guest, path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return False
    # Firefox first creates an empty file, and may not have recorded the result yet.
    return all(map(_is_finished, results)) if results else status.st_size > 0


@evaluator(on="desktop", needs="Firefox")
def firefox_tab_open(guest: Guest, url: PageUrl) -> bool:
    """Return whether a running Firefox has an open tab with the given URL.

    The tab's history is ignored. The system's Firefox must run with the profile; its tabs are those
    of the stored session, which the agent can edit, so also check for a visit. Proves
    the state, not who caused it.

    Example:
        ``{on: desktop, check: firefox_tab_open, with: {url: "http://news.test/today"}}``

    Args:
        guest: the desktop.
        url: the complete URL, normalised as in ``firefox_visited``.
    """
    wanted = page_spellings(url)
    return any(_shown(tab) in wanted for window in _windows(guest) for tab in window["tabs"])


@evaluator(on="desktop", needs="Firefox")
def firefox_tab_count(guest: Guest, count: int) -> bool:
    """Return whether a running Firefox has exactly the given number of open tabs, in all windows together.

    The session is read as in ``firefox_tab_open``. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: firefox_tab_count, with: {count: 3}}``

    Args:
        guest: the desktop.
        count: number of tabs, at least 1.
    """
    return count > 0 and sum(len(window["tabs"]) for window in _windows(guest)) == count


@evaluator(on="desktop", needs="Firefox")
def firefox_pref_equals(guest: Guest, name: str, value: str | int | bool) -> bool:  # noqa: FBT001
    """Return whether a setting of Firefox was changed to the given value.

    Firefox stores only changed settings; a setting with its default value is unmet, as is one that
    the profile's ``user.js``, which Firefox applies at every start, sets to another value. Proves
    the state,
    not who caused it.

    Example:
        ``{on: desktop, check: firefox_pref_equals, with: {name: browser.startup.homepage, value:
        "http://news.test/"}}``

    Args:
        guest: the desktop.
        name: name in ``about:config``.
        value: text, integer or bool.
    """
    profile = default_profile(guest)
    if profile is None:
        return False
    stored, imposed = (
        parse_prefs(read_text(guest, f"{profile}/{file}") or "") for file in ("prefs.js", "user.js")
    )
    return all(
        type(setting) is type(value) and setting == value
        for setting in (stored.get(name), imposed.get(name, stored.get(name)))
    )


def _places(guest: Guest, query: str, url: str) -> list[tuple[Any, ...]]:
    spellings, profile = page_spellings(url), default_profile(guest)
    if profile is None:
        return []
    path = f"{profile}/places.sqlite"
    return [row for form in spellings for row in query_rows(guest, path, query, [form]) or []]


def _windows(guest: Guest) -> list[dict[str, Any]]:
    """Return the windows of the running Firefox with their tabs; empty if it is not running."""
    profile = default_profile(guest)
    if profile is None or not is_used(guest, profile):
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
    """Return the URL that a tab shows; ``index`` counts its entries from 1."""
    try:
        index = int(tab["index"])
        return str(tab["entries"][index - 1]["url"]) if index > 0 else None
    except (ValueError, KeyError, TypeError, IndexError):
        return None


def _is_finished(result: object) -> bool:
    """Return whether the recorded result of a download means that it is complete."""
    return (
        isinstance(result, dict)
        and result.get("state") == _FINISHED
        and not result.get("deleted", False)
    )


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
