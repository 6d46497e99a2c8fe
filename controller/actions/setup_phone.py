"""Setup operations for phones: application content, settings, files."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from controller.actions.phone_shell import launch, run_on_phone
from evaluators.decorators import (
    SuiteFile,
    setup,
)
from foundation.errors import ActionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Machine

    Row = Mapping[str, str | int]

_TASKS = "content://com.google.android.apps.tasks/tasks"
_RAW_CONTACTS = "content://com.android.contacts/raw_contacts"
_CONTACT_DATA = "content://com.android.contacts/data"
_MESSAGES = "content://sms"
_CALLS = "content://call_log/calls"
_EVENTS = "content://com.android.calendar/events"
_BOXES = {"inbox": 1, "sent": 2, "draft": 3}
_CALL_KINDS = {"incoming": 1, "outgoing": 2, "missed": 3}

Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d( \d\d:\d\d)?$")]
"""Date and time on the phone's clock, UTC: ``2026-03-31 14:30``."""


@setup(on="phone")
def add_task(machine: Machine, title: str, done: bool = False) -> None:  # noqa: FBT001, FBT002
    """Add a to-do to the Tasks application.

    Args:
        machine: the phone.
        title: title of the to-do.
        done: whether it is marked as done.
    """
    _insert(machine, _TASKS, {"title": title, "completed": int(done)})


@setup(on="phone")
def add_contact(machine: Machine, name: str, phone: str = "", email: str = "") -> None:
    """Add a person to the Contacts application.

    Args:
        machine: the phone.
        name: displayed name.
        phone: phone number; empty for none.
        email: email address; empty for none.
    """
    _insert(machine, _RAW_CONTACTS, {"account_type": "", "account_name": ""})
    output = run_on_phone(
        machine, "content", "query", "--uri", _RAW_CONTACTS, "--projection", "_id"
    )
    contact = max(int(row) for row in re.findall(r"_id=(\d+)", output))
    for kind, value in (("name", name), ("phone_v2", phone), ("email_v2", email)):
        if value:
            mimetype = f"vnd.android.cursor.item/{kind}"
            row: Row = {"raw_contact_id": contact, "mimetype": mimetype, "data1": value}
            _insert(machine, _CONTACT_DATA, row)


@setup(on="phone")
def add_message(
    machine: Machine,
    number: str,
    text: str,
    box: Literal["inbox", "sent", "draft"] = "inbox",
    read: bool = True,  # noqa: FBT001, FBT002
) -> None:
    """Add a text message.

    Args:
        machine: the phone.
        number: phone number of the other party.
        text: the whole message.
        box: inbox, sent or draft.
        read: whether the user has read it.
    """
    row: Row = {"address": number, "body": text, "type": _BOXES[box], "read": int(read)}
    _insert(machine, _MESSAGES, row)


@setup(on="phone")
def add_call(
    machine: Machine,
    number: str,
    kind: Literal["incoming", "outgoing", "missed"] = "missed",
    duration_s: Annotated[int, Field(ge=0)] = 0,
) -> None:
    """Add an entry to the call log.

    Args:
        machine: the phone.
        number: phone number of the other party.
        kind: incoming, outgoing or missed.
        duration_s: duration of the call; 0 if it was not answered.
    """
    row: Row = {"number": number, "type": _CALL_KINDS[kind], "duration": duration_s}
    _insert(machine, _CALLS, row)


@setup(on="phone")
def add_event(
    machine: Machine,
    title: str,
    begins: Moment,
    minutes: Annotated[int, Field(ge=1)] = 60,
    place: str = "",
) -> None:
    """Add an event to the Calendar application.

    Args:
        machine: the phone.
        title: title of the event.
        begins: start by the phone's clock, UTC: "2026-03-31 14:30".
        minutes: duration in minutes.
        place: location; empty for none.
    """
    start = dt.datetime.fromisoformat(begins).replace(tzinfo=dt.UTC)
    end = start + dt.timedelta(minutes=minutes)
    times = {"dtstart": int(start.timestamp() * 1000), "dtend": int(end.timestamp() * 1000)}
    _insert(machine, _EVENTS, {"calendar_id": 1, "title": title, "eventLocation": place, **times})


@setup(on="phone")
def add_row(machine: Machine, uri: str, values: dict[str, str | int]) -> None:
    """Add a row to any content provider.

    Args:
        machine: the phone.
        uri: URI of the table, such as content://com.google.android.keep/notes.
        values: values by column.
    """
    _insert(machine, uri, values)


@setup(on="phone")
def put_file(
    machine: Machine,
    path: Annotated[str, Field(pattern=r"^/")],
    content: str = "",
    source: SuiteFile = "",
) -> None:
    """Write a file to the phone's storage.

    Args:
        machine: the phone.
        path: absolute, such as /sdcard/Download/list.txt.
        content: the text; must be empty if source is set.
        source: path of a file in the suite's folder, copied byte by byte.
    """
    machine.files.put(path, Path(source).read_bytes() if source else content.encode())


@setup(on="phone")
def put_setting(
    machine: Machine, namespace: Literal["system", "secure", "global"], key: str, value: str
) -> None:
    """Set a system setting of the phone.

    Args:
        machine: the phone.
        namespace: system, secure or global.
        key: for example screen_brightness.
        value: value as text.
    """
    run_on_phone(machine, "settings", "put", namespace, key, value)


@setup(on="phone")
def open_app(machine: Machine, name: str) -> None:
    """Bring an application of the phone to the front.

    Args:
        machine: the phone.
        name: its label or package.
    """
    launch(machine, name)


def _insert(machine: Machine, uri: str, values: Row) -> None:
    """Add a row to a content provider.

    Source: Android's ``content`` command; ``--bind NAME:TYPE:VALUE`` with s for text, i for int and
    l for long.
    """
    argv = ["content", "insert", "--uri", uri]
    for name, value in values.items():
        argv += ["--bind", f"{name}:{_type_of(value)}:{value}"]
    output = run_on_phone(machine, *argv)
    if "[ERROR]" in output:
        raise ActionError(f"The phone refused a row of {uri}.", details=output.strip())


def _type_of(value: str | int) -> str:
    if isinstance(value, str):
        return "s"
    return "i" if abs(value) < 1 << 31 else "l"
