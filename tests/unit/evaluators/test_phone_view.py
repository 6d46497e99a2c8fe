"""What evaluators can read of a phone, parsed from Android's output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.phone.hierarchy import parse_hierarchy
from evaluators.phone.notices import Notification, Toast
from evaluators.phone.records import CALLS, MESSAGES, Call, Message, PhoneFile
from evaluators.phone.view import PhoneView
from evaluators.testing.shell import TableShell
from foundation.errors import EvaluationError
from foundation.process import CommandResult
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

CLOCK = "com.google.android.deskclock"
NOTIFICATIONS = "dumpsys notification --noredact"
NOTIFICATIONS_SAID = """\
Current Notification Manager state:
  Toast Queue:
    TextToastRecord{5a3 812:org.notes/u0a61 isSystemToast=false token=android.os.Binder@1 text=Saved, duration=9 days
and more duration=1}
  Notification List:
    NotificationRecord(0x0a1b: pkg=org.mail user=UserHandle{0} id=7 tag=null importance=3 key=0|org.mail|7|null|10061: Notification(channel=inbox shortcut=null contentView=null))
      uid=10061 userId=0
      extras={
            android.title=String (Lea (work))
            android.subText=null
            android.text=SpannableString (See you
at 9)
            android.showWhen=Boolean (true)
      }
    NotificationRecord(0x0a1c: pkg=org.clock user=UserHandle{0} id=1 tag=null importance=2 key=0|org.clock|1|null|10062)
      extras={
            android.text=String (Alarm set)
      }
  mMaxPackageEnqueueRate=5.0
  Archive:
    NotificationRecord(0x0a1d: pkg=org.gone user=UserHandle{0} id=1 tag=null importance=2 key=x: Notification(channel=a))
"""


@pytest.fixture
def shell() -> TableShell:
    return TableShell()


def see(shell: TableShell) -> PhoneView:
    return PhoneView(shell, timeout_s=10)


# --- the hierarchy ---

ALARMS = (
    '<hierarchy rotation="0"><node class="L" package="c" bounds="[0,0][100,200]" enabled="true">'
    f'<node class="T" resource-id="{CLOCK}:id/digital_clock" text="7:00" package="c" '
    'bounds="[0,0][100,50]"/>'
    '<node class="S" content-desc="Alarm on" package="c" checkable="true" checked="true" '
    'bounds="[0,50][100,90]"><node class="T" text="on" package="other"/></node>'
    "</node></hierarchy>UI hierchary dumped to: /dev/tty\n"
)


def test_nodes_have_position_and_states(shell: TableShell) -> None:
    shell.answers["uiautomator dump /dev/tty"] = ALARMS
    view = see(shell)
    root, clock, switch, label = view.hierarchy()
    assert [node.index for node in view.hierarchy()] == [0, 1, 2, 3]
    assert (clock.bounds, clock.bounds.center) == (Bounds(0, 0, 100, 50), (50, 25))
    assert switch.states == {"checkable", "checked"}
    assert switch.is_checked
    assert view.children(root) == [clock, switch]
    assert view.children(clock) == []
    assert view.siblings(clock) == [clock, switch]
    assert view.siblings(root) == [root]
    assert label.parent == switch.index
    assert label.bounds == Bounds(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("wanted", "indexes"),
    [
        ({"resource_id": "digital_clock"}, [1]),
        ({"resource_id": f"{CLOCK}:id/digital_clock"}, [1]),
        ({"resource_id": "clock"}, []),
        ({"text": "7:00", "package": "c"}, [1]),
        ({"text": "7"}, []),
        ({"text": "", "role": "S"}, [2]),
        ({"description": "Alarm on"}, [2]),
        ({"package": "other"}, [3]),
        ({}, [0, 1, 2, 3]),
    ],
)
def test_nodes_are_found_by_exact_values(
    shell: TableShell, wanted: dict[str, str], indexes: list[int]
) -> None:
    shell.answers["uiautomator dump /dev/tty"] = ALARMS
    assert [node.index for node in see(shell).nodes(**wanted)] == indexes


def test_deep_hierarchy_is_parsed() -> None:
    nodes = parse_hierarchy(f"<hierarchy>{'<node>' * 5000}{'</node>' * 5000}</hierarchy>")
    assert nodes[-1].parent == 4998


# --- notifications and toasts ---


def test_dismissed_notifications_are_excluded(shell: TableShell) -> None:
    shell.answers[NOTIFICATIONS] = NOTIFICATIONS_SAID
    assert see(shell).notifications() == [
        Notification("org.mail", "inbox", "Lea (work)", "See you\nat 9"),
        Notification("org.clock", "", "", "Alarm set"),
    ]


def test_empty_notification_list_is_valid_and_no_output_undecided(shell: TableShell) -> None:
    shell.answers[NOTIFICATIONS] = "Current Notification Manager state:\n  Ranking Config:\n"
    assert see(shell).notifications() == []
    shell.answers[NOTIFICATIONS] = 1
    with pytest.raises(EvaluationError):
        see(shell).notifications()


def test_shown_toast_is_read_on_android(shell: TableShell) -> None:
    shell.answers[NOTIFICATIONS] = NOTIFICATIONS_SAID
    assert see(shell).last_toast() == Toast("org.notes", "Saved, duration=9 days\nand more")
    shell.answers[NOTIFICATIONS] = "  Notification List:\n"
    assert see(shell).last_toast() is None


def test_last_toast_is_read_on_the_reference_phone(shell: TableShell) -> None:
    shell.answers["dumpsys reference_phone toast"] = "package=org.notes\ntext=Note\nsaved\n"
    assert see(shell).last_toast() == Toast("org.notes", "Note\nsaved")
    shell.answers["dumpsys reference_phone toast"] = ""
    assert see(shell).last_toast() is None


# --- rows ---


def test_columns_are_joined_by_id_and_may_hold_anything(shell: TableShell) -> None:
    shell.put("content://x", "a", {1: "one, b=2", 2: "NULL", 3: "late"})
    shell.put("content://x", "b", {2: "x", 1: "Row: 0 _id=9"})
    assert see(shell).rows("content://x", "a", "b") == [
        {"_id": "1", "a": "one, b=2", "b": "Row: 0 _id=9"},
        {"_id": "2", "a": "", "b": "x"},
    ]


def test_message_and_call_types_are_named_as_on_android(shell: TableShell) -> None:
    for column, value in (("address", "+4144"), ("body", "Hi, type=1"), ("type", "2")):
        shell.put(MESSAGES, column, {4: value})
    shell.put(MESSAGES, "date", {4: "1700000000000"})
    shell.put(MESSAGES, "read", {4: "1"})
    message = Message("+4144", "Hi, type=1", "sent", 1_700_000_000_000, is_read=True)
    assert see(shell).messages() == [message]
    for column, value in (("number", "112"), ("type", "3"), ("date", "5"), ("duration", "0")):
        shell.put(CALLS, column, {1: value})
    assert see(shell).calls() == [Call("112", "missed", 5, 0)]
    shell.put(CALLS, "duration", {1: "long"})
    with pytest.raises(EvaluationError, match="duration"):
        see(shell).calls()


@pytest.mark.parametrize(
    ("output", "state"),
    [
        ("last known state:\n  mCallState=0\n", "idle"),
        ("  Phone Id=0\n    mCallState=0\n  Phone Id=1\n    mCallState=2\n", "offhook"),
        ("  mCallState=1\n", "ringing"),
    ],
)
def test_call_on_any_sim_counts(shell: TableShell, output: str, state: str) -> None:
    shell.answers["dumpsys telephony.registry"] = output
    assert see(shell).call_state() == state


def test_unknown_call_state_is_undecided(shell: TableShell) -> None:
    shell.answers["dumpsys telephony.registry"] = "  mCallState=7\n"
    with pytest.raises(EvaluationError):
        see(shell).call_state()


def test_settings_table_is_read_whole(shell: TableShell) -> None:
    shell.answers["settings list secure"] = "a=1\nb=x=y\nc=two\nlines\nempty=\n"
    assert see(shell).settings("secure") == {"a": "1", "b": "x=y", "c": "two\nlines", "empty": ""}


# --- files ---

STAT = "stat -L -c '%s %f %Y' --"


def test_file_bytes_and_text_are_read(shell: TableShell) -> None:
    shell.answers["test -e '/sdcard/a b'"] = ""
    shell.answers[f"{STAT} '/sdcard/a b'"] = "6 81b0 1700000000\n"
    shell.answers["cat -- '/sdcard/a b'"] = "Grüß\n"
    view = see(shell)
    assert view.file_stat("/sdcard/a b") == PhoneFile(6, 0o100660, 1_700_000_000)
    assert view.file("/sdcard/a b") == "Grüß\n".encode()
    assert view.file_text("/sdcard/a b") == "Grüß\n"


def test_missing_file_is_distinguished_from_an_unreadable_one(shell: TableShell) -> None:
    shell.answers["test -e /sdcard/none"] = 1
    assert see(shell).file("/sdcard/none") is None
    assert see(shell).file_stat("/sdcard/none") is None
    shell.answers["test -e /sdcard/locked"] = ""
    shell.answers[f"{STAT} /sdcard/locked"] = "6 8000 1\n"
    with pytest.raises(EvaluationError):
        see(shell).file("/sdcard/locked")


def test_folder_is_not_a_file_and_a_too_large_file_is_undecided(shell: TableShell) -> None:
    shell.answers["test -e /sdcard"] = ""
    shell.answers[f"{STAT} /sdcard"] = "4096 41ff 1\n"
    assert see(shell).file("/sdcard") is None
    shell.answers[f"{STAT} /sdcard"] = f"{1 << 30} 8000 1\n"
    with pytest.raises(EvaluationError, match="too large"):
        see(shell).file("/sdcard")


def test_folder_lists_names_with_any_characters(shell: TableShell) -> None:
    find = "find -H /sdcard -mindepth 1 -maxdepth 1 -print0"
    shell.answers["test -d /sdcard"] = ""
    shell.answers[find] = "/sdcard/b\0/sdcard/a\nb\0"
    assert see(shell).folder("/sdcard") == ["a\nb", "b"]
    shell.answers["test -d /none"] = 1
    assert see(shell).folder("/none") is None


@pytest.mark.parametrize("empty", [1, 2])
def test_dump_without_a_hierarchy_is_repeated_once(empty: int) -> None:
    asked: list[str] = []

    class Changing(TableShell):
        """A phone whose screen is changing during the first dumps."""

        def run(self, argv: Sequence[str], **options: object) -> CommandResult:
            asked.append(argv[0])
            output = (
                "null root node returned by UiTestAutomationBridge."
                if len(asked) <= empty
                else TREE
            )
            return CommandResult(tuple(argv), 0, output.encode(), b"")

    view = PhoneView(Changing(), timeout_s=10)
    if empty == 1:
        assert [node.text for node in view.hierarchy()] == ["x"]
    else:
        with pytest.raises(EvaluationError, match="no hierarchy"):
            view.hierarchy()
    assert len(asked) == 2


TREE = '<hierarchy><node text="x" bounds="[0,0][1,1]"/></hierarchy>UI hierchary dumped to: /dev/tty'
