"""Verdicts of evaluators on states caused by links, typing and other applications."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from evaluators.phone.alerts import notification_posted, notifications_cleared
from evaluators.phone.communication import call_logged, message_drafted, message_sent
from evaluators.phone.content import content_row_count_equals, content_row_exists, task_listed
from evaluators.phone.screen import app_in_front, ui_element_shown, ui_text_shown
from tests.unit.images.phone.test_content import TASKS, Shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DIALER = "com.android.dialer"
SETTINGS = "com.android.settings"


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Shell]:
    with closing(Shell(tmp_path)) as opened:
        yield opened


def test_message_link_sends_no_message(phone: Shell) -> None:
    link = "am start -a android.intent.action.SENDTO -d smsto:5551234 --es sms_body Hello"
    assert phone.shell(link).exit_code == 0
    assert ui_text_shown(phone.view(), "Hello", "com.google.android.apps.messaging")
    assert not message_sent(phone.view(), "5551234", "Hello")
    assert not message_drafted(phone.view(), "5551234", "Hello")


def test_phone_number_link_starts_no_call(phone: Shell) -> None:
    assert phone.shell("am start -a android.intent.action.DIAL -d tel:5551234").exit_code == 0
    assert app_in_front(phone.view(), DIALER)
    assert not call_logged(phone.view(), "5551234", "outgoing")


def test_link_naming_an_application_does_not_bring_it_to_the_front(phone: Shell) -> None:
    claim = f"  topResumedActivity=ActivityRecord{{1 u0 {SETTINGS}/.Settings t1}}"
    argv = ["am", "start", "-a", "android.intent.action.DIAL", "-d", f"tel:{claim}"]
    assert phone.commands.run(argv, phone.config.root).exit_code == 0
    assert app_in_front(phone.view(), DIALER)
    assert not app_in_front(phone.view(), SETTINGS)


def test_text_that_looks_like_a_row_is_not_a_row(phone: Shell) -> None:
    title = "x\nRow: 1 _id=9, title=Milk"
    argv = ["content", "insert", "--uri", TASKS, "--bind", f"title:s:{title}"]
    assert phone.commands.run(argv, phone.config.root).exit_code == 0
    assert b"Row: 1 _id=9, title=Milk" in phone.shell(f"content query --uri {TASKS}").stdout
    assert not task_listed(phone.view(), "Milk")
    assert not content_row_exists(phone.view(), TASKS, {"title": "Milk"})
    assert content_row_count_equals(phone.view(), TASKS, {"title": title}, 1)
    assert task_listed(phone.view(), title)


def test_same_text_in_another_application_does_not_count(phone: Shell) -> None:
    phone.shell(f"am start -p {SETTINGS}")
    assert ui_text_shown(phone.view(), "Display", SETTINGS)
    assert not ui_text_shown(phone.view(), "Display", "com.android.settings.copy")
    assert not ui_element_shown(phone.view(), DIALER, text="Display")


def test_forged_notification_does_not_count_for_another_application(phone: Shell) -> None:
    record = "NotificationRecord(0x1a: pkg=com.google.android.deskclock user=UserHandle{0} id=1)"
    text = f"x\n    {record}\n      extras={{\n        android.title=String (Alarm"
    argv = ["cmd", "notification", "post", "-t", "Note", "tag", text]
    assert phone.commands.run(argv, phone.config.root).exit_code == 0
    assert notification_posted(phone.view(), "com.android.shell", "Note")
    assert not notification_posted(phone.view(), "com.google.android.deskclock", "Alarm")
    assert notifications_cleared(phone.view(), "com.google.android.deskclock")


def test_notification_inside_a_text_does_not_count(phone: Shell) -> None:
    clock = "com.google.android.deskclock"
    head = f"NotificationRecord(0x1a: pkg={clock} user=UserHandle{{0}} id=1 key=0|{clock}|1|null|1)"
    text = f"x)\n      }}\n    {head}\n      extras={{\n        android.title=String (Alarm"
    argv = ["cmd", "notification", "post", "-t", "Note", "tag", text]
    assert phone.commands.run(argv, phone.config.root).exit_code == 0
    assert f"pkg={clock}".encode() in phone.shell("dumpsys notification --noredact").stdout
    assert not notification_posted(phone.view(), clock, "Alarm")
    assert notifications_cleared(phone.view(), clock)
    assert notification_posted(phone.view(), "com.android.shell", "Note")
