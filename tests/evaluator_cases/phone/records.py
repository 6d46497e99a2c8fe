"""Cases of the evaluators of a phone's files, notifications, messages and calls."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from evaluators.phone import alerts, communication, storage
from evaluators.testing.case import (
    CaseKind,
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.phone import PhoneFixture
from tests.evaluator_cases.phone.content import all_of, none_in, rows, unreadable
from tests.evaluator_cases.phone.screen import answers
from tests.evaluator_cases.phone_ways import CYRILLIC_A, MARKED, row_within, ways

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json

PATH = "/sdcard/Download/a.txt"
_FOLDER = "/sdcard/Download"
_NOTES = "dumpsys notification --noredact"
_KEYS = "cmd notification list"
_KEPT = "dumpsys reference_phone toast"
_PACKAGES = "pm list packages"
_STATE = "dumpsys telephony.registry"


def put(path: str, content: str | None, mode: int = 0o100644) -> State:
    """Put a file at a path, or make the path missing."""

    def act(fixture: PhoneFixture) -> None:
        quoted = shlex.quote(path)
        test = fixture.shell.answers
        test[f"test -e {quoted}"] = 1 if content is None else ""
        if content is not None:
            size = len(content.encode())
            test[f"stat -L -c '%s %f %Y' -- {quoted}"] = f"{size} {mode:x} 1700000000\n"
            test[f"cat -- {quoted}"] = content

    return act


def folder(path: str, *names: str, is_there: bool = True) -> State:
    """Create a folder with entries."""

    def act(fixture: PhoneFixture) -> None:
        put(path, "" if is_there else None, 0o40755)(fixture)
        test = fixture.shell.answers
        test[f"test -d {shlex.quote(path)}"] = "" if is_there else 1
        listed = "".join(f"{path}/{name}\0" for name in names)
        test[f"find -H {shlex.quote(path)} -mindepth 1 -maxdepth 1 -print0"] = listed

    return act


def note(package: str, title: str, text: str = "") -> str:
    """Return a notification as the phone's service prints it."""
    return (
        f"    NotificationRecord(0x0a1b2c3d: pkg={package} user=UserHandle{{0}} id=1 tag=null "
        f"importance=3 key=0|{package}|1|null|10001: Notification(channel=c ...))\n      extras={{\n"
        f"        android.title=String ({title})\n        android.text=String ({text})\n      }}\n"
    )


def notes(*records: str, more: str = "", keys: tuple[str, ...] | None = None) -> State:
    """Create notifications, with the application org.a installed.

    Args:
        records: records as printed by the service.
        more: output of the service after the records.
        keys: packages of the notifications in the listed keys; None for an older phone.
    """

    def act(fixture: PhoneFixture) -> None:
        if keys is not None:
            listed = "".join(f"0|{package}|1|null|10001\n" for package in keys)
            fixture.shell.answers[_KEYS] = listed
        output = f"Current Notification Manager state:\n  Notification List:\n{''.join(records)}  \n{more}"
        fixture.shell.answers[_NOTES] = output
        fixture.shell.answers[_PACKAGES] = "package:org.a\npackage:org.b\n"

    return act


def toast(package: str, text: str) -> State:
    """Show a toast, on the reference phone."""
    return answers(_KEPT, f"package={package}\ntext={text}\n")


def messages(*records: tuple[str, str, int | str, str]) -> State:
    """Create messages: address, body, box by Android's number, and ``1`` when read."""
    return rows(
        "content://sms",
        *(
            {"address": address, "body": body, "type": str(box), "date": "17", "read": read}
            for address, body, box, read in records
        ),
    )


def calls(*records: tuple[str, int, int]) -> State:
    """Create calls: number, type by Android's number, seconds."""
    return rows(
        "content://call_log/calls",
        *(
            {"number": number, "type": str(kind), "date": "17", "duration": str(seconds)}
            for number, kind, seconds in records
        ),
    )


def _files(**args: Json) -> tuple[Case, ...]:
    return (
        missing("no reply", nothing, **args).expect_error(),
        corrupt(
            "reply without numbers",
            all_of(put(PATH, "Hi"), answers(f"stat -L -c '%s %f %Y' -- {PATH}", "?")),
            **args,
        ).expect_error(),
        hostile(
            "file name with quotes",
            put("/sdcard/$(x) 'a", "Hi"),
            **{**args, "path": "/sdcard/$(x) 'b"},
        ).expect_error(),
    )


_PATH: dict[str, Any] = {"path": PATH}
_HI: dict[str, Any] = {"path": PATH, "text": "Hi"}
_LIST: dict[str, Any] = {"path": _FOLDER, "names": ["a.txt", "b"]}
_FULL_NOTE = notes(note("org.a", "Alarm", " 07:00 "))
_NOTE: dict[str, Any] = {"package": "org.a", "title": "Alarm"}
_TOAST: dict[str, Any] = {"text": "Saved"}
_QUEUE = (
    "state\n  Toast Queue:\n    TextToastRecord{1a2b3c 123:org.a/10001 isSystemToast=false "
    "token=t text=Saved duration=0}\n  \n"
)
_SENT: dict[str, Any] = {"number": "+41 44 555", "text": "On my way"}
_OK = ("+4144555", "On my way", 2, "1")
_IN = ("+4144555", "On my way", 1, "1")
_UNREAD = ("+4144555", "On my way", 1, "0")
_DRAFT = ("+4144555", "On my way", 3, "1")
_CALL: dict[str, Any] = {"number": "555 0199", "kind": "outgoing"}
_RING: dict[str, Any] = {"state": "ringing"}
_DATES: dict[str, Any] = {
    "*_id:date*": "times are ignored",
    "*content query*: prints other": "only the letter case of names changes",
}
_SMS_COLUMNS = ("address", "body", "type", "date", "read")


def _of_messages(**args: Json) -> tuple[Case, ...]:
    return (
        empty("no messages", none_in("content://sms", *_SMS_COLUMNS), **args),
        *unreadable("content://sms", "address", **args),
    )


def _texts(args: dict[str, Any], box: int) -> tuple[Case, ...]:
    """Return cases of a text in a box."""

    def text(address: str, body: str = "On my way") -> State:
        return messages(("1", "x", box, "1"), (address, body, box, "1"))

    forgeries = {
        "sender name that contains the number": text("Bank +4144555"),
        "row within the text of a different message": text(
            "+4144555", row_within("body", "On my way", "y")
        ),
        "letter from a different script": text("+4144555", "On my w\u0430y"),
        "number followed by letters": text("+4144555x"),
    }
    honest = {
        "00 instead of the plus sign": text("0041 44 555"),
        "number with direction marks": text(MARKED),
        "CRLF line ends": text("+4144555", "On my way\r\n"),
        "next to a text that looks like a row": messages(
            ("1", row_within("body", "x"), box, "1"), ("+4144555", "On my way", box, "1")
        ),
    }
    return ways(args, forgeries, honest)


def _of_notes(**args: Json) -> tuple[Case, ...]:
    return (
        missing("no reply", nothing, **args).expect_error(),
        missing("command fails", all_of(notes(), answers(_NOTES, 1)), **args).expect_error(),
        hostile(
            "title that looks like a record",
            notes(note("org.b", "x)\n    NotificationRecord(pkg=org.a title=Alarm")),
            **args,
        ),
    )


TABLES = (
    CaseTable(
        storage.phone_file_exists,
        PhoneFixture,
        (
            positive("file", put(PATH, "Hi"), **_PATH),
            positive("empty file", put(PATH, ""), **_PATH),
            negative("no file", put(PATH, None), **_PATH),
            near_miss("folder instead of a file", put(PATH, "", 0o40755), **_PATH),
            empty("empty folder", all_of(folder(_FOLDER), put(PATH, None)), **_PATH),
            *ways(
                _PATH,
                {
                    "download in progress": all_of(
                        put(PATH, None), put(f"{_FOLDER}/.pending-1-a.txt", "Hi")
                    ),
                    "in the trash": all_of(
                        put(PATH, None), put(f"{_FOLDER}/.trashed-1-a.txt", "Hi")
                    ),
                    "folder with the name": put(PATH, "", 0o42775),
                },
                {
                    "read-only file": put(PATH, "Hi", 0o100444),
                    "private file": put(PATH, "Hi", 0o100600),
                },
            ),
            *_files(**_PATH),
        ),
        equivalent={
            "*stat -L*: prints less": "only the time is truncated",
            "*cat -- *": "the content is ignored",
            "*prints other": "only the letter case of numbers changes",
        },
    ),
    CaseTable(
        storage.phone_path_absent,
        PhoneFixture,
        (
            forged(
                "another name that looks the same",
                all_of(folder(_FOLDER, "a\u200b.txt"), put(PATH, None)),
                **_PATH,
            ),
            positive("file removed", all_of(folder(_FOLDER), put(PATH, None)), **_PATH),
            negative("file present", all_of(folder(_FOLDER), put(PATH, "Hi")), **_PATH),
            near_miss("empty file", all_of(folder(_FOLDER), put(PATH, "")), **_PATH),
            near_miss(
                "folder at the path", all_of(folder(_FOLDER), put(PATH, "", 0o40755)), **_PATH
            ),
            near_miss(
                "folder is also missing", all_of(put(_FOLDER, None), put(PATH, None)), **_PATH
            ),
            near_miss(
                "file instead of the folder", all_of(put(_FOLDER, ""), put(PATH, None)), **_PATH
            ),
            empty(
                "empty file in the folder",
                all_of(folder(_FOLDER, "a.txt"), put(PATH, "")),
                **_PATH,
            ),
            positive("in the root folder", all_of(folder("/"), put("/a", None)), path="/a"),
            *ways(
                _PATH,
                {
                    "folder is a dangling link": all_of(put(_FOLDER, None), put(PATH, None)),
                    "folder replaced by a file": all_of(put(_FOLDER, "x"), put(PATH, None)),
                    "content removed, file not deleted": all_of(
                        folder(_FOLDER, "a.txt"), put(PATH, "\n")
                    ),
                },
                {
                    "in the trash": all_of(
                        folder(_FOLDER, ".trashed-1-a.txt"),
                        put(PATH, None),
                        put(f"{_FOLDER}/.trashed-1-a.txt", "Hi"),
                    ),
                    "renamed": all_of(
                        folder(_FOLDER, "b.txt"), put(PATH, None), put(f"{_FOLDER}/b.txt", "Hi")
                    ),
                },
            ),
            *_files(**_PATH),
        ),
        equivalent={
            "*stat -L*: prints less": "only the time is truncated",
            "*cat -- *": "the content is ignored",
            "*find*": "entries are ignored",
            "*test -d*": "the evaluator does not run this command",
            "*prints other": "only the letter case of numbers changes",
            "*test -e /sdcard/Download: prints nothing": "the command prints nothing",
            "*test -e*: fails": "a missing file looks the same",
        },
    ),
    CaseTable(
        storage.phone_file_text_equals,
        PhoneFixture,
        (
            positive("exactly the text", put(PATH, "Hi\n"), **_HI),
            positive(
                "expected text has a trailing newline", put(PATH, "Hi"), **{**_HI, "text": "Hi\n"}
            ),
            positive("empty file and empty expected text", put(PATH, ""), **{**_HI, "text": ""}),
            negative("different text", put(PATH, "No"), **_HI),
            near_miss("two trailing newlines", put(PATH, "Hi\n\n"), **_HI),
            near_miss("different letter case", put(PATH, "hi"), **_HI),
            near_miss("additional text", put(PATH, "Hi there"), **_HI),
            near_miss("no file", put(PATH, None), **{**_HI, "text": ""}),
            near_miss("folder instead of a file", put(PATH, "Hi", 0o40755), **_HI),
            empty("empty file", put(PATH, ""), **_HI),
            *ways(
                _HI,
                {
                    "letter from a different script": put(PATH, "H\u0456"),
                    "invisible character": put(PATH, "H\u200bi"),
                    "two byte order marks": put(PATH, "\ufeff\ufeffHi"),
                },
                {
                    "with a byte order mark": put(PATH, "\ufeffHi\n"),
                    "with CRLF": put(PATH, "Hi\r\n"),
                },
            ),
            *_files(**_HI),
            hostile(
                "over the size limit",
                all_of(
                    put(PATH, "Hi"), answers(f"stat -L -c '%s %f %Y' -- {PATH}", "99999999 81a4 1")
                ),
                **_HI,
            ).expect_error(),
        ),
        equivalent={
            "*stat -L*: prints less": "only the time is truncated",
            "*stat*: prints other": "only the letter case of numbers changes",
            "expected text has a trailing newline: args.text: cut": "one trailing newline is ignored",
            "empty file and empty expected text: cat*: prints*": "the file is empty",
            "*stat*: prints less": "the size is not compared",
        },
    ),
    CaseTable(
        storage.phone_folder_lists,
        PhoneFixture,
        (
            forged(
                "two names that look the same",
                folder(_FOLDER, "a.txt", "a.txt\u200b"),
                **{**_LIST, "names": ["a.txt", "a.txt"]},
            ),
            another_way(
                "name with an invisible character", folder(_FOLDER, "a.txt\u200b", "b"), **_LIST
            ),
            positive("both files", folder(_FOLDER, "b", "a.txt", ".hidden"), **_LIST),
            positive(
                "in any order", folder(_FOLDER, "a.txt", "b"), **{**_LIST, "names": ["b", "a.txt"]}
            ),
            positive(
                "empty folder and empty expected names", folder(_FOLDER), **{**_LIST, "names": []}
            ),
            negative("different files", folder(_FOLDER, "x"), **_LIST),
            near_miss("one additional file", folder(_FOLDER, "a.txt", "b", "c"), **_LIST),
            near_miss("one missing file", folder(_FOLDER, "a.txt"), **_LIST),
            near_miss("no folder", folder(_FOLDER, is_there=False), **{**_LIST, "names": []}),
            empty("empty folder", folder(_FOLDER), **_LIST),
            missing("no reply", nothing, **_LIST).expect_error(),
            corrupt(
                "find fails",
                all_of(
                    folder(_FOLDER),
                    answers(f"find -H {_FOLDER} -mindepth 1 -maxdepth 1 -print0", 1),
                ),
                **_LIST,
            ).expect_error(),
            *ways(
                _LIST,
                {
                    "letter from a different script": folder(_FOLDER, f"{CYRILLIC_A}.txt", "b"),
                    "trailing space": folder(_FOLDER, "a.txt ", "b"),
                    "only hidden files": folder(_FOLDER, ".a.txt", ".b"),
                    "one download in progress": folder(_FOLDER, ".pending-1-a.txt", "b"),
                },
                {
                    "next to thumbnails": folder(_FOLDER, ".thumbnails", "a.txt", "b"),
                    "next to a file in the trash": folder(_FOLDER, ".trashed-1-c", "b", "a.txt"),
                },
            ),
            *ways(
                {"path": _FOLDER, "names": ["caf\u00e9", "cafz"]},
                {},
                {"decomposed Unicode characters": folder(_FOLDER, "cafz", "cafe\u0301")},
            ),
            hostile("newline in a file name", folder(_FOLDER, "a.txt\nb"), **_LIST),
        ),
        equivalent={
            "*test -e*": "the evaluator does not run this command",
            "*stat*": "the evaluator does not run this command",
            "*cat*": "the evaluator does not run this command",
            "*test -d*: prints*": "the output is ignored",
            "empty folder and empty expected names: find*: prints*": "the command prints nothing",
        },
    ),
    CaseTable(
        alerts.notification_posted,
        PhoneFixture,
        (
            positive("posted", notes(note("org.b", "x"), note("org.a", " Alarm ")), **_NOTE),
            positive(
                "matching text", notes(note("org.a", "Alarm", "07:00")), **_NOTE, text=" 07:00"
            ),
            positive(
                "surrounding spaces in the expected text",
                _FULL_NOTE,
                **{**_NOTE, "title": " Alarm"},
            ),
            positive("any text", _FULL_NOTE, **_NOTE),
            positive(
                "with its key",
                notes(note("org.b", "x"), note("org.a", "Alarm"), keys=("org.b", "org.a")),
                **_NOTE,
            ),
            near_miss(
                "removed together with its key",
                notes(note("org.b", "x"), keys=("org.b",)),
                **_NOTE,
            ),
            positive("surrounding spaces in the text", _FULL_NOTE, **_NOTE, text="07:00"),
            negative("different title", notes(note("org.a", "Mail")), **_NOTE),
            near_miss("of a different application", notes(note("org.b", "Alarm")), **_NOTE),
            near_miss("longer title", notes(note("org.a", "Alarms")), **_NOTE),
            near_miss("title in the text", notes(note("org.a", "x", "Alarm")), **_NOTE),
            near_miss(
                "different text", notes(note("org.a", "Alarm", "08:00")), **_NOTE, text="07:00"
            ),
            near_miss(
                "text of a different notification",
                notes(note("org.a", "Alarm", "x"), note("org.a", "y", "07:00")),
                **_NOTE,
                text="07:00",
            ),
            near_miss(
                "dismissed notification",
                notes(more="  mArchive=Archive (1 notification)\n" + note("org.a", "Alarm")),
                **_NOTE,
            ),
            near_miss(
                "text within the title",
                notes(note("org.a", "Alarm\n        android.text=String (07:00", "08:00")),
                package="org.a",
                title="Alarm\n        android.text=String (07:00",
                text="07:00",
            ),
            empty("no notifications", notes(), **_NOTE),
            corrupt(
                "record without extras",
                notes(note("org.a", "Alarm").partition("extras")[0]),
                **_NOTE,
            ),
            *ways(
                _NOTE,
                {
                    "record within the text of a different notification": notes(
                        note("org.b", "x", f"y\n{note('org.a', 'Alarm')}").replace(
                            ")\n      }", "", 1
                        )
                    ),
                    "record within the text of a different notification, with closed brackets": notes(
                        note("org.b", "x", f"y)\n      }}\n{note('org.a', 'Alarm')}"),
                        keys=("org.b",),
                    ),
                    "second record within the text of a different notification": notes(
                        note("org.b", "x", f"y)\n      }}\n{note('org.a', 'Alarm')}"),
                        note("org.a", "Mail"),
                        keys=("org.b", "org.a"),
                    ),
                    "different application with a similar name": notes(note("org.a.copy", "Alarm")),
                    "line in the text of a different notification": notes(
                        note("org.b", "x", "y\n        android.title=String (Alarm")
                    ),
                    "letter from a different script": notes(note("org.a", f"Al{CYRILLIC_A}rm")),
                },
                {
                    "after a notification with two lines": notes(
                        note("org.b", "x", "a\nb"), note("org.a", "Alarm")
                    ),
                    "after a notification with brackets": notes(
                        note("org.b", "x)", "(y"), note("org.a", "Alarm")
                    ),
                    "after a text that looks like a section": notes(
                        note("org.b", "x", "y\n  mZen=1\n  Archive:\nz"), note("org.a", "Alarm")
                    ),
                    "in bold": notes(
                        note("org.a", "Alarm").replace("title=String", "title=SpannableString")
                    ),
                },
            ),
            *_of_notes(**_NOTE),
        ),
        equivalent={
            "*: args.text: empty": "any text",
            "*pm list*": "the evaluator does not run this command",
            f"*{_KEYS}: fails": "older phones do not list keys",
        },
    ),
    CaseTable(
        alerts.notifications_cleared,
        PhoneFixture,
        (
            positive("no notifications", notes(), package="org.a"),
            positive(
                "only notifications of a different application",
                notes(note("org.b", "x")),
                package="org.a",
            ),
            negative("one notification left", notes(note("org.a", "x")), package="org.a"),
            near_miss(
                "one of two notifications left",
                notes(note("org.b", "x"), note("org.a", "y")),
                package="org.a",
            ),
            near_miss("application not installed", notes(), package="org.c"),
            empty("notification without a title", notes(note("org.a", "")), package="org.a"),
            missing("no reply", nothing, package="org.a").expect_error(),
            missing(
                "package list fails", all_of(notes(), answers(_PACKAGES, 1)), package="org.a"
            ).expect_error(),
            corrupt(
                "record without extras",
                notes(note("org.a", "x").partition("extras")[0] + "\n"),
                package="org.a",
            ),
            *ways(
                {"package": "org.a"},
                {
                    "after a text that looks like a section": notes(
                        note("org.b", "x", "y\n  mZen=1\n  Archive:\nz"), note("org.a", "x")
                    ),
                    "after a text with two lines": notes(
                        note("org.b", "x", "a\nb"), note("org.a", "y")
                    ),
                    "notification without title and text": notes(note("org.a", "", "")),
                    "after a list end within the text of a different notification": notes(
                        note("org.b", "x", "y)\n      }\n  Archive:\n"),
                        note("org.a", "x"),
                        keys=("org.b", "org.a"),
                    ),
                },
                {
                    "dismissed notification": notes(
                        more="  mArchive=Archive (1 notification)\n" + note("org.a", "x")
                    ),
                    "named in the text of a different notification": notes(
                        note("org.b", "pkg=org.a", "org.a")
                    ),
                    "record in the text of a different notification, without a key": notes(
                        note("org.b", "x", f"y)\n      }}\n{note('org.a', 'Alarm')}"),
                        keys=("org.b",),
                    ),
                },
            ),
            hostile("very long title", notes(note("org.a", "x" * 9999)), package="org.a"),
        ),
        equivalent={
            "*dumpsys notification*: prints*": "nothing in the output is of that application either",
            f"*{_KEYS}: prints*": "nothing in the output is of that application either",
        },
    ),
    CaseTable(
        alerts.toast_shown,
        PhoneFixture,
        (
            positive("toast recorded", toast("org.a", "Saved"), **_TOAST),
            positive("matching application", toast("org.a", " Saved"), **_TOAST, package="org.a"),
            positive(
                "on a phone that does not record toasts",
                all_of(answers(_KEPT, 1), answers(_NOTES, _QUEUE)),
                **_TOAST,
            ),
            positive(
                "surrounding spaces in the expected text", toast("org.a", "Saved"), text=" Saved "
            ),
            positive(
                "on a phone without the recording service",
                all_of(
                    answers(_KEPT, "Can't find service: reference_phone\n"), answers(_NOTES, _QUEUE)
                ),
                **_TOAST,
            ),
            negative("different text", toast("org.a", "Gone"), **_TOAST),
            near_miss("longer text", toast("org.a", "Saved it"), **_TOAST),
            near_miss("different letter case", toast("org.a", "saved"), **_TOAST),
            near_miss(
                "of a different application", toast("org.b", "Saved"), **_TOAST, package="org.a"
            ),
            near_miss("empty expected text", toast("org.a", ""), text=""),
            empty("no toasts", answers(_KEPT, ""), **_TOAST),
            missing("no reply", nothing, **_TOAST).expect_error(),
            corrupt("truncated record", answers(_KEPT, "text=Saved\n"), **_TOAST),
            *ways(
                {**_TOAST, "package": "org.a"},
                {
                    "toast of a different application": toast("org.evil", "Saved"),
                    "different application with a similar name": toast("org.a.copy", "Saved"),
                    "toast within the text of a different record": answers(
                        _KEPT, "package=org.b\ntext=x\npackage=org.a\ntext=Saved\n"
                    ),
                    "after a different toast in the queue": all_of(
                        answers(_KEPT, 1),
                        answers(_NOTES, _QUEUE.replace(":org.a/", ":org.b/") + _QUEUE),
                    ),
                },
                {
                    "in the queue": all_of(answers(_KEPT, 1), answers(_NOTES, _QUEUE)),
                    "trailing newline": toast("org.a", "Saved\n"),
                },
            ),
            hostile(
                "toast within the text of a different toast",
                toast("org.b", "x\npackage=org.a\ntext=Saved"),
                **_TOAST,
            ),
        ),
        equivalent={
            "*: args.package: empty": "any application",
            "toast recorded: dumpsys reference_phone toast: prints other": "the change is not possible",
        },
    ),
    CaseTable(
        communication.message_sent,
        PhoneFixture,
        (
            positive("message sent", messages(("1", "x", 2, "1"), _OK), **_SENT),
            positive(
                "surrounding white space",
                messages(("+41 (44) 555", " On my way\n", 2, "0")),
                **_SENT,
            ),
            negative("different message", messages(("1", "x", 2, "1")), **_SENT),
            near_miss("draft", messages(_DRAFT), **_SENT),
            near_miss("received message", messages(_IN), **_SENT),
            near_miss("sending failed", messages(("+4144555", "On my way", 5, "1")), **_SENT),
            near_miss(
                "to a different number", messages(("+4144556", "On my way", 2, "1")), **_SENT
            ),
            near_miss(
                "number without the plus sign", messages(("4144555", "On my way", 2, "1")), **_SENT
            ),
            near_miss("longer text", messages(("+4144555", "On my way now", 2, "1")), **_SENT),
            near_miss(
                "text and number of two different messages",
                messages(("+4144555", "x", 2, "1"), ("1", "On my way", 2, "1")),
                **_SENT,
            ),
            near_miss(
                "empty expected text", messages(("+4144555", "", 2, "1")), **{**_SENT, "text": ""}
            ),
            *_texts(_SENT, 2),
            *_of_messages(**_SENT),
        ),
        equivalent=_DATES | {"*_id:read*": "the read status is ignored"},
    ),
    CaseTable(
        communication.message_received,
        PhoneFixture,
        (
            positive("message read", messages(_IN), **_SENT, state="read"),
            positive("surrounding white space", messages(_IN), **{**_SENT, "text": " On my way\n"}),
            near_miss(
                "message without a box", messages(("+4144555", "On my way", "", "1")), **_SENT
            ),
            corrupt(
                "message with an invalid box",
                messages(("+4144555", "On my way", "x", "1")),
                **_SENT,
            ).expect_error(),
            positive("message unread", messages(_UNREAD), **_SENT, state="unread"),
            positive("read or unread", messages(_UNREAD), **_SENT),
            negative("different message", messages(("1", "x", 1, "1")), **_SENT),
            near_miss("unread instead of read", messages(_UNREAD), **_SENT, state="read"),
            near_miss("read instead of unread", messages(_IN), **_SENT, state="unread"),
            near_miss("sent message", messages(_OK), **_SENT),
            near_miss("from a different number", messages(("117", "On my way", 1, "1")), **_SENT),
            *_texts(_SENT, 1),
            *_of_messages(**_SENT),
        ),
        equivalent=_DATES
        | {"read or unread: content query*_id:read*": "the read status is ignored"},
    ),
    CaseTable(
        communication.message_drafted,
        PhoneFixture,
        (
            positive("draft", messages(_DRAFT), **_SENT),
            negative("different message", messages(("1", "x", 3, "1")), **_SENT),
            near_miss("also sent", messages(_DRAFT, _OK), **_SENT),
            near_miss(
                "also in the outbox", messages(_DRAFT, ("+4144555", "On my way", 4, "1")), **_SENT
            ),
            near_miss("also queued", messages(_DRAFT, ("+4144555", "On my way", 6, "1")), **_SENT),
            near_miss("also failed", messages(_DRAFT, ("+4144555", "On my way", 5, "1")), **_SENT),
            near_miss("only sent", messages(_OK), **_SENT),
            near_miss("received message", messages(_IN), **_SENT),
            *_texts(_SENT, 3),
            *_of_messages(**_SENT),
        ),
        equivalent=_DATES | {"*_id:read*": "the read status is ignored"},
    ),
    CaseTable(
        communication.call_logged,
        PhoneFixture,
        (
            positive("outgoing call", calls(("1", 1, 0), ("555-0199", 2, 0)), **_CALL),
            positive(
                "exactly the minimum duration", calls(("5550199", 2, 30)), **_CALL, least_s=30
            ),
            *(
                positive(
                    f"{kind} call as expected",
                    calls(("5550199", number, 0)),
                    **{**_CALL, "kind": kind},
                )
                for number, kind in enumerate(("incoming", "outgoing", "missed"), 1)
            ),
            positive("rejected call", calls(("5550199", 5, 0)), **{**_CALL, "kind": "rejected"}),
            negative("different call", calls(("117", 1, 9)), **_CALL),
            near_miss(
                "names instead of numbers", calls(("Bank", 2, 0)), **{**_CALL, "number": "Shop"}
            ),
            near_miss("incoming call", calls(("5550199", 1, 0)), **_CALL),
            near_miss("different number", calls(("5550198", 2, 0)), **_CALL),
            near_miss(
                "shorter than the minimum duration", calls(("5550199", 2, 29)), **_CALL, least_s=30
            ),
            near_miss(
                "number and kind of two different calls",
                calls(("5550199", 1, 0), ("117", 2, 0)),
                **_CALL,
            ),
            empty(
                "no calls",
                none_in("content://call_log/calls", "number", "type", "date", "duration"),
                **_CALL,
            ),
            *ways(
                _CALL,
                {
                    "answered on a different device": calls(("5550199", 7, 60)),
                    "caller name that contains the number": calls(("Call 5550199", 2, 0)),
                    "letter instead of a digit": calls(("555O199", 2, 0)),
                    "only rang": calls(("5550199", 3, 0)),
                },
                {
                    "number with direction marks": calls(("\u202a555\u00a00199\u202c", 2, 0)),
                    "number with dots": calls(("555.01.99", 2, 7)),
                },
            ),
            *unreadable("content://call_log/calls", "number", **_CALL),
        ),
        equivalent=_DATES | {"*: args.least_s: less": "a shorter call is expected"},
    ),
    CaseTable(
        communication.call_state_is,
        PhoneFixture,
        (
            positive("ringing", answers(_STATE, "last known state:\n  mCallState=1\n"), **_RING),
            positive(
                "on the second SIM card",
                answers(_STATE, "  mCallState=0\n  mCallState=2\n"),
                state="offhook",
            ),
            negative("idle instead of ringing", answers(_STATE, "  mCallState=0\n"), **_RING),
            near_miss("off hook instead of ringing", answers(_STATE, "  mCallState=2\n"), **_RING),
            near_miss(
                "different field", answers(_STATE, "  mCallState=0\n  xCallState=1\n"), **_RING
            ),
            missing("no reply", nothing, **_RING).expect_error(),
            empty("empty output", answers(_STATE, ""), **_RING).expect_error(),
            *ways(
                _RING,
                {
                    "in the text of a different field": answers(
                        _STATE, "  mCallState=0\n  mNumber=x mCallState=1\n"
                    ),
                    "previous ringing": answers(_STATE, "  mCallState=0\n  mLastCallState=1\n"),
                },
                {
                    "ringing on the second SIM card": answers(
                        _STATE, "  mCallState=0\n  mCallState=1\n"
                    ),
                    "CRLF line ends": answers(_STATE, "mCallState=1\r\n"),
                },
            ),
            corrupt("unknown state", answers(_STATE, "  mCallState=7\n"), **_RING).expect_error(),
        ),
        inapplicable={
            CaseKind.HOSTILE: "the state is a number from the phone's own service, which the agent cannot influence"
        },
    ),
)
