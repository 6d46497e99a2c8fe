"""Programs that setup operations run in guests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from controller.actions.guest_programs import places
from controller.actions.guest_programs.places import Places, find_profile, hash_url, is_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The columns that Firefox 153 has, as far as they have no default.
TABLES = """
CREATE TABLE moz_origins (id INTEGER PRIMARY KEY, prefix TEXT NOT NULL, host TEXT NOT NULL,
  frecency INTEGER NOT NULL, UNIQUE (prefix, host));
CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR,
  rev_host LONGVARCHAR, visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL,
  typed INTEGER DEFAULT 0 NOT NULL, frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER,
  guid TEXT UNIQUE, foreign_count INTEGER DEFAULT 0 NOT NULL, url_hash INTEGER DEFAULT 0 NOT NULL,
  origin_id INTEGER REFERENCES moz_origins(id));
CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER,
  visit_date INTEGER, visit_type INTEGER, session INTEGER);
CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER DEFAULT NULL,
  parent INTEGER, position INTEGER, title LONGVARCHAR, dateAdded INTEGER, lastModified INTEGER,
  guid TEXT UNIQUE, syncStatus INTEGER NOT NULL DEFAULT 0, syncChangeCounter INTEGER NOT NULL DEFAULT 1);
INSERT INTO moz_bookmarks (id, type, parent, position, title, guid) VALUES
  (1, 2, 0, 0, '', 'root________'), (2, 2, 1, 0, 'menu', 'menu________'),
  (3, 2, 1, 1, 'toolbar', 'toolbar_____'), (5, 2, 1, 3, 'unfiled', 'unfiled_____');
"""
NOW_S = 1_700_000_000.0
PAGE, OTHER = "http://localhost:8000/a.html", "https://example.org/x?y=1"


@pytest.fixture(name="database")
def _database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "places.sqlite")) as database:
        database.executescript(TABLES)
        yield database


def test_hashes_are_those_of_firefox() -> None:
    # In the tables of every Firefox, the hashes of addresses of a scheme begin with these numbers.
    assert hash_url(PAGE) >> 32 == 29222
    assert hash_url(OTHER) >> 32 == 11026
    assert hash_url(PAGE) != hash_url(f"{PAGE}?")


def test_bookmarks_are_added_at_the_end_of_their_folders(database: sqlite3.Connection) -> None:
    added = Places(database, NOW_S)
    added.add_bookmark("A", PAGE, "toolbar", "")
    added.add_bookmark("B", OTHER, "menu", "Work")
    added.add_bookmark("A again", PAGE, "menu", "Work")
    rows = database.execute(
        "SELECT b.title, b.position, parent.title, url, foreign_count FROM moz_bookmarks b "
        "JOIN moz_bookmarks parent ON parent.id = b.parent JOIN moz_places p ON p.id = b.fk "
        "ORDER BY b.id"
    ).fetchall()
    assert rows == [
        ("A", 0, "toolbar", PAGE, 2),
        ("B", 0, "Work", OTHER, 1),
        ("A again", 1, "Work", PAGE, 2),
    ]
    folders = "SELECT count(*) FROM moz_bookmarks WHERE title = 'Work' AND type = 2"
    assert database.execute(folders).fetchone() == (1,)


def test_visits_are_counted_and_dated(database: sqlite3.Connection) -> None:
    added = Places(database, NOW_S)
    added.add_visit(PAGE, "Page A", 90)
    added.add_visit(PAGE, "", 30)
    added.add_visit(PAGE, "", 60)
    latest_us = int((NOW_S - 1800) * 1e6)
    query = "SELECT title, visit_count, last_visit_date, rev_host, url_hash FROM moz_places"
    assert database.execute(query).fetchall() == [
        ("Page A", 3, latest_us, "tsohlacol.", hash_url(PAGE))
    ]
    assert database.execute("SELECT count(*) FROM moz_origins").fetchone() == (1,)
    visits = "SELECT count(DISTINCT visit_date) FROM moz_historyvisits WHERE place_id = 1"
    assert database.execute(visits).fetchone() == (3,)


def test_the_profile_of_the_installation_is_used_once_it_is_whole(
    tmp_path: Path, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, profile = tmp_path / "firefox", tmp_path / "firefox/b.default-esr"
    monkeypatch.setattr(places, "_ROOTS", (str(tmp_path / "none"), str(root)))
    assert find_profile() is None
    profile.mkdir(parents=True)
    (root / "profiles.ini").write_text(
        "[Profile1]\nPath=a.default\nDefault=1\n[Profile0]\nPath=b.default-esr\n"
        "[InstallX]\nDefault=b.default-esr\nLocked=1\n"
    )
    assert find_profile() == profile
    assert not is_whole(profile)
    database.commit()
    (tmp_path / "places.sqlite").rename(profile / "places.sqlite")
    assert not is_whole(profile)
    (profile / "prefs.js").write_text("")
    assert is_whole(profile)
    assert not places.is_used(profile)
