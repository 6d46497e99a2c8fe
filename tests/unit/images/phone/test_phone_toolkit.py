"""Features of all applications: keyboard, selection, notifications, calls, rotation, intents."""

from __future__ import annotations

import io
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from defusedxml import ElementTree
from PIL import Image

from images.phone.device.apps.directory import (
    BROWSER,
    CAMERA,
    CLOCK,
    CONTACTS,
    DIALER,
    LAUNCHER,
    MAIL,
    MAPS,
    MESSAGES,
    NOTES,
    SETTINGS,
)
from images.phone.device.store.pages import fetch_page, full_url, read_html
from tests.standins.local_phone import center_of
from tests.standins.phone_user import User
from tests.standins.touch_user import keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    with closing(User(tmp_path)) as opened:
        yield opened


def begin_note(user: User, text: str) -> None:
    user.phone.launch(NOTES)
    user.tap("New text note")
    user.phone.type(text)


def has_keyboard(user: User) -> bool:
    return user.phone.compositor.keyboard_shown


class TestKeyboard:
    def test_back_hides_the_keyboard_before_the_screen_closes(self, user: User) -> None:
        begin_note(user, "")
        assert has_keyboard(user)
        for key in ("h", "i"):
            user.phone.tap(*keys_of("letters")[key])
        assert user.sees("hi")
        user.phone.press("BACK")
        assert not has_keyboard(user)
        assert user.sees("hi")
        user.phone.press("BACK")
        assert user.sees("browse_text_note") or user.sees(f"{NOTES}:id/browse_text_note")

    def test_tap_on_the_field_shows_the_keyboard_again(self, user: User) -> None:
        begin_note(user, "")
        user.phone.tap(*keys_of("letters")["Hide keyboard"])
        assert not has_keyboard(user)
        user.tap("edit_note_text")
        assert has_keyboard(user)

    def test_shift_applies_to_one_letter(self, user: User) -> None:
        begin_note(user, "")
        user.phone.tap(*keys_of("letters")["Shift"])
        user.phone.tap(*keys_of("letters", is_upper=True)["A"])
        user.phone.tap(*keys_of("letters")["b"])
        assert user.sees("Ab")

    def test_keyboard_is_in_the_dump_of_all_windows_only(self, user: User) -> None:
        begin_note(user, "")
        assert "Keyboard.Key" not in user.phone.compositor.dump()
        root = ElementTree.fromstring(user.phone.compositor.dump_windows())
        keys = [node for node in root.iter("node") if "Keyboard.Key" in node.get("class", "")]
        assert {node.get("content-desc") for node in keys} >= {"q", "Space", "Enter", "Delete"}
        assert [window.get("active") for window in root.iter("window")] == ["true", "false"]

    def test_keyboard_covers_no_part_of_the_application(self, user: User) -> None:
        begin_note(user, "line\n" * 60)
        keyboard = user.phone.compositor.scene().keyboard
        assert keyboard is not None
        for view in user.phone.compositor.scene().content.children[0].walk():
            assert view.clip.is_empty or view.clip.bottom <= keyboard.box.top

    def test_end_of_a_long_text_is_visible(self, user: User) -> None:
        begin_note(user, "line\n" * 60)
        (field,) = (v for v in user.phone.compositor.scene().window.walk() if v.traits.focused)
        line = field.caret_place(field.inner().width)[0]
        height = field.look.size_px * 1.3
        caret_y = int(field.inner().top + line * height)
        assert field.clip.top <= caret_y
        assert caret_y + height <= field.clip.bottom


class TestSelection:
    def test_text_is_copied_and_pasted_elsewhere(self, user: User) -> None:
        begin_note(user, "forty-two")
        place = center_of(user.phone.compositor.dump(), "edit_note_text")
        user.phone.swipe(place, place, 800)
        user.tap("Select all", "Copy")
        assert user.phone.clipboard == "forty-two"
        user.phone.launch(MAIL)
        user.tap("Compose")
        user.phone.type("a@b.example\n")
        place = center_of(user.phone.compositor.dump(), "subject")
        user.phone.swipe(place, place, 800)
        user.tap("Paste")
        assert user.sees("forty-two")

    def test_typing_replaces_the_selection(self, user: User) -> None:
        begin_note(user, "old")
        place = center_of(user.phone.compositor.dump(), "edit_note_text")
        user.phone.swipe(place, place, 800)
        user.tap("Select all")
        user.phone.type("new")
        assert user.sees("new")
        assert not user.sees("oldnew")


class TestNotifications:
    def test_message_notification_opens_the_message(self, user: User) -> None:
        user.phone.telephony.receive_sms("+41 44 555 01 73", "Where are you?")
        user.phone.swipe((540, 10), (540, 900), 300)
        assert 'package="com.android.systemui"' in user.phone.compositor.dump()
        user.tap("Where are you?")
        assert user.front() == MESSAGES
        assert user.sees("+41 44 555 01 73")
        user.phone.compositor.screenshot()
        user.phone.expand_shade()
        assert user.sees("No notifications")
        rows = user.phone.store.rows("SELECT type, read FROM sms")
        assert rows == [{"type": 1, "read": 1}]

    def test_switches_work_and_back_closes(self, user: User) -> None:
        user.phone.expand_shade()
        user.tap("Dark theme")
        assert user.run("settings", "get", "secure", "ui_night_mode") == "2\n"
        user.phone.press("BACK")
        assert 'package="com.android.systemui"' not in user.phone.compositor.dump()

    def test_single_notification_is_dismissed_and_the_others_cleared(self, user: User) -> None:
        for title in ("One", "Two", "Three"):
            user.phone.notify(CLOCK, title, "text")
        user.phone.expand_shade()
        user.tap("Dismiss Two")
        assert not user.sees("Two")
        assert user.sees("One")
        user.tap("Clear all")
        assert user.phone.store.rows("SELECT * FROM notification") == []


class TestCalls:
    def test_incoming_call_is_accepted(self, user: User) -> None:
        user.phone.telephony.receive_call("123")
        assert (user.phone.telephony.state, user.phone.telephony.number) == ("ringing", "123")
        user.tap("Answer")
        assert user.phone.telephony.state == "offhook"
        user.tap("End call")
        assert user.phone.telephony.state == "idle"
        assert user.phone.store.rows("SELECT number, type FROM call") == [
            {"number": "123", "type": 1}
        ]

    def test_unanswered_call_is_missed(self, user: User) -> None:
        user.phone.telephony.receive_call("123")
        user.phone.telephony.end()
        assert user.phone.store.rows("SELECT type FROM call") == [{"type": 3}]
        user.phone.expand_shade()
        assert user.sees("Missed call")

    def test_declined_call_is_logged_as_declined(self, user: User) -> None:
        user.phone.telephony.receive_call("123")
        user.tap("Decline")
        assert user.phone.store.rows("SELECT type FROM call") == [{"type": 5}]
        assert user.front() == LAUNCHER


class TestRotation:
    def test_picture_and_hierarchy_rotate(self, user: User) -> None:
        user.phone.launch(SETTINGS)
        user.run("settings", "put", "system", "user_rotation", "1")
        with Image.open(io.BytesIO(user.phone.compositor.screenshot())) as image:
            assert image.size == (2400, 1080)
        root = ElementTree.fromstring(user.phone.compositor.dump())
        assert root.get("rotation") == "1"
        assert next(root.iter("node")).get("bounds") == "[0,0][2400,1080]"
        user.phone.tap(1200, 1040)  # HOME
        assert user.front() == LAUNCHER

    def test_picture_rotates_with_the_phone_only_if_allowed(self, user: User) -> None:
        user.phone.rotate()
        assert user.phone.display.rotation == 0
        user.run("settings", "put", "system", "accelerometer_rotation", "1")
        assert user.phone.display.rotation == 1

    def test_too_high_dialog_scrolls_and_keeps_its_buttons(self, user: User) -> None:
        user.run("settings", "put", "system", "user_rotation", "1")
        user.phone.launch(CLOCK)
        user.tap("Alarm", "Add alarm")
        assert user.sees("OK")
        assert not user.sees("55 minutes")
        user.phone.swipe((1200, 700), (1200, 100), 300)
        user.tap("55 minutes", "OK")
        assert user.phone.store.rows("SELECT hour, minutes FROM alarm") == [
            {"hour": 7, "minutes": 55}
        ]


class TestIntents:
    @pytest.mark.parametrize(
        ("action", "uri", "package", "text"),
        [
            ("DIAL", "tel:+41%2044", DIALER, "+41 44"),
            ("SENDTO", "smsto:123?body=Hello", MESSAGES, "Hello"),
            ("SENDTO", "mailto:a@b.example?subject=Hi", MAIL, "a@b.example"),
            ("VIEW", "geo:0,0?q=kyoto", MAPS, "Directions"),
            ("VIEW", "geo:0,0?q=paris fra", MAPS, "Eiffel Tower"),
            ("VIEW", "geo:46.95,7.44", MAPS, "Search here"),
            ("VIEW", "geo:91,7.44", MAPS, "Search here"),
            ("VIEW", "http://site.example/", BROWSER, "http://site.example/"),
        ],
    )
    def test_address_opens_the_application_that_handles_it(
        self, user: User, action: str, uri: str, package: str, text: str
    ) -> None:
        assert user.phone.view(f"android.intent.action.{action}", uri)
        assert user.front() == package
        assert user.sees(text)
        user.phone.press("BACK")
        user.phone.press("BACK")

    def test_unsupported_intents_are_rejected(self, user: User) -> None:
        assert not user.phone.view("android.intent.action.VIEW", "ftp://x")
        assert not user.phone.view("android.intent.action.NOTHING", "tel:1")
        assert user.front() == LAUNCHER

    def test_new_contact_is_prefilled(self, user: User) -> None:
        extras = {"name": "Ines Carvalho", "phone": "123"}
        assert user.phone.view(
            "android.intent.action.INSERT", "content://com.android.contacts/contacts", extras
        )
        assert user.front() == CONTACTS
        assert user.sees("Ines")
        assert user.sees("123")

    def test_camera_opens(self, user: User) -> None:
        assert user.phone.view("android.media.action.STILL_IMAGE_CAMERA", "")
        assert user.front() == CAMERA


class TestPages:
    def test_page_is_reduced_to_readable_text(self) -> None:
        page = read_html(
            "http://a.example/x/",
            "<title>A\n page</title><style>p{}</style><h2>Head</h2><p>One <b>two</b>"
            "<p>Three<ul><li>four</ul><a href='../y'>five</a><script>six()</script>",
        )
        assert page.title == "A page"
        assert [block[:3] for block in page.blocks] == [
            ("h2", "Head", ""),
            ("p", "One two", ""),
            ("p", "Three", ""),
            ("li", "four", ""),
            ("a", "five", "http://a.example/y"),
        ]

    @pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.example/", "data:text/html,x"])
    def test_only_web_addresses_are_fetched(self, url: str) -> None:
        assert fetch_page(url).blocks[1].text == "This address cannot be opened"

    def test_unreachable_server_is_reported(self) -> None:
        assert "can\u2019t be reached" in fetch_page("http://127.0.0.1:9/").blocks[1].text

    @pytest.mark.parametrize(
        ("typed", "url"),
        [
            ("a.example", "http://a.example"),
            ("https://a.example/b", "https://a.example/b"),
            ("localhost:80", "http://localhost:80"),
            ("two words", None),
            ("word", None),
            ("", None),
        ],
    )
    def test_addresses_are_distinguished_from_search_terms(
        self, typed: str, url: str | None
    ) -> None:
        assert full_url(typed) == url
