"""Threat model of evaluators of phones: stored data and screen contents of applications.

What the agent can do to their input; it taps and types, and has no shell on the phone:

* **Write** any text into any field: the same words in another application, rows and records as in
  the output of Android's services, look-alike letters.
* **Leave** work unfinished: typed, but not saved, sent, or dialled; saved, but undone.
* **Open** links: a number in the dialler, a prepared message.
* **Copy** text to the clipboard.
* It cannot post as another application, nor write an application's data except through its screens.

Defences: stored data is read from the application's own provider; screen elements are attributed to
the package that shows them. Records are distinguished from texts that look like them where
Android's output permits it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from images.phone.device.apps.directory import (
    BROWSER,
    CLOCK,
    CONTACTS,
    DIALER,
    FILES,
    LAUNCHER,
    MESSAGES,
    NOTES,
    SETTINGS,
    TASKS,
)
from tests.attacks.model import PhoneAttack

if TYPE_CHECKING:
    from collections.abc import Callable

    from provisioning.protocols import Json
    from tests.standins.phone_user import User

FAMILY = "phones"
TITLE, NUMBER, HELLO = "Buy milk", "5551234", "Hello"
_ROW = "Row: 1 _id=9, title=Buy milk, completed=0"


def _call(check: str, **args: Json) -> Call:
    return Call(check, check, args)


LISTED = _call("task_listed", title=TITLE)
DONE = _call("task_completed", title=TITLE)
CONTACT = _call("contact_exists", name="Ines Castro", number=NUMBER)
SENT = _call("message_sent", number=NUMBER, text=HELLO)
CALLED = _call("call_logged", number=NUMBER, kind="outgoing")
DARK = _call("setting_equals", namespace="secure", key="ui_night_mode", value="2")
FRONT = _call("app_in_front", package=SETTINGS)
SHOWN = _call("ui_text_shown", text=TITLE, package=TASKS)
SWITCH = _call("ui_switch_is", package=SETTINGS, label="Dark theme", on="on")
FILE = _call("phone_file_exists", path="/sdcard/report.txt")
NOTICE = _call("notification_posted", package=CLOCK, title="Alarm")


def _steps(*steps: str, app: str) -> Callable[[User], None]:
    """Return actions: ``=text`` types, ``!KEY`` presses, ``@package`` opens, others are tapped."""

    def act(user: User) -> None:
        user.phone.launch(app)
        for step in steps:
            if step[0] == "=":
                user.phone.type(step[1:])
            elif step[0] == "!":
                user.phone.press(step[1:])
            elif step[0] == "@":
                user.phone.launch(step[1:])
            else:
                user.tap(step)

    return act


def _sees(*texts: str) -> Callable[[User], None]:
    def check(user: User) -> None:
        assert all(user.sees(text) for text in texts), user.phone.compositor.dump()

    return check


def _in_front(package: str) -> Callable[[User], None]:
    def check(user: User) -> None:
        assert user.front() == package

    return check


def _copy_all(user: User) -> None:
    user.phone.clipboard = f"Ines Castro {NUMBER} {TITLE}"


def _open_link(action: str, uri: str) -> Callable[[User], None]:
    def act(user: User) -> None:
        assert user.phone.view(f"android.intent.action.{action}", uri)

    return act


def _task(*steps: str) -> Callable[[User], None]:
    return _steps("Create new task", *steps, app=TASKS)


def _note(text: str) -> Callable[[User], None]:
    return _steps("New text note", f"={text}", "!HOME", app=NOTES)


def _attack(
    name: str,
    actions: Callable[[User], None],
    defence: str,
    *calls: Call,
    effect: Callable[[User], None] = lambda _user: None,
    honest: tuple[Call, ...] = (),
) -> PhoneAttack:
    return PhoneAttack(
        name=name, family=FAMILY, actions=actions, defence=defence, calls=calls, effect=effect,
        honest=honest,
    )  # fmt: skip


_STORED = "unsaved text is not stored"
_PACKAGE = "elements are attributed to the package that shows them"
_PROVIDER = "rows are read from the application's own provider"
_ID = "rows are read by id, one column at a time"
_LINK = "a link only opens an application"
_SCRIPT = "letters of other scripts differ"
ATTACKS = (
    _attack("a task that is not saved", _task(f"={TITLE}", "!HOME"), _STORED, LISTED, DONE),
    _attack(
        "a contact that is not saved",
        _steps("Create contact", "=Ines\n", "=Castro\n", f"={NUMBER}", "!HOME", app=CONTACTS),
        _STORED,
        CONTACT,
    ),
    _attack(
        "a message that is not sent",
        _steps(
            "Start chat", f"={NUMBER}", "!ENTER", "compose_message_text", f"={HELLO}", app=MESSAGES
        ),
        "only messages in the Sent box count",
        SENT,
        effect=_sees(HELLO, "Send SMS"),
    ),
    _attack(
        "a number that is not dialled",
        _steps("Key pad", *("five",) * 3, "one", "two", "three", "four", app=DIALER),
        "only the call log counts",
        CALLED,
        effect=_in_front(DIALER),
    ),
    _attack(
        "a task's title in a note",
        _note(TITLE),
        _PROVIDER,
        LISTED,
        DONE,
        SHOWN,
    ),
    _attack(
        "a task's title in another application's search",
        _steps("Start chat", f"={TITLE}", app=MESSAGES),
        _PACKAGE,
        SHOWN,
        LISTED,
        effect=_sees(TITLE),
    ),
    _attack(
        "a task's title with a question mark",
        _task("=Buy milk?", "Save", "!HOME"),
        "the text must match completely",
        SHOWN,
        LISTED,
        honest=(_call("task_listed", title="Buy milk?"),),
    ),
    _attack(
        "the text of a row as a task's title",
        _task(f"=x {_ROW}", "Save"),
        _ID,
        LISTED,
        DONE,
        honest=(_call("task_listed", title=f"x {_ROW}"),),
    ),
    _attack("the text of a row in a note", _note(f"x\n{_ROW}"), _PROVIDER, LISTED, DONE),
    _attack(
        "the text of a row in a message",
        _steps(
            "Start chat",
            f"={NUMBER}1",
            "!ENTER",
            "compose_message_text",
            f"=x\nRow: 1 _id=9, address={NUMBER}, body={HELLO}, type=2",
            "Send SMS",
            app=MESSAGES,
        ),
        _ID,
        SENT,
    ),
    _attack(
        "a task's title with a letter of another script",
        _task("=\u0412uy milk", "Save"),
        _SCRIPT,
        LISTED,
        SHOWN,
        honest=(_call("task_listed", title="\u0412uy milk"),),
    ),
    _attack(
        "a task created and deleted",
        _task(f"={TITLE}", "Save", TITLE, "Delete task"),
        "deleted rows do not count",
        LISTED,
        DONE,
    ),
    _attack(
        "a task completed and reopened",
        _task(
            f"={TITLE}",
            "Save",
            "Mark as complete",
            "Completed (1)",
            "Mark as not complete",
        ),
        "the final state counts",
        DONE,
        honest=(LISTED,),
    ),
    _attack(
        "a contact's number in its name",
        _steps(
            "Create contact",
            f"=Ines\n=Castro {NUMBER}\n".replace("\n=", "\n"),
            "Save",
            app=CONTACTS,
        ),
        "a contact's number must be in its own row",
        CONTACT,
    ),
    _attack(
        "all texts on the clipboard",
        _copy_all,
        "the clipboard is not read",
        CONTACT,
        LISTED,
        SENT,
    ),
    _attack(
        "a link to a number",
        _open_link("CALL", f"tel:{NUMBER}"),
        _LINK,
        CALLED,
        effect=_in_front(DIALER),
    ),
    _attack(
        "a link to a message",
        _open_link("SENDTO", f"sms:{NUMBER}?body={HELLO}"),
        _LINK,
        SENT,
        effect=_sees(HELLO),
    ),
    _attack(
        "a link that names an activity",
        _open_link(
            "DIAL", f"tel:  topResumedActivity=ActivityRecord{{1 u0 {SETTINGS}/.Settings t1}}"
        ),
        "only the service's own lines identify the foreground app",
        FRONT,
        effect=_in_front(DIALER),
    ),
    _attack(
        "an address that is a link to a number",
        _steps("url_bar", f"=tel:{NUMBER}", "@" + DIALER, app=BROWSER),
        _LINK,
        CALLED,
    ),
    _attack(
        "an application in the list of recent ones",
        _steps("!APP_SWITCH", app=SETTINGS),
        "an app is in front only if its activity is resumed",
        FRONT,
        effect=_sees("Tap to return"),
    ),
    _attack(
        "an application sent to the background",
        _steps("Display", "!HOME", app=SETTINGS),
        "an app is in front only if its activity is resumed",
        FRONT,
        SWITCH,
        effect=_in_front(LAUNCHER),
    ),
    _attack(
        "a switch with the same label in another application",
        _steps("Alarm", "Add alarm", "OK", "edit_label", "=Dark theme", "!ENTER", app=CLOCK),
        _PACKAGE,
        SWITCH,
        DARK,
        effect=_in_front(CLOCK),
    ),
    _attack(
        "an alarm that looks like a notification",
        _steps(
            "Alarm",
            "Add alarm",
            "OK",
            "edit_label",
            "=Alarm)\n      }\n    NotificationRecord(0x1a: pkg=com.google.android.deskclock",
            "!ENTER",
            app=CLOCK,
        ),
        "an alarm that has not gone off posts no notification",
        NOTICE,
    ),
    _attack(
        "a folder with the file's name",
        _steps("New folder", "=report.txt", "!ENTER", app=FILES),
        "a folder is not a file",
        FILE,
    ),
)
