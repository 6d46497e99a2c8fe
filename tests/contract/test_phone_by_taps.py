"""End-to-end tests of each application by taps on the screen and on the soft keyboard."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from foundation.clock import wait_until
from images.phone.device.ui.keyboard import DIGITS
from tests.standins.local_phone import Adb, LocalPhone
from tests.standins.touch_user import TouchUser
from tests.standins.website import website

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.adb


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPhone]:
    local_phone = LocalPhone(tmp_path_factory.mktemp("phone"))
    with local_phone.console() as console:
        console.run("avd snapshot save fresh", timeout_s=30)
    yield local_phone
    local_phone.close()


@pytest.fixture(scope="module")
def adb(phone: LocalPhone) -> Iterator[Adb]:
    client = Adb(phone.folder / "home", phone.key)
    assert "connected to" in client.run("connect", phone.serial).text
    yield client
    client.close()


@pytest.fixture
def user(phone: LocalPhone, adb: Adb) -> TouchUser:
    with phone.console() as console:
        console.run("avd snapshot load fresh", timeout_s=30)
    return TouchUser(adb)


def rows(phone: LocalPhone, sql: str) -> list[tuple[Any, ...]]:
    """Query the phone's database directly."""
    path = phone.root / "data/system/phone.db"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def open_drawer(user: TouchUser) -> None:
    user.swipe((540, 1000), (540, 200))


def add_contact(user: TouchUser) -> None:
    user.tap("Contacts", "Create contact")
    user.type("Ines\nCarvalho\n")
    user.type("+41445550173\n", DIGITS)
    user.type("ines@example.org\n")


def test_contact_is_added(user: TouchUser, phone: LocalPhone) -> None:
    add_contact(user)
    assert user.sees("Ines Carvalho")
    assert rows(phone, "SELECT display_name FROM contact") == [("Ines Carvalho",)]
    assert rows(phone, "SELECT data1 FROM contact_data ORDER BY _id") == [
        ("+41445550173",),
        ("ines@example.org",),
    ]


def test_sms_is_sent_to_a_contact(user: TouchUser, phone: LocalPhone) -> None:
    add_contact(user)
    user.touch([(540, 2337)])  # HOME
    user.tap("Messages", "Start chat")
    user.type("Ines")
    user.tap("Ines Carvalho")
    user.type("See you at 10:30, OK?")
    user.tap("Send SMS")
    assert user.sees("Ines Carvalho")
    assert user.sees("See you at 10:30, OK?")
    assert rows(phone, "SELECT address, type, body FROM sms") == [
        ("+41445550173", 2, "See you at 10:30, OK?")
    ]


def test_alarm_is_set(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Clock", "Alarm", "Add alarm", "6 hours", "45 minutes", "OK", "Mon", "Fri")
    user.tap("edit_label")
    user.type("Train\n")
    assert user.sees("06:45")
    alarms = rows(phone, "SELECT hour, minutes, enabled, daysofweek, label FROM alarm")
    assert alarms == [(6, 45, 1, 0b10001, "Train")]


def test_timer_rings_and_is_stopped(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Clock", "Timer", "timer_setup_digit_1", "Start")
    assert wait_until(lambda: user.sees("+1 min"), timeout_s=20)
    assert user.sees("0:01 timer")
    user.tap("Stop")
    assert rows(phone, "SELECT ends, left FROM timer") == [(None, 1)]
    assert not user.sees("+1 min")


def test_event_is_created(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Calendar", "Create new event")
    user.type("Review")
    user.tap("start_date", "Next month")
    day = next(
        line.split('"')[0]
        for line in user.dump().split('content-desc="')[1:]
        if line.startswith("15 ")
    )
    user.tap(day, "OK", "start_time", "14 hours", "30 minutes", "OK", "Add location")
    user.type("Room 2")
    user.tap("Save", "Month", "Next month", day)
    assert user.sees("Review")
    (event,) = rows(
        phone,
        "SELECT title, eventLocation, strftime('%d %H:%M', dtstart/1000, 'unixepoch'),"
        " dtend - dtstart FROM event",
    )
    assert event == ("Review", "Room 2", "15 14:30", 3_600_000)


def test_note_is_written(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Notes", "New text note")
    user.type("Milk\nbread")
    user.tap("Title")
    user.type("Shopping")
    user.tap("Navigate up")
    assert user.sees("Shopping")
    assert rows(phone, "SELECT title, body FROM note") == [("Shopping", "Milk\nbread")]


def test_task_is_finished(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Tasks", "Create new task")
    user.type("Call the bank\n")
    user.tap("Mark as complete")
    assert rows(phone, "SELECT title, completed FROM task") == [("Call the bank", 1)]
    assert user.sees("Completed (1)")


def test_number_is_dialled(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Phone", "Key pad", "zero", "four", "four", "Dial")
    assert user.sees("contactgrid_contact_name")
    assert user.sees("044")
    user.tap("End call", "Navigate up")
    assert user.sees("044")
    assert rows(phone, "SELECT number, type FROM call") == [("044", 2)]


def test_place_and_route_are_found(user: TouchUser) -> None:
    user.tap("Maps", "Search here")
    user.type("kyoto\n")
    assert user.sees("Kyoto")
    user.tap("Directions")
    user.type("osaka\n")
    assert user.sees("Start location, Osaka")
    assert user.sees("Destination, Kyoto")
    assert user.sees("trip_summary")
    user.tap("Steps")
    assert user.sees("Arrive at Kyoto, Japan")


def test_bluetooth_is_renamed(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Settings", "Connected devices", "Device name")
    user.type(" two\n")
    assert user.sees("Reference phone two")
    assert rows(phone, "SELECT value FROM setting WHERE key='bluetooth_name'") == [
        ("Reference phone two",)
    ]


def test_dark_theme_is_switched_on_and_off(user: TouchUser, phone: LocalPhone) -> None:
    night = "SELECT value FROM setting WHERE key='ui_night_mode'"
    user.tap("Settings", "Display", "Dark theme")
    assert rows(phone, night) == [("2",)]
    user.tap("Dark theme")
    assert rows(phone, night) == [("1",)]


def test_mail_is_sent(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Mail", "Compose")
    user.type("ines@example.org\nLunch\nAt noon?")
    assert user.sees("peoplekit_chip")
    user.tap("Send")
    assert rows(phone, "SELECT folder, recipients, subject, body FROM mail") == [
        ("sent", "ines@example.org", "Lunch", "At noon?")
    ]
    user.tap("Sent")
    assert user.sees("Lunch")


def test_mail_to_an_invalid_address_is_rejected(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Mail", "Compose")
    user.type("nobody\nHi")
    user.tap("Send")
    assert user.sees("The address <nobody> in To is invalid.")
    user.tap("OK")
    assert rows(phone, "SELECT * FROM mail") == []


def test_city_is_added_to_the_world_clock_and_a_timer_runs(
    user: TouchUser, phone: LocalPhone
) -> None:
    user.tap("Clock", "Cities")
    user.type("tokyo")
    user.tap("Japan")
    assert user.sees("city_name")
    assert rows(phone, "SELECT name, zone FROM city") == [("Tokyo", "Asia/Tokyo")]
    user.tap("Timer", "5", "0", "0", "Start")
    assert user.sees("5:00 timer")
    user.tap("Pause")
    assert rows(phone, "SELECT length, ends FROM timer") == [(300, None)]


def test_picture_is_taken_and_viewed(user: TouchUser, phone: LocalPhone) -> None:
    user.tap("Camera", "Shutter", "Most recent photo", "Details")
    (path,) = (phone.root / "data/media/0/DCIM/Camera").glob("IMG_*.jpg")
    assert user.sees(path.name)
    assert user.sees("exif_item_layout")
    user.tap("Delete", "Move to bin")
    assert not path.exists()


def test_files_are_created_renamed_and_deleted(user: TouchUser, phone: LocalPhone) -> None:
    card = phone.root / "data/media/0"
    open_drawer(user)
    user.tap("Files", "New folder")
    user.type("Trip\n")
    assert (card / "Trip").is_dir()
    user.tap("More options for Trip", "Rename")
    user.type(" one\n")
    assert (card / "Trip one").is_dir()
    user.tap("More options for Trip one", "Delete", "Delete")
    assert not (card / "Trip one").exists()


def test_folder_and_document_are_created_in_the_drive(user: TouchUser, phone: LocalPhone) -> None:
    open_drawer(user)
    user.tap("Drive", "Create new", "Folder")
    user.type("Reports")
    user.tap("Create")
    assert user.sees("Reports Folder")
    user.tap("Reports", "Create new", "Google Docs")
    user.type("Hello.\nBye.")
    user.tap("Navigate up")
    assert rows(phone, "SELECT name, kind, body, parent FROM document ORDER BY _id") == [
        ("Reports", "folder", "", None),
        ("Untitled document", "document", "Hello.\nBye.", 1),
    ]
    user.touch([(540, 2337)])
    open_drawer(user)
    user.tap("Docs", "Untitled document", "Rename")
    user.type("Letter\n")
    assert user.sees("Letter")


def test_web_page_is_read(user: TouchUser) -> None:
    pages = {
        "/": "<title>Harbour</title><h1>Tides</h1><p>High at six.</p><a href='/b'>More</a>",
        "/b": "<title>Second</title><script>x()</script><p>Low at noon.</p>",
    }
    with website(lambda path, _: pages.get(path)) as port:
        user.tap("Browser", "url_bar")
        user.type(f"127.0.0.1:{port}\n")
        assert wait_until(lambda: user.sees("High at six."), timeout_s=30)
        user.tap("Bookmark", "More")
        assert wait_until(lambda: user.sees("Low at noon."), timeout_s=30)
        assert not user.sees("x()")
        user.tap("Home")
        assert user.sees("Harbour")


def test_rewind_reverts_everything(user: TouchUser, phone: LocalPhone, adb: Adb) -> None:
    before = adb.run("shell", "dumpsys", "reference_phone").text
    add_contact(user)
    user.touch([(540, 2337)])
    user.tap("Notes", "New text note")
    user.type("gone")
    user.touch([(540, 2337)])
    user.tap("Camera", "Shutter")
    assert adb.run("shell", "dumpsys", "reference_phone").text != before
    with phone.console() as console:
        console.run("avd snapshot load fresh", timeout_s=30)
    assert adb.run("shell", "dumpsys", "reference_phone").text == before
    assert user.sees("hotseat")
    assert rows(phone, "SELECT * FROM note") == []
    assert not list((phone.root / "data/media/0/DCIM").rglob("*.jpg"))
