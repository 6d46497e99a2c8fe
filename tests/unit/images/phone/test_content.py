from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from evaluators.phone.content import contact_exists, task_completed, task_listed
from evaluators.phone.screen import app_in_front, ui_text_shown
from evaluators.phone.view import PhoneView
from foundation.process import CommandResult
from images.phone.device.commands.catalog import Commands
from images.phone.device.config import DeviceConfig
from images.phone.device.phone import Phone
from images.phone.device.shell.command_line import split_plain
from images.phone.device.store.database import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from images.phone.device.commands.base import Result

TASKS = "content://com.google.android.apps.tasks/tasks"
DATA = "content://com.android.contacts/data"


class Shell:
    """The phone's commands as used by evaluators, without ADB."""

    def __init__(self, folder: Path) -> None:
        self.config = DeviceConfig(folder, folder / "state", folder / "bin")
        self.config.make_folders()
        self._store = Store(self.config.database)
        self.commands = Commands(Phone(self._store), self.config)

    def close(self) -> None:
        self._store.close()

    def shell(self, command: str, timeout_s: float = 10.0) -> Result:
        argv = split_plain(command)
        assert argv is not None
        return self.commands.run(argv, self.config.root)

    def view(self) -> PhoneView:
        return PhoneView(self, timeout_s=10)

    def run(self, argv: Sequence[str], **_: object) -> CommandResult:
        done = self.commands.run(list(argv), self.config.root)
        return CommandResult(tuple(argv), done.exit_code, done.stdout, done.stderr)


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Shell]:
    with closing(Shell(tmp_path)) as opened:
        yield opened


def test_evaluators_read_tasks(phone: Shell) -> None:
    odd = "Milk, eggs = 2: 'x'"
    result = phone.commands.run(
        ["content", "insert", "--uri", TASKS, "--bind", f"title:s:{odd}"], phone.config.root
    )
    assert result.exit_code == 0
    phone.shell(f"content insert --uri {TASKS} --bind title:s:Done --bind completed:i:1")
    assert task_completed(phone.view(), "Done")
    assert not task_listed(phone.view(), "Done")
    phone.shell(f"content update --uri {TASKS} --bind completed:b:false --where \"title='Done'\"")
    assert task_listed(phone.view(), "Done")
    phone.shell(f"content delete --uri {TASKS}/2")
    assert not task_completed(phone.view(), "Done")


def test_evaluators_read_contacts_added_either_way(phone: Shell) -> None:
    phone.shell(f"content insert --uri {DATA} --bind 'name:s:Ines C' --bind phone:s:044-555")
    raw = "content://com.android.contacts/raw_contacts"
    phone.shell(f"content insert --uri {raw} --bind account_type:s:local")
    for kind, value in (
        ("vnd.android.cursor.item/name", "Olaf Berg"),
        ("vnd.android.cursor.item/email_v2", "olaf@example.org"),
    ):
        binds = f"--bind raw_contact_id:i:2 --bind mimetype:s:{kind} --bind 'data1:s:{value}'"
        assert phone.shell(f"content insert --uri {DATA} {binds}").exit_code == 0
    assert contact_exists(phone.view(), "Ines C", number="044 555")
    assert contact_exists(phone.view(), "Olaf Berg", email="Olaf@Example.org")
    assert not contact_exists(phone.view(), "Olaf Berg", number="044 555")


def test_evaluators_see_the_screen(phone: Shell) -> None:
    phone.shell("am start -p com.android.settings")
    assert app_in_front(phone.view(), "com.android.settings")
    assert ui_text_shown(phone.view(), "Display", "com.android.settings", "android:id/title")


@pytest.mark.parametrize(
    "command",
    [
        "content query --uri content://no.such/rows",
        f"content query --uri {TASKS} --projection nothing",
        f"content query --uri {TASKS} --where 1=1;",
        f"content insert --uri {TASKS} --bind title",
        f"content insert --uri {TASKS} --bind title:s:",
        f"content insert --uri {DATA} --bind raw_contact_id:i:99 --bind mimetype:s:vnd.android.cursor.item/phone_v2 --bind data1:s:1",
        "settings get nowhere x",
        "settings put system",
        "setprop ro.serialno x",
        "input tap 1",
        "input tap x y",
        "input keyevent KEYCODE_NOTHING",
        "pm nothing",
        "wm size 100x100",
        "dumpsys nothing",
        "uiautomator dump /no/such/folder/x",
        "am start -n com.android.settings/.Nothing",
        "monkey -p no.such -c android.intent.category.LAUNCHER 1",
        "monkey",
    ],
)
def test_errors_have_a_message_and_exit_code(phone: Shell, command: str) -> None:
    argv = split_plain(command) or command.split()
    result = phone.commands.run(argv, phone.config.root)
    assert result.exit_code != 0
    assert result.stderr.strip()


def test_settings_are_rows_too(phone: Shell) -> None:
    uri = "content://settings/secure"
    phone.shell(f"content insert --uri {uri} --bind name:s:a --bind value:s:1")
    phone.shell(f"content insert --uri {uri} --bind name:s:b --bind value:s:2")
    assert phone.view().setting("secure", "a") == "1"
    phone.shell(f"content update --uri {uri} --bind value:s:3 --where \"name='a'\"")
    result = phone.shell(f"content query --uri {uri} --projection value --where \"name='a'\"")
    assert result.stdout == b"Row: 0 value=3\n"
    phone.shell(f"content delete --uri {uri} --where \"name='a' OR name='b'\"")
    assert phone.view().setting("secure", "a") is None
    assert phone.view().setting("secure", "b") is None
    assert phone.view().setting("secure", "bluetooth_name")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "state").mkdir()
    with closing(Store(tmp_path / "state/phone.db")) as opened:
        yield opened


def test_files_are_added_renamed_and_deleted(tmp_path: Path, store: Store) -> None:
    config = DeviceConfig(tmp_path, tmp_path / "state", tmp_path / "bin")
    config.make_folders()
    commands = Commands(Phone(store, tmp_path), config)
    card = config.resolve("/sdcard")

    def run(*args: str) -> Result:
        uri = ("--uri", "content://media/external/file")
        return commands.run(["content", args[0], *uri, *args[1:]], config.root)

    assert run("insert", "--bind", "_data:s:/sdcard/none.txt").exit_code == 1
    assert run("insert", "--bind", "_data:s:/sdcard/../phone.db").exit_code == 1
    assert run("insert", "--bind", "_display_name:s:a.txt").exit_code == 0
    assert (card / "Pictures/a.txt").is_file()
    assert run("insert", "--bind", "_data:s:/sdcard/Pictures/a.txt").exit_code == 0
    where = ("--where", "_display_name='a.txt'")
    assert run("update", "--bind", "_display_name:s:../b.txt", *where).exit_code == 1
    assert run("update", "--bind", "_display_name:s:b.txt", *where).exit_code == 0
    assert [path.name for path in (card / "Pictures").iterdir()] == ["b.txt"]
    assert run("delete", "--where", "_display_name='b.txt'").exit_code == 0
    assert list((card / "Pictures").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--uri content://sms more", "Unsupported argument: more"),
        ("--uri", "Option --uri needs a value"),
        ("--uri content://settings/nope", "Unknown URI"),
    ],
)
def test_wrong_options_are_reported(phone: Shell, options: str, message: str) -> None:
    assert message in phone.shell(f"content query {options}").stderr.decode()
