"""Cases of evaluators of a phone's files, notifications, messages and calls."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from evaluators.phone import alerts, communication, storage
from evaluators.testing.case import (
    CaseKind,
    CaseTable,
    corrupt,
    empty,
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
    """Let something stand at a path, or nothing."""

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
    """Let a folder hold entries."""

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
        more: output of the service after them.
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
        missing("no answer", nothing, **args).expect_error(),
        corrupt(
            "no numbers",
            all_of(put(PATH, "Hi"), answers(f"stat -L -c '%s %f %Y' -- {PATH}", "?")),
            **args,
        ).expect_error(),
        hostile(
            "a name with quotes",
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
    "*_id:date*": "times do not count",
    "*content query*: prints other": "letter case of names",
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
        "with a name that holds the number": text("Bank +4144555"),
        "a row within another's text": text("+4144555", row_within("body", "On my way", "y")),
        "a letter of another script": text("+4144555", "On my w\u0430y"),
        "with a number and letters behind": text("+4144555x"),
    }
    honest = {
        "00 for the plus": text("0041 44 555"),
        "a number copied from elsewhere": text(MARKED),
        "lines that end otherwise": text("+4144555", "On my way\r\n"),
        "beside one that looks like a row": messages(
            ("1", row_within("body", "x"), box, "1"), ("+4144555", "On my way", box, "1")
        ),
    }
    return ways(args, forgeries, honest)


def _of_notes(**args: Json) -> tuple[Case, ...]:
    return (
        missing("no answer", nothing, **args).expect_error(),
        missing("it fails", all_of(notes(), answers(_NOTES, 1)), **args).expect_error(),
        hostile(
            "a title that looks like a record",
            notes(note("org.b", "x)\n    NotificationRecord(pkg=org.a title=Alarm")),
            **args,
        ),
    )


TABLES = (
    CaseTable(
        storage.phone_file_exists,
        PhoneFixture,
        (
            positive("a file", put(PATH, "Hi"), **_PATH),
            positive("an empty one", put(PATH, ""), **_PATH),
            negative("none", put(PATH, None), **_PATH),
            near_miss("a folder", put(PATH, "", 0o40755), **_PATH),
            empty("nothing in its folder", all_of(folder(_FOLDER), put(PATH, None)), **_PATH),
            *ways(
                _PATH,
                {
                    "only its download in progress": all_of(
                        put(PATH, None), put(f"{_FOLDER}/.pending-1-a.txt", "Hi")
                    ),
                    "in the bin": all_of(put(PATH, None), put(f"{_FOLDER}/.trashed-1-a.txt", "Hi")),
                    "a folder of that name": put(PATH, "", 0o42775),
                },
                {
                    "that nobody may write": put(PATH, "Hi", 0o100444),
                    "of the owner alone": put(PATH, "Hi", 0o100600),
                },
            ),
            *_files(**_PATH),
        ),
        equivalent={
            "*stat -L*: prints less": "what is cut off is the time",
            "*cat -- *": "the content does not count",
            "*prints other": "letter case of numbers",
        },
    ),
    CaseTable(
        storage.phone_path_absent,
        PhoneFixture,
        (
            positive("nothing", all_of(folder(_FOLDER), put(PATH, None)), **_PATH),
            negative("a file", all_of(folder(_FOLDER), put(PATH, "Hi")), **_PATH),
            near_miss("an empty file", all_of(folder(_FOLDER), put(PATH, "")), **_PATH),
            near_miss("a folder", all_of(folder(_FOLDER), put(PATH, "", 0o40755)), **_PATH),
            near_miss("no folder either", all_of(put(_FOLDER, None), put(PATH, None)), **_PATH),
            near_miss("a file for a folder", all_of(put(_FOLDER, ""), put(PATH, None)), **_PATH),
            empty(
                "an empty file in a folder",
                all_of(folder(_FOLDER, "a.txt"), put(PATH, "")),
                **_PATH,
            ),
            positive("below the root", all_of(folder("/"), put("/a", None)), path="/a"),
            *ways(
                _PATH,
                {
                    "a folder that is a link to nowhere": all_of(
                        put(_FOLDER, None), put(PATH, None)
                    ),
                    "a folder that became a file": all_of(put(_FOLDER, "x"), put(PATH, None)),
                    "emptied, not deleted": all_of(folder(_FOLDER, "a.txt"), put(PATH, "\n")),
                },
                {
                    "in the bin": all_of(
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
            "*stat -L*: prints less": "what is cut off is the time",
            "*cat -- *": "the content does not count",
            "*find*": "entries do not count",
            "*test -d*": "it is not asked",
            "*prints other": "letter case of numbers",
            "*test -e /sdcard/Download: prints nothing": "it prints nothing",
            "*test -e*: fails": "that is what nothing looks like",
        },
    ),
    CaseTable(
        storage.phone_file_text_equals,
        PhoneFixture,
        (
            positive("the text", put(PATH, "Hi\n"), **_HI),
            positive("a newline expected", put(PATH, "Hi"), **{**_HI, "text": "Hi\n"}),
            positive("empty", put(PATH, ""), **{**_HI, "text": ""}),
            negative("another", put(PATH, "No"), **_HI),
            near_miss("two newlines", put(PATH, "Hi\n\n"), **_HI),
            near_miss("other case", put(PATH, "hi"), **_HI),
            near_miss("more", put(PATH, "Hi there"), **_HI),
            near_miss("no file", put(PATH, None), **{**_HI, "text": ""}),
            near_miss("a folder", put(PATH, "Hi", 0o40755), **_HI),
            empty("an empty file", put(PATH, ""), **_HI),
            *ways(
                _HI,
                {
                    "a letter of another script": put(PATH, "H\u0456"),
                    "an invisible character": put(PATH, "H\u200bi"),
                    "two byte order marks": put(PATH, "\ufeff\ufeffHi"),
                },
                {
                    "with a byte order mark": put(PATH, "\ufeffHi\n"),
                    "with CRLF": put(PATH, "Hi\r\n"),
                },
            ),
            *_files(**_HI),
            hostile(
                "too large",
                all_of(
                    put(PATH, "Hi"), answers(f"stat -L -c '%s %f %Y' -- {PATH}", "99999999 81a4 1")
                ),
                **_HI,
            ).expect_error(),
        ),
        equivalent={
            "*stat -L*: prints less": "what is cut off is the time",
            "*stat*: prints other": "letter case of numbers",
            "a newline expected: args.text: cut": "one newline does not count",
            "empty: cat*: prints*": "it is empty",
            "*stat*: prints less": "the size is not compared",
        },
    ),
    CaseTable(
        storage.phone_folder_lists,
        PhoneFixture,
        (
            positive("both", folder(_FOLDER, "b", "a.txt", ".hidden"), **_LIST),
            positive(
                "in any order", folder(_FOLDER, "a.txt", "b"), **{**_LIST, "names": ["b", "a.txt"]}
            ),
            positive("none", folder(_FOLDER), **{**_LIST, "names": []}),
            negative("others", folder(_FOLDER, "x"), **_LIST),
            near_miss("one more", folder(_FOLDER, "a.txt", "b", "c"), **_LIST),
            near_miss("one fewer", folder(_FOLDER, "a.txt"), **_LIST),
            near_miss("no folder", folder(_FOLDER, is_there=False), **{**_LIST, "names": []}),
            empty("an empty folder", folder(_FOLDER), **_LIST),
            missing("no answer", nothing, **_LIST).expect_error(),
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
                    "a letter of another script": folder(_FOLDER, f"{CYRILLIC_A}.txt", "b"),
                    "a blank at the end": folder(_FOLDER, "a.txt ", "b"),
                    "hidden ones": folder(_FOLDER, ".a.txt", ".b"),
                    "one only being downloaded": folder(_FOLDER, ".pending-1-a.txt", "b"),
                },
                {
                    "beside thumbnails": folder(_FOLDER, ".thumbnails", "a.txt", "b"),
                    "beside the bin": folder(_FOLDER, ".trashed-1-c", "b", "a.txt"),
                },
            ),
            *ways(
                {"path": _FOLDER, "names": ["caf\u00e9", "cafz"]},
                {},
                {"accents apart": folder(_FOLDER, "cafz", "cafe\u0301")},
            ),
            hostile("a newline in a name", folder(_FOLDER, "a.txt\nb"), **_LIST),
        ),
        equivalent={
            "*test -e*": "it is not asked",
            "*stat*": "it is not asked",
            "*cat*": "it is not asked",
            "*test -d*: prints*": "what it prints does not count",
            "none: find*: prints*": "it prints nothing",
        },
    ),
    CaseTable(
        alerts.notification_posted,
        PhoneFixture,
        (
            positive("posted", notes(note("org.b", "x"), note("org.a", " Alarm ")), **_NOTE),
            positive("with a text", notes(note("org.a", "Alarm", "07:00")), **_NOTE, text=" 07:00"),
            positive("blanks around what is asked for", _FULL_NOTE, **{**_NOTE, "title": " Alarm"}),
            positive("any text", _FULL_NOTE, **_NOTE),
            positive(
                "with its key",
                notes(note("org.b", "x"), note("org.a", "Alarm"), keys=("org.b", "org.a")),
                **_NOTE,
            ),
            near_miss(
                "gone, its key with it",
                notes(note("org.b", "x"), keys=("org.b",)),
                **_NOTE,
            ),
            positive("with blanks around its text", _FULL_NOTE, **_NOTE, text="07:00"),
            negative("another", notes(note("org.a", "Mail")), **_NOTE),
            near_miss("of another application", notes(note("org.b", "Alarm")), **_NOTE),
            near_miss("longer", notes(note("org.a", "Alarms")), **_NOTE),
            near_miss("the title as text", notes(note("org.a", "x", "Alarm")), **_NOTE),
            near_miss(
                "another text", notes(note("org.a", "Alarm", "08:00")), **_NOTE, text="07:00"
            ),
            near_miss(
                "text of another",
                notes(note("org.a", "Alarm", "x"), note("org.a", "y", "07:00")),
                **_NOTE,
                text="07:00",
            ),
            near_miss(
                "dismissed",
                notes(more="  mArchive=Archive (1 notification)\n" + note("org.a", "Alarm")),
                **_NOTE,
            ),
            near_miss(
                "a text within its title",
                notes(note("org.a", "Alarm\n        android.text=String (07:00", "08:00")),
                package="org.a",
                title="Alarm\n        android.text=String (07:00",
                text="07:00",
            ),
            empty("none", notes(), **_NOTE),
            corrupt("no extras", notes(note("org.a", "Alarm").partition("extras")[0]), **_NOTE),
            *ways(
                _NOTE,
                {
                    "a record within another's text": notes(
                        note("org.b", "x", f"y\n{note('org.a', 'Alarm')}").replace(
                            ")\n      }", "", 1
                        )
                    ),
                    "a record within another's text, its brackets closed": notes(
                        note("org.b", "x", f"y)\n      }}\n{note('org.a', 'Alarm')}"),
                        keys=("org.b",),
                    ),
                    "a second record within another's text": notes(
                        note("org.b", "x", f"y)\n      }}\n{note('org.a', 'Alarm')}"),
                        note("org.a", "Mail"),
                        keys=("org.b", "org.a"),
                    ),
                    "another application of that title": notes(note("org.a.copy", "Alarm")),
                    "as a line of another's text": notes(
                        note("org.b", "x", "y\n        android.title=String (Alarm")
                    ),
                    "a letter of another script": notes(note("org.a", f"Al{CYRILLIC_A}rm")),
                },
                {
                    "below one of two lines": notes(
                        note("org.b", "x", "a\nb"), note("org.a", "Alarm")
                    ),
                    "below one with brackets": notes(
                        note("org.b", "x)", "(y"), note("org.a", "Alarm")
                    ),
                    "below a text like a section": notes(
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
            "*pm list*": "it is not asked",
            f"*{_KEYS}: fails": "older phones list no keys",
        },
    ),
    CaseTable(
        alerts.notifications_cleared,
        PhoneFixture,
        (
            positive("none at all", notes(), package="org.a"),
            positive("only another's", notes(note("org.b", "x")), package="org.a"),
            negative("one left", notes(note("org.a", "x")), package="org.a"),
            near_miss(
                "one of two left", notes(note("org.b", "x"), note("org.a", "y")), package="org.a"
            ),
            near_miss("not installed", notes(), package="org.c"),
            empty("one without title", notes(note("org.a", "")), package="org.a"),
            missing("no answer", nothing, package="org.a").expect_error(),
            missing(
                "packages fail", all_of(notes(), answers(_PACKAGES, 1)), package="org.a"
            ).expect_error(),
            corrupt(
                "a record without extras",
                notes(note("org.a", "x").partition("extras")[0] + "\n"),
                package="org.a",
            ),
            *ways(
                {"package": "org.a"},
                {
                    "behind a text like a section": notes(
                        note("org.b", "x", "y\n  mZen=1\n  Archive:\nz"), note("org.a", "x")
                    ),
                    "behind a text of two lines": notes(
                        note("org.b", "x", "a\nb"), note("org.a", "y")
                    ),
                    "one that shows nothing": notes(note("org.a", "", "")),
                    "behind the end of a list within another's text": notes(
                        note("org.b", "x", "y)\n      }\n  Archive:\n"),
                        note("org.a", "x"),
                        keys=("org.b", "org.a"),
                    ),
                },
                {
                    "dismissed": notes(
                        more="  mArchive=Archive (1 notification)\n" + note("org.a", "x")
                    ),
                    "named in another's text": notes(note("org.b", "pkg=org.a", "org.a")),
                    "a record of it in another's text, and no key": notes(
                        note("org.b", "x", f"y)\n      }}\n{note('org.a', 'Alarm')}"),
                        keys=("org.b",),
                    ),
                },
            ),
            hostile("a title as long as a page", notes(note("org.a", "x" * 9999)), package="org.a"),
        ),
        equivalent={
            "*dumpsys notification*: prints*": "none of it is of that application either",
            f"*{_KEYS}: prints*": "none of it is of that application either",
        },
    ),
    CaseTable(
        alerts.toast_shown,
        PhoneFixture,
        (
            positive("kept", toast("org.a", "Saved"), **_TOAST),
            positive("its application", toast("org.a", " Saved"), **_TOAST, package="org.a"),
            positive(
                "on a phone that forgets",
                all_of(answers(_KEPT, 1), answers(_NOTES, _QUEUE)),
                **_TOAST,
            ),
            positive("blanks around what is asked for", toast("org.a", "Saved"), text=" Saved "),
            positive(
                "on a phone without that service",
                all_of(
                    answers(_KEPT, "Can't find service: reference_phone\n"), answers(_NOTES, _QUEUE)
                ),
                **_TOAST,
            ),
            negative("another", toast("org.a", "Gone"), **_TOAST),
            near_miss("longer", toast("org.a", "Saved it"), **_TOAST),
            near_miss("other case", toast("org.a", "saved"), **_TOAST),
            near_miss("of another application", toast("org.b", "Saved"), **_TOAST, package="org.a"),
            near_miss("no text asked for", toast("org.a", ""), text=""),
            empty("none", answers(_KEPT, ""), **_TOAST),
            missing("no answer", nothing, **_TOAST).expect_error(),
            corrupt("cut off", answers(_KEPT, "text=Saved\n"), **_TOAST),
            *ways(
                {**_TOAST, "package": "org.a"},
                {
                    "another application's": toast("org.evil", "Saved"),
                    "another application of that title": toast("org.a.copy", "Saved"),
                    "one within another's text": answers(
                        _KEPT, "package=org.b\ntext=x\npackage=org.a\ntext=Saved\n"
                    ),
                    "behind another's in the queue": all_of(
                        answers(_KEPT, 1),
                        answers(_NOTES, _QUEUE.replace(":org.a/", ":org.b/") + _QUEUE),
                    ),
                },
                {
                    "in the queue": all_of(answers(_KEPT, 1), answers(_NOTES, _QUEUE)),
                    "a line below": toast("org.a", "Saved\n"),
                },
            ),
            hostile(
                "a toast within a toast", toast("org.b", "x\npackage=org.a\ntext=Saved"), **_TOAST
            ),
        ),
        equivalent={
            "*: args.package: empty": "any application",
            "kept: dumpsys reference_phone toast: prints other": "not possible",
        },
    ),
    CaseTable(
        communication.message_sent,
        PhoneFixture,
        (
            positive("sent", messages(("1", "x", 2, "1"), _OK), **_SENT),
            positive("blanks around", messages(("+41 (44) 555", " On my way\n", 2, "0")), **_SENT),
            negative("another", messages(("1", "x", 2, "1")), **_SENT),
            near_miss("a draft", messages(_DRAFT), **_SENT),
            near_miss("received", messages(_IN), **_SENT),
            near_miss("failed", messages(("+4144555", "On my way", 5, "1")), **_SENT),
            near_miss("to another", messages(("+4144556", "On my way", 2, "1")), **_SENT),
            near_miss("no plus", messages(("4144555", "On my way", 2, "1")), **_SENT),
            near_miss("longer", messages(("+4144555", "On my way now", 2, "1")), **_SENT),
            near_miss(
                "text and number of two",
                messages(("+4144555", "x", 2, "1"), ("1", "On my way", 2, "1")),
                **_SENT,
            ),
            near_miss(
                "no text asked for", messages(("+4144555", "", 2, "1")), **{**_SENT, "text": ""}
            ),
            *_texts(_SENT, 2),
            *_of_messages(**_SENT),
        ),
        equivalent=_DATES | {"*_id:read*": "whether it was read does not count"},
    ),
    CaseTable(
        communication.message_received,
        PhoneFixture,
        (
            positive("read", messages(_IN), **_SENT, state="read"),
            positive("blanks around", messages(_IN), **{**_SENT, "text": " On my way\n"}),
            near_miss("in no box", messages(("+4144555", "On my way", "", "1")), **_SENT),
            corrupt(
                "in a box of letters", messages(("+4144555", "On my way", "x", "1")), **_SENT
            ).expect_error(),
            positive("unread", messages(_UNREAD), **_SENT, state="unread"),
            positive("either", messages(_UNREAD), **_SENT),
            negative("another", messages(("1", "x", 1, "1")), **_SENT),
            near_miss("not read", messages(_UNREAD), **_SENT, state="read"),
            near_miss("read already", messages(_IN), **_SENT, state="unread"),
            near_miss("sent", messages(_OK), **_SENT),
            near_miss("from another", messages(("117", "On my way", 1, "1")), **_SENT),
            *_texts(_SENT, 1),
            *_of_messages(**_SENT),
        ),
        equivalent=_DATES
        | {"either: content query*_id:read*": "whether it was read does not count"},
    ),
    CaseTable(
        communication.message_drafted,
        PhoneFixture,
        (
            positive("a draft", messages(_DRAFT), **_SENT),
            negative("another", messages(("1", "x", 3, "1")), **_SENT),
            near_miss("sent as well", messages(_DRAFT, _OK), **_SENT),
            near_miss("on its way", messages(_DRAFT, ("+4144555", "On my way", 4, "1")), **_SENT),
            near_miss("queued", messages(_DRAFT, ("+4144555", "On my way", 6, "1")), **_SENT),
            near_miss("failed", messages(_DRAFT, ("+4144555", "On my way", 5, "1")), **_SENT),
            near_miss("sent only", messages(_OK), **_SENT),
            near_miss("received", messages(_IN), **_SENT),
            *_texts(_SENT, 3),
            *_of_messages(**_SENT),
        ),
        equivalent=_DATES | {"*_id:read*": "whether it was read does not count"},
    ),
    CaseTable(
        communication.call_logged,
        PhoneFixture,
        (
            positive("called", calls(("1", 1, 0), ("555-0199", 2, 0)), **_CALL),
            positive("long enough", calls(("5550199", 2, 30)), **_CALL, least_s=30),
            *(
                positive(
                    f"{kind}, as asked", calls(("5550199", number, 0)), **{**_CALL, "kind": kind}
                )
                for number, kind in enumerate(("incoming", "outgoing", "missed"), 1)
            ),
            positive("rejected", calls(("5550199", 5, 0)), **{**_CALL, "kind": "rejected"}),
            negative("another", calls(("117", 1, 9)), **_CALL),
            near_miss("two names", calls(("Bank", 2, 0)), **{**_CALL, "number": "Shop"}),
            near_miss("incoming", calls(("5550199", 1, 0)), **_CALL),
            near_miss("another number", calls(("5550198", 2, 0)), **_CALL),
            near_miss("too short", calls(("5550199", 2, 29)), **_CALL, least_s=30),
            near_miss("number and kind of two", calls(("5550199", 1, 0), ("117", 2, 0)), **_CALL),
            empty(
                "no calls",
                none_in("content://call_log/calls", "number", "type", "date", "duration"),
                **_CALL,
            ),
            *ways(
                _CALL,
                {
                    "answered on another device": calls(("5550199", 7, 60)),
                    "by a name that holds the number": calls(("Call 5550199", 2, 0)),
                    "a letter for a digit": calls(("555O199", 2, 0)),
                    "it rang only": calls(("5550199", 3, 0)),
                },
                {
                    "with marks of its direction": calls(("\u202a555\u00a00199\u202c", 2, 0)),
                    "with dots": calls(("555.01.99", 2, 7)),
                },
            ),
            *unreadable("content://call_log/calls", "number", **_CALL),
        ),
        equivalent=_DATES | {"*: args.least_s: less": "a shorter call is asked for"},
    ),
    CaseTable(
        communication.call_state_is,
        PhoneFixture,
        (
            positive("ringing", answers(_STATE, "last known state:\n  mCallState=1\n"), **_RING),
            positive(
                "on the second card",
                answers(_STATE, "  mCallState=0\n  mCallState=2\n"),
                state="offhook",
            ),
            negative("idle", answers(_STATE, "  mCallState=0\n"), **_RING),
            near_miss("off hook", answers(_STATE, "  mCallState=2\n"), **_RING),
            near_miss(
                "another field", answers(_STATE, "  mCallState=0\n  xCallState=1\n"), **_RING
            ),
            missing("no answer", nothing, **_RING).expect_error(),
            empty("it says nothing", answers(_STATE, ""), **_RING).expect_error(),
            *ways(
                _RING,
                {
                    "in another field's text": answers(
                        _STATE, "  mCallState=0\n  mNumber=x mCallState=1\n"
                    ),
                    "a ring that was": answers(_STATE, "  mCallState=0\n  mLastCallState=1\n"),
                },
                {
                    "of the second card": answers(_STATE, "  mCallState=0\n  mCallState=1\n"),
                    "lines that end otherwise": answers(_STATE, "mCallState=1\r\n"),
                },
            ),
            corrupt("no known number", answers(_STATE, "  mCallState=7\n"), **_RING).expect_error(),
        ),
        inapplicable={
            CaseKind.HOSTILE: "a number from the phone's own service; nothing of the agent's is in it"
        },
    ),
)
