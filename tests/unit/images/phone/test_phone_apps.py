"""The applications, used only through taps and keys."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from defusedxml import ElementTree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from images.phone.device.apps.catalog import SCREENS
from images.phone.device.apps.directory import (
    APPS,
    BROWSER,
    CALENDAR,
    CAMERA,
    CLOCK,
    CONTACTS,
    DIALER,
    DOCS,
    DRIVE,
    FILES,
    LAUNCHER,
    MAIL,
    MAPS,
    MESSAGES,
    NOTES,
    PHOTOS,
    SETTINGS,
    TASKS,
)
from tests.standins.local_phone import center_of
from tests.standins.phone_user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    with closing(User(tmp_path)) as opened:
        yield opened


def test_drawer_opens_by_a_swipe_and_starts_an_application(user: User) -> None:
    user.phone.swipe((540, 2000), (540, 600), 300)
    assert user.sees("Search apps")
    user.tap("Search apps")
    user.phone.type("sett")
    assert not user.sees("Tasks")
    user.tap("Settings")
    assert user.front() == SETTINGS


def test_task_is_added_edited_ticked_off_and_deleted(user: User) -> None:
    user.tap("Tasks")
    user.tap("Create new task")
    user.phone.type("Buy milk")
    user.tap("Save")
    assert user.sees("Buy milk")
    user.tap("Buy milk")
    user.phone.press("MOVE_END")
    user.tap("edit_title")
    user.phone.type(", eggs")
    user.tap("Navigate up")
    assert user.sees("Buy milk, eggs")
    user.tap("Mark as complete")
    assert not user.sees("Buy milk, eggs")
    user.tap("Completed (1)")
    user.tap("Buy milk, eggs")
    user.tap("Delete task")
    assert "No result" in user.run("content", "query", "--uri", f"content://{TASKS}/tasks")


def test_contact_is_added_changed_found_and_deleted(user: User) -> None:
    user.tap("Contacts")
    user.tap("Create contact")
    for text in ("Ines", "Carvalho", "+41 44 555 01 73"):
        user.phone.type(f"{text}\n")
    user.phone.type("ines@example.org")
    user.phone.press("ENTER")
    assert user.sees("Ines Carvalho")
    assert user.sees("+41 44 555 01 73")
    user.tap("Edit contact")
    user.tap("last_name")
    for _ in "Carvalho":
        user.phone.press("DEL")
    user.phone.type("Castro")
    user.tap("Save")
    user.phone.press("BACK")
    user.tap("open_search_bar")
    user.phone.type("castr")
    user.tap("Ines Castro")
    user.tap("Delete contact")
    user.tap("Delete")
    assert user.sees("No contacts found")


def test_dark_theme_and_device_name_are_set(user: User) -> None:
    light = user.phone.compositor.screenshot()
    user.run("am", "start", "-a", "android.settings.DISPLAY_SETTINGS")
    user.tap("Dark theme")
    assert user.run("settings", "get", "secure", "ui_night_mode") == "2\n"
    user.phone.press("BACK")
    user.run("am", "start", "-p", SETTINGS)
    user.tap("Connected devices")
    user.tap("Device name")
    user.phone.type(" 2")
    user.tap("Rename")
    assert user.run("settings", "get", "secure", "bluetooth_name") == "Reference phone 2\n"
    assert user.sees("Reference phone 2")
    assert user.phone.compositor.screenshot() != light


def test_back_leads_through_the_screens_to_home(user: User) -> None:
    user.tap("Settings")
    user.tap("About phone")
    user.phone.press("BACK")
    assert user.sees("Connected devices")
    user.phone.press("BACK")
    assert user.front() == LAUNCHER
    user.phone.press("BACK")
    assert user.front() == LAUNCHER


def test_home_keeps_the_screen_and_force_stop_does_not(user: User) -> None:
    user.tap("Settings")
    user.tap("Display")
    user.phone.press("HOME")
    user.tap("Settings")
    assert user.sees("Dark theme")
    user.run("am", "force-stop", SETTINGS)
    user.tap("Settings")
    assert not user.sees("Dark theme")


def test_recent_applications_are_reopened(user: User) -> None:
    user.tap("Tasks")
    user.phone.press("APP_SWITCH")
    user.tap("Tasks")
    assert user.front() == TASKS


def test_list_scrolls_and_hierarchy_has_visible_elements_only(user: User) -> None:
    for number in range(40):
        user.run(
            "content",
            "insert",
            "--uri",
            f"content://{TASKS}/tasks",
            "--bind",
            f"title:s:Task {number}.",
        )
    user.tap("Tasks")
    assert user.sees("Task 39.")
    assert not user.sees("Task 0.")
    for _ in range(6):
        user.phone.swipe((540, 2000), (540, 300), 200)
    assert user.sees("Task 0.")
    assert not user.sees("Task 39.")
    for node in ElementTree.fromstring(user.phone.compositor.dump()).iter("node"):
        left, top, right, bottom = (
            int(number)
            for number in node.get("bounds", "").replace("][", ",").strip("[]").split(",")
        )
        assert 0 <= left < right <= 1080
        assert 0 <= top < bottom <= 2400


def test_brightness_follows_the_finger(user: User) -> None:
    user.run("am", "start", "-a", "android.settings.DISPLAY_SETTINGS")
    x, y = center_of(user.phone.compositor.dump(), "Brightness level")
    user.phone.swipe((x, y), (1079, y), 200)
    assert user.run("settings", "get", "system", "screen_brightness") == "255\n"


FILL = (
    ("com.android.contacts/data", "name:s:Ines Carvalho", "phone:s:1", "email:s:a@b.c"),
    (f"{TASKS}/tasks", "title:s:Milk"),
)
# Taps after an application is opened; "<" is BACK, which hides the keyboard.
STEPS = {
    LAUNCHER: ((),),
    DIALER: ((), ("Key pad",), ("Key pad", "five", "Dial")),
    MESSAGES: ((), ("Are you there?",), ("Start chat",)),
    BROWSER: ((),),
    CAMERA: ((), ("Shutter",)),
    MAIL: ((), ("Compose",)),
    CALENDAR: ((), ("Create new event", "<", "start_date"), ("Month",), ("Day",)),
    CLOCK: (
        ("Alarm", "Add alarm"),
        ("Alarm", "Add alarm", "OK"),
        ("Timer",),
        ("Stopwatch",),
        ("Cities",),
    ),
    NOTES: ((), ("New text note",)),
    TASKS: ((), ("Milk",)),
    CONTACTS: ((), ("Ines Carvalho",), ("Ines Carvalho", "Edit contact")),
    MAPS: ((), ("Search here",), ("Directions", "<")),
    FILES: ((), ("DCIM",), ("New folder",)),
    PHOTOS: ((), ("photo_tile",), ("photo_tile", "Details")),
    DRIVE: ((), ("Create new",), ("Create new", "Folder")),
    DOCS: ((), ("New document",)),
}


def test_every_application_is_explored() -> None:
    assert STEPS.keys() | {SETTINGS} == SCREENS.keys() == APPS.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("night", "rotation"), [("no", "0"), ("yes", "0"), ("no", "1")])
def test_every_screen_is_drawn_and_its_texts_do_not_overlap(
    user: User, night: str, rotation: str
) -> None:
    user.run("cmd", "uimode", "night", night)
    for uri, *values in FILL:
        binds = [word for value in values for word in ("--bind", value)]
        user.run("content", "insert", "--uri", f"content://{uri}", *binds)
    user.phone.telephony.receive_sms("1", "Are you there?")
    for activity in SCREENS[SETTINGS]:
        user.phone.open(SETTINGS, activity)
        user.check_screen()
    user.run("settings", "put", "system", "user_rotation", rotation)
    for package, ways in STEPS.items():
        for names in ways:
            user.phone.stop(package)
            user.phone.launch(package)
            for name in names:
                if name == "<":
                    user.phone.press("BACK")
                else:
                    user.tap(name)
            user.check_screen()
    user.phone.expand_shade()
    user.check_screen()


def test_control_characters_are_shown_as_blanks(user: User) -> None:
    user.tap("Notes", "New text note")
    user.phone.type("".join(chr(number) for number in (*range(32), *range(127, 160))))
    user.phone.type("a\u2028b\u2029c\u0085d\x1ee\u202ef")
    user.check_screen()


event = st.one_of(
    st.tuples(st.just("tap"), st.integers(0, 1079), st.integers(0, 2399)),
    st.tuples(
        st.just("key"), st.sampled_from(["BACK", "HOME", "APP_SWITCH", "ENTER", "TAB", "DEL"])
    ),
    st.tuples(st.just("text"), st.text(max_size=20)),
    st.tuples(st.just("swipe"), st.integers(0, 2399), st.integers(0, 2399)),
    st.tuples(st.just("open"), st.sampled_from(sorted(APPS))),
    # Taps at positions of views, which are selected from the hierarchy.
    st.tuples(st.just("view"), st.integers(0, 60)),
    st.tuples(st.just("view"), st.integers(0, 60)),
)


@pytest.mark.slow
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(event, max_size=30))
def test_random_input_does_not_break_the_phone(
    user: User, events: list[tuple[str, int | str, int]]
) -> None:
    for kind, *values in events:
        if kind == "tap":
            user.phone.tap(int(values[0]), int(values[1]))
        elif kind == "key":
            user.phone.press(str(values[0]))
        elif kind == "text":
            user.phone.type(str(values[0]))
        elif kind == "open":
            user.phone.launch(str(values[0]))
        elif kind == "view":
            views = [
                view
                for view in user.phone.compositor.scene().window.walk()
                if view.on_tap is not None
            ]
            box = views[int(values[0]) % len(views)].clip if views else None
            if box is not None and not box.is_empty:
                user.phone.tap((box.left + box.right) // 2, (box.top + box.bottom) // 2)
        else:
            user.phone.swipe((540, int(values[0])), (540, int(values[1])), 100)
        ElementTree.fromstring(user.phone.compositor.dump())
    user.phone.compositor.screenshot()
    user.phone.press("HOME")
    assert user.front() == LAUNCHER
