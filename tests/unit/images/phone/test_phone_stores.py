"""Data stored by the applications, and the phone's offline data."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timezone
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from images.phone.device.apps.atlas import Window, draw_map, window_of
from images.phone.device.store import media, schema
from images.phone.device.store.clock import next_time
from images.phone.device.store.database import Store
from images.phone.device.store.messages import (
    RECEIVED,
    SENT,
    add_message,
    is_same_number,
    list_threads,
)
from images.phone.device.store.notifications import (
    cancel_notifications,
    list_notifications,
    post_notification,
)
from images.phone.device.store.places import (
    all_places,
    distance_km,
    find_place,
    find_places,
    find_route,
    heading,
    land,
)
from tests.standins.open_files import open_files
from tests.standins.phone_user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    phone_store = Store(tmp_path / "phone.db")
    yield phone_store
    phone_store.close()


class TestMigrations:
    def make_old(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            db.executescript(f"{schema.MIGRATIONS[0]} PRAGMA user_version = 1;")
            db.execute("INSERT INTO task (title) VALUES ('Milk')")
            db.commit()

    def test_older_database_is_migrated_and_keeps_its_rows(self, tmp_path: Path) -> None:
        self.make_old(tmp_path / "phone.db")
        with closing(Store(tmp_path / "phone.db")) as store:
            assert [row["title"] for row in store.rows("SELECT title FROM task")] == ["Milk"]
            assert store.rows("SELECT * FROM note") == []
            assert set(store.digest()) == set(schema.TABLES)

    def test_older_snapshot_is_migrated_too(self, tmp_path: Path, store: Store) -> None:
        self.make_old(tmp_path / "old.db")
        store.load_from(tmp_path / "old.db")
        assert [row["title"] for row in store.rows("SELECT title FROM task")] == ["Milk"]
        assert store.rows("SELECT * FROM alarm") == []

    def test_newer_database_is_rejected(self, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / "phone.db")) as db:
            db.execute("PRAGMA user_version = 99")
        with pytest.raises(ValueError, match="version 99") as caught:
            Store(tmp_path / "phone.db")
        assert caught.traceback  # keeps what the failed call opened alive
        assert open_files(tmp_path) == []

    def test_digest_covers_every_table(self, store: Store) -> None:
        rows = store.rows(
            "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
        )
        assert {row["name"] for row in rows} == set(schema.TABLES)


class TestMessages:
    @pytest.mark.parametrize(
        ("number", "other", "same"),
        [
            ("+41 44 555 01 73", "044 555 01 73", True),
            ("0445550173", "044/555.01.73", True),
            ("123", "123", True),
            ("123", "1123", False),
            ("+41445550173", "+41445550174", False),
        ],
    )
    def test_numbers_are_compared_as_a_telephone_would(
        self, number: str, other: str, same: bool
    ) -> None:
        assert is_same_number(number, other) is same

    def test_number_formats_share_one_conversation(self, store: Store) -> None:
        add_message(store, "+41445550173", "a", SENT, 1)
        add_message(store, "044 555 01 73", "b", RECEIVED, 2)
        add_message(store, "999", "c", RECEIVED, 3)
        threads = [(row["body"], row["unread"]) for row in list_threads(store)]
        assert threads == [("c", 1), ("b", 1)]


def test_notification_of_the_same_tag_replaces_the_older(store: Store) -> None:
    for title, tag in (("a", "x"), ("b", "x"), ("c", ""), ("d", "")):
        post_notification(store, "p", title, "", tag=tag, posted_ms=1, activity="", arguments={})
    assert [row["title"] for row in list_notifications(store)] == ["d", "c", "b"]
    assert cancel_notifications(store, "p", "x") == 1
    assert cancel_notifications(store, "q") == 0
    assert cancel_notifications(store) == 2


class TestAlarms:
    NOW = datetime(2026, 11, 21, 12, 0, tzinfo=timezone.utc)  # noqa: UP017 - a Saturday

    @pytest.mark.parametrize(
        ("hour", "days", "day"),
        [(13, 0, 21), (7, 0, 22), (12, 0, 22), (13, 1 << 5, 21), (7, 1 << 5, 28), (7, 1, 23)],
    )
    def test_next_ring_time_is_computed(self, hour: int, days: int, day: int) -> None:
        alarm_time = next_time({"hour": hour, "minutes": 0, "daysofweek": days}, self.NOW)
        assert (alarm_time.day, alarm_time.hour) == (day, hour)


class TestPlaces:
    def test_every_place_has_a_zone_and_lies_on_earth(self) -> None:
        for place in all_places():
            assert ZoneInfo(place.zone).key == place.zone
            assert -90 < place.latitude < 90
            assert -180 <= place.longitude <= 180

    def test_best_match_comes_first_and_accents_are_ignored(self) -> None:
        assert find_places("zurich")[0].title == "Zürich, Switzerland"
        assert find_places("paris")[0].region == "France"
        assert find_places("tokyo tower")[0].name == "Tokyo Tower"
        assert find_places("no such place") == ()
        assert find_places("  ") == ()

    def test_route_goes_from_start_to_end(self) -> None:
        start, end = find_place("Paris"), find_place("Zurich")
        assert start is not None
        assert end is not None
        route = find_route(start, end)
        assert (route.stops[0], route.stops[-1]) == (start, end)
        assert pytest.approx(distance_km(start, end), abs=5) == 488
        assert distance_km(start, end) < route.length_km < 1.4 * distance_km(start, end)
        assert route.minutes("Walking") > route.minutes("Driving")
        assert heading(start, end) == "east"

    def test_water_and_land_are_distinguished(self) -> None:
        """Three spots in the middle of the continents, three in the oceans, one across 180°."""

        def color(longitude: float, latitude: float) -> tuple[int, int, int]:
            image = draw_map(Window(longitude, latitude, 4.0), (), (), (300, 300), is_dark=False)
            pixel = image.getpixel((150, 150))
            assert isinstance(pixel, tuple)
            return (pixel[0], pixel[1], pixel[2])

        dry = {color(*spot) for spot in ((24.0, 4.0), (-100.0, 43.0), (178.5, 67.5))}
        wet = {color(*spot) for spot in ((-30.0, 30.0), (80.0, -20.0), (179.9, 20.0))}
        assert len(dry) == len(wet) == 1
        assert dry != wet
        assert len(land()) > 100

    def test_map_window_covers_the_found_places(self) -> None:
        places = tuple(find_places("japan"))
        window = window_of(places)
        for place in places:
            assert abs(place.longitude - window.longitude) <= window.span / 2


class TestFiles:
    def test_files_outside_the_shared_folder_are_inaccessible(self, tmp_path: Path) -> None:
        card = tmp_path / "card"
        card.mkdir()
        (tmp_path / "secret.txt").write_text("x")
        (card / "link").symlink_to(tmp_path)
        assert media.read_text(card, "../secret.txt") is None
        assert media.read_text(card, "link/secret.txt") is None
        assert media.list_folder(card, "..") == []
        assert media.list_folder(card, "link") == []
        assert not media.delete_path(card, "../secret.txt")
        assert not media.rename_path(card, "link/secret.txt", "y")
        assert not media.make_folder(card, "..", "z")
        assert not media.delete_path(card, "")
        assert (tmp_path / "secret.txt").read_text() == "x"

    def test_taken_names_get_a_number(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("1")
        (tmp_path / "dir").mkdir()
        assert media.transfer(tmp_path, "a.txt", "", keep=True)
        assert (tmp_path / "a (1).txt").read_text() == "1"
        assert media.transfer(tmp_path, "a.txt", "dir", keep=False)
        assert [entry.path for entry in media.list_folder(tmp_path, "dir")] == ["dir/a.txt"]
        assert not media.transfer(tmp_path, "dir", "dir", keep=True)
        assert not media.rename_path(tmp_path, "dir", "a (1).txt")

    @pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
    def test_invalid_names_are_rejected(self, tmp_path: Path, name: str) -> None:
        assert not media.make_folder(tmp_path, "", name)
        assert list(tmp_path.iterdir()) == []

    def test_invalid_picture_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "x.jpg").write_bytes(b"no picture")
        assert media.read_picture(tmp_path, "x.jpg") is None
        assert media.read_picture(tmp_path, "none.jpg") is None

    def test_sizes_are_written_in_decimal_units(self) -> None:
        assert [media.size_text(size) for size in (0, 999, 1000, 1_500_000)] == [
            "0 B",
            "999 B",
            "1.00 kB",
            "1.50 MB",
        ]


def test_the_clock_is_set_and_survives_a_restart(tmp_path: Path) -> None:
    user = User(tmp_path)
    moment_s = 1709712120.0  # 2024-03-06 08:02
    assert user.run("cmd", "alarm", "set-time", str(int(moment_s * 1000))) == "true\n"
    assert 0 <= user.phone.now_s() - moment_s < 60
    assert user.phone.now().year == 2024
    user.close()
    again = User(tmp_path)
    assert 0 <= again.phone.now_s() - moment_s < 60
    again.close()
