"""Add bookmarks and visits to the profile of Firefox; run by its user, with JSON on standard input.

Without a profile, Firefox makes one first, without a window. Rows have what Firefox itself writes;
it computes only the frecencies anew.

Source: Mozilla's ``toolkit/components/places``: ``nsPlacesTables.h`` for the tables, ``Helpers.cpp``
(``HashURL``) and ``mfbt/HashFunctions.h`` for `url_hash`.
"""

from __future__ import annotations

import base64
import configparser
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_ROOTS = ("~/.mozilla/firefox", "~/.config/mozilla/firefox")
_FIREFOX = ("/usr/bin/firefox", "--headless", "about:blank")
_PLACES = "places.sqlite"
_PARENTS = {"toolbar": "toolbar_____", "menu": "menu________", "other": "unfiled_____"}
_URL, _FOLDER = 1, 2
_LINK = 1
_HASHED_CHARS = 1500
_GOLDEN = 0x9E3779B9
_U32 = 0xFFFFFFFF
_EVERY_S = 0.5


def find_profile() -> Path | None:
    """Return the folder of Firefox's default profile; None if there is none."""
    for root in (Path(name).expanduser() for name in _ROOTS):
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        if not parser.read(root / "profiles.ini", encoding="utf-8"):
            continue
        rows = [parser[name] for name in parser.sections()]
        chosen = [row["Default"] for row in rows if row.name.startswith("Install")]
        marked = [row["Path"] for row in rows if row.get("Default") == "1" and "Path" in row]
        if path := next(iter(chosen or marked), ""):
            return root / path
    return None


def make_profile(timeout_s: float) -> Path:
    """Let Firefox make its default profile, end it, and return the profile's folder.

    Raises:
        SystemExit: Firefox made none in time.
    """
    ends_s = time.monotonic() + timeout_s
    firefox = subprocess.Popen(
        _FIREFOX,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while not ((profile := find_profile()) and is_whole(profile)):
            if time.monotonic() > ends_s:
                sys.exit("Firefox made no profile in time.")
            time.sleep(_EVERY_S)
    finally:
        os.killpg(firefox.pid, signal.SIGTERM)
        try:
            firefox.wait(max(1.0, ends_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(firefox.pid, signal.SIGKILL)
            firefox.wait()
    while is_used(profile):
        if time.monotonic() > ends_s:
            sys.exit("Firefox did not end in time.")
        time.sleep(_EVERY_S)
    # The next start must not offer to restore this session.
    shutil.rmtree(profile / "sessionstore-backups", ignore_errors=True)
    for name in ("sessionstore.jsonlz4", "sessionCheckpoints.json"):
        (profile / name).unlink(missing_ok=True)
    return profile


def is_whole(profile: Path) -> bool:
    """Return whether a profile has the folders of bookmarks, as a copy of its files shows."""
    if not (profile / "prefs.js").exists() or not (profile / _PLACES).exists():
        return False
    with tempfile.TemporaryDirectory() as scratch:
        for path in profile.glob(f"{_PLACES}*"):
            shutil.copy(path, scratch)
        try:
            with contextlib.closing(sqlite3.connect(Path(scratch) / _PLACES)) as database:
                query = "SELECT guid FROM moz_bookmarks"
                known = {row[0] for row in database.execute(query)}
        except sqlite3.Error:
            return False
    return known.issuperset(_PARENTS.values())


def is_used(profile: Path) -> bool:
    """Return whether a Firefox runs with a profile: it holds a lock on a file in it."""
    try:
        with (profile / ".parentlock").open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def hash_url(url: str) -> int:
    """Return Firefox's hash of an address: 16 bits of its scheme's, and 32 of its own."""
    scheme = url.partition(":")[0]
    return ((_hash(scheme) & 0xFFFF) << 32) + _hash(url[:_HASHED_CHARS])


def _hash(text: str) -> int:
    value = 0
    for byte in text.encode():
        rotated = ((value << 5) | (value >> 27)) & _U32
        value = (_GOLDEN * (rotated ^ byte)) & _U32
    return value


class Places:
    """Adds rows to the tables of a profile's ``places.sqlite``.

    Args:
        database: the open database.
        now_s: the time, seconds since the epoch.
    """

    def __init__(self, database: sqlite3.Connection, now_s: float) -> None:
        self._database = database
        self._now_us = int(now_s * 1e6)

    def add_bookmark(self, title: str, url: str, place: str, folder: str) -> None:
        """Add a bookmark, at the end of its folder."""
        parent = self._id("moz_bookmarks", guid=_PARENTS[place])
        if folder:
            known = {"parent": parent, "type": _FOLDER, "title": folder}
            found = self._find("moz_bookmarks", **known)
            parent = found or self._add_entry(parent, _FOLDER, folder, None)
        page = self._page(url, title)
        self._add_entry(parent, _URL, title, page)
        self._run("UPDATE moz_places SET foreign_count = foreign_count + 1 WHERE id = ?", page)

    def add_visit(self, url: str, title: str, minutes_ago: float) -> None:
        """Add a visit of a page by a link."""
        page, at_us = self._page(url, title), self._now_us - int(minutes_ago * 60e6)
        self._insert(
            "moz_historyvisits",
            from_visit=0,
            place_id=page,
            visit_date=at_us,
            visit_type=_LINK,
            session=0,
        )
        self._run(
            "UPDATE moz_places SET visit_count = visit_count + 1, "
            "last_visit_date = max(coalesce(last_visit_date, 0), ?) WHERE id = ?",
            at_us,
            page,
        )

    def _add_entry(self, parent: int, kind: int, title: str, page: int | None) -> int:
        query = "SELECT coalesce(max(position) + 1, 0) FROM moz_bookmarks WHERE parent = ?"
        position = self._run(query, parent)[0][0]
        return self._insert(
            "moz_bookmarks",
            type=kind,
            fk=page,
            parent=parent,
            position=position,
            title=title,
            dateAdded=self._now_us,
            lastModified=self._now_us,
            guid=_guid(f"{parent} {position} {title}"),
            syncStatus=1,
            syncChangeCounter=1,
        )

    def _page(self, url: str, title: str) -> int:
        """Return the id of a page's row, which is added if there is none."""
        known = self._find("moz_places", url=url)
        if known:
            return known
        parts = urlsplit(url)
        prefix = f"{parts.scheme}://"
        origin = self._find("moz_origins", prefix=prefix, host=parts.netloc) or self._insert(
            "moz_origins", prefix=prefix, host=parts.netloc, frecency=1
        )
        return self._insert(
            "moz_places",
            url=url,
            title=title or None,
            rev_host=f"{(parts.hostname or '')[::-1]}.",
            visit_count=0,
            hidden=0,
            typed=0,
            frecency=-1,
            guid=_guid(url),
            foreign_count=0,
            url_hash=hash_url(url),
            origin_id=origin,
        )

    def _find(self, table: str, **values: object) -> int:
        where = " AND ".join(f"{name} = ?" for name in values)
        rows = self._run(f"SELECT id FROM {table} WHERE {where}", *values.values())
        return int(rows[0][0]) if rows else 0

    def _id(self, table: str, **values: object) -> int:
        found = self._find(table, **values)
        if not found:
            sys.exit(f"Firefox's table {table} has no {values}.")
        return found

    def _insert(self, table: str, **values: object) -> int:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"
        return int(self._database.execute(sql, list(values.values())).lastrowid or 0)

    def _run(self, sql: str, *values: object) -> list[Any]:
        return self._database.execute(sql, values).fetchall()


def _guid(text: str) -> str:
    """Return an id of twelve letters; the same for the same text."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())[:12].decode()


def main() -> None:
    """Add what standard input asks for.

    Raises:
        SystemExit: Firefox runs, or made no profile.
    """
    asked = json.load(sys.stdin)
    profile = find_profile()
    if profile is not None and is_used(profile):
        sys.exit("Firefox runs already; its profile can be prepared only before.")
    if profile is None or not is_whole(profile):
        profile = make_profile(float(asked["timeout_s"]))
    with contextlib.closing(sqlite3.connect(profile / _PLACES)) as database, database:
        places = Places(database, time.time())
        for bookmark in asked["bookmarks"]:
            places.add_bookmark(**bookmark)
        for visit in asked["visits"]:
            places.add_visit(**visit)


if __name__ == "__main__":
    main()
