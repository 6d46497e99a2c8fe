"""Threat model of evaluators of phones: what applications hold and show.

What the agent can do to what they read; it taps and types, and has no shell of the phone:

* **Write** any text into any field: the same words in another application, rows and records of the service's
  own output, letters that look like others.
* **Leave** work half done: typed, and neither saved, sent nor dialled; saved, and undone.
* **Open** what links bring about: a number in the dialler, a message that is written for it.
* **Copy**: the clipboard holds what was copied.
* It cannot post as another application, nor write into an application's data but through its screens.

What stands against it: stored data counts, by the application's own provider; what is on the screen counts by
the package that shows it. Records are told from texts that look like them where Android's output can be told apart.
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
    """Return moves: ``=text`` types, ``!KEY`` presses, ``@package`` opens, all else is tapped."""

    def play(user: User) -> None:
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

    return play


def _sees(*texts: str) -> Callable[[User], None]:
    def check(user: User) -> None:
        assert all(user.sees(text) for text in texts), user.phone.compositor.dump()

    return check


def _in_front(package: str) -> Callable[[User], None]:
    def check(user: User) -> None:
        assert user.front() == package

    return check


def _copied(user: User) -> None:
    user.phone.clipboard = f"Ines Castro {NUMBER} {TITLE}"


def _linked(action: str, uri: str) -> Callable[[User], None]:
    def play(user: User) -> None:
        assert user.phone.view(f"android.intent.action.{action}", uri)

    return play


def _task(*steps: str) -> Callable[[User], None]:
    return _steps("Create new task", *steps, app=TASKS)


def _note(text: str) -> Callable[[User], None]:
    return _steps("New text note", f"={text}", "!HOME", app=NOTES)


def _attack(
    name: str,
    moves: Callable[[User], None],
    defence: str,
    *calls: Call,
    effect: Callable[[User], None] = lambda _user: None,
    honest: tuple[Call, ...] = (),
) -> PhoneAttack:
    return PhoneAttack(
        name=name, family=FAMILY, moves=moves, defence=defence, calls=calls, effect=effect,
        honest=honest,
    )  # fmt: skip


_STORED = "what is typed is not stored"
_PACKAGE = "an element counts by the package that shows it"
_PROVIDER = "rows are those of the application's own provider"
_ID = "rows are read by their ids, one column at a time"
_LINK = "a link opens an application, and does nothing there"
_SCRIPT = "letters of other scripts are others"
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
        "only messages in the box of those sent count",
        SENT,
        effect=_sees(HELLO, "Send SMS"),
    ),
    _attack(
        "a number that is not dialled",
        _steps("Key pad", *("five",) * 3, "one", "two", "three", "four", app=DIALER),
        "only the log of calls counts",
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
        "a task's title typed, not saved, and shown",
        _task("=Buy milk?", "Save", "!HOME"),
        "the whole text is compared",
        SHOWN,
        LISTED,
        honest=(_call("task_listed", title="Buy milk?"),),
    ),
    _attack(
        "a row's text as a task's title",
        _task(f"=x {_ROW}", "Save"),
        _ID,
        LISTED,
        DONE,
        honest=(_call("task_listed", title=f"x {_ROW}"),),
    ),
    _attack("a row's text in a note", _note(f"x\n{_ROW}"), _PROVIDER, LISTED, DONE),
    _attack(
        "a row's text in a message",
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
        "a task's title in letters of another script",
        _task("=\u0412uy milk", "Save"),
        _SCRIPT,
        LISTED,
        SHOWN,
        honest=(_call("task_listed", title="\u0412uy milk"),),
    ),
    _attack(
        "a task made and deleted",
        _task(f"={TITLE}", "Save", TITLE, "Delete task"),
        "what is deleted is not there",
        LISTED,
        DONE,
    ),
    _attack(
        "a task ticked off and unticked",
        _task(
            f"={TITLE}",
            "Save",
            "Mark as complete",
            "Completed (1)",
            "Mark as not complete",
        ),
        "the state at the end counts",
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
        "a number is a contact's only in its own row",
        CONTACT,
    ),
    _attack(
        "all of it on the clipboard",
        _copied,
        "the clipboard is not asked",
        CONTACT,
        LISTED,
        SENT,
    ),
    _attack(
        "a link to a number",
        _linked("CALL", f"tel:{NUMBER}"),
        _LINK,
        CALLED,
        effect=_in_front(DIALER),
    ),
    _attack(
        "a link to a message",
        _linked("SENDTO", f"sms:{NUMBER}?body={HELLO}"),
        _LINK,
        SENT,
        effect=_sees(HELLO),
    ),
    _attack(
        "a link that names an activity",
        _linked("DIAL", f"tel:  topResumedActivity=ActivityRecord{{1 u0 {SETTINGS}/.Settings t1}}"),
        "only the service's own lines name what is in front",
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
        "an application among the recent ones",
        _steps("!APP_SWITCH", app=SETTINGS),
        "an application is in front when its activity is",
        FRONT,
        effect=_sees("Tap to return"),
    ),
    _attack(
        "an application opened and left",
        _steps("Display", "!HOME", app=SETTINGS),
        "an application is in front when its activity is",
        FRONT,
        SWITCH,
        effect=_in_front(LAUNCHER),
    ),
    _attack(
        "a switch of another application under its label",
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
        "an alarm that has not gone off posts nothing",
        NOTICE,
    ),
    _attack(
        "a folder by the file's name",
        _steps("New folder", "=report.txt", "!ENTER", app=FILES),
        "a folder is no file",
        FILE,
    ),
)
