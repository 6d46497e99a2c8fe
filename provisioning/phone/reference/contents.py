"""Put the layers of an image into a running phone: files, settings, rows, accounts, applications."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING
from urllib.parse import quote

from foundation.errors import ActionError, UnsupportedError
from foundation.host_load import stretched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from foundation.process import CommandResult
    from images.custom.phone import Account, Contact, PhoneLayer
    from provisioning.phone.reference.machine import ReferencePhone
    from provisioning.protocols import Machine

    Row = Mapping[str, str | int]

_RAW_CONTACTS = "content://com.android.contacts/raw_contacts"
_CONTACT_DATA = "content://com.android.contacts/data"
_CALENDARS = "content://com.android.calendar/calendars"
_TIMEOUT_S = 20.0
_INSTALL_TIMEOUT_S = 300.0
_OWNER_ACCESS = 700
"""``CalendarContract.Calendars.CAL_ACCESS_OWNER``."""


def apply_layers(
    phone: ReferencePhone, layers: Sequence[PhoneLayer], say: Callable[[str], None]
) -> None:
    """Apply layers to a running phone, in order.

    Args:
        phone: the phone.
        layers: the layers.
        say: called with one line of progress before each.

    Raises:
        ActionError: the phone refused one.
        UnsupportedError: the kind of phone has no place for one.
        LinkError: the phone does not answer.
    """
    for layer in layers:
        say(f"{layer.step.label}")
        _apply(phone, layer)


def _apply(phone: ReferencePhone, layer: PhoneLayer) -> None:
    step, folder = layer.step, layer.folder
    for copy in step.files:
        put_tree(phone, folder / copy.source, copy.to)
    for namespace, values in step.settings.items():
        for key, value in values.items():
            _run(phone, "settings", "put", namespace, key, str(value))
    for contact in step.contacts:
        add_contact(phone, contact)
    for row in step.rows:
        insert_row(phone, row.uri, row.values)
    for account in step.accounts:
        add_account(phone, account)
    for apk in step.apks:
        install(phone, folder / apk.file)


def put_tree(phone: Machine, source: Path, target: str) -> None:
    """Copy a file, or a folder with everything in it."""
    if source.is_file():
        phone.files.put(target, source.read_bytes())
        return
    for path in sorted(source.rglob("*")):
        if path.is_file():
            phone.files.put(f"{target.rstrip('/')}/{path.relative_to(source)}", path.read_bytes())


def add_contact(phone: Machine, contact: Contact) -> None:
    """Add a person to the address book.

    Source: Android's ``ContactsContract``: a raw contact, and a row of data for each of its parts.
    """
    insert_row(phone, _RAW_CONTACTS, {"account_type": "", "account_name": ""})
    listed = _run(phone, "content", "query", "--uri", _RAW_CONTACTS, "--projection", "_id")
    newest = max(int(number) for number in re.findall(r"_id=(\d+)", listed))
    parts = {"name": contact.name, "phone_v2": contact.phone, "email_v2": contact.email}
    for kind, value in parts.items():
        if value:
            mimetype = f"vnd.android.cursor.item/{kind}"
            row: Row = {"raw_contact_id": newest, "mimetype": mimetype, "data1": value}
            insert_row(phone, _CONTACT_DATA, row)


def insert_row(phone: Machine, uri: str, values: Row) -> None:
    """Add a row to a table of a content provider.

    Source: Android's ``content`` command; ``--bind NAME:TYPE:VALUE`` with s for text, i for int and
    l for long.

    Raises:
        ActionError: the provider refused it.
    """
    argv = ["content", "insert", "--uri", uri]
    for name, value in values.items():
        argv += ["--bind", f"{name}:{_type_of(value)}:{value}"]
    output = _run(phone, *argv)
    if "[ERROR]" in output or "Error while accessing provider" in output:
        raise ActionError(f"The phone refused a row of {uri}.", details=output.strip())


def add_account(phone: ReferencePhone, account: Account) -> None:
    """Add a local account, with a calendar of the same name.

    Source: Android's ``CalendarContract``: calendars of an account are written as its sync adapter.

    Raises:
        UnsupportedError: the phone is not Android's.
    """
    _require_android(phone, "accounts")
    query = (
        f"caller_is_syncadapter=true&account_name={quote(account.name)}"
        f"&account_type={quote(account.type)}"
    )
    row: Row = {
        "account_name": account.name,
        "account_type": account.type,
        "name": account.name,
        "calendar_displayName": account.name,
        "calendar_access_level": _OWNER_ACCESS,
        "ownerAccount": account.name,
        "visible": 1,
        "sync_events": 1,
    }
    insert_row(phone, f"{_CALENDARS}?{query}", row)


def install(phone: ReferencePhone, apk: Path) -> None:
    """Install an application.

    Raises:
        UnsupportedError: the phone is not Android's.
        ActionError: it was not installed.
    """
    _require_android(phone, "APKs")
    result = phone.device.adb("install", "-r", str(apk), timeout_s=stretched(_INSTALL_TIMEOUT_S))
    if result.exit_code != 0:
        raise _failure(phone, ("adb", "install", apk.name), result)


def _require_android(phone: ReferencePhone, what: str) -> None:
    if phone.info.backend == "reference-phone":
        raise UnsupportedError(
            f"The reference phone has no {what}: it runs no Android applications.",
            resolution="Use Android's emulator: MESOCOSM_PHONE=emulator.",
        )


def _run(phone: Machine, *argv: str) -> str:
    result = phone.run(argv, timeout_s=stretched(_TIMEOUT_S))
    if result.exit_code != 0:
        raise _failure(phone, argv, result)
    return result.text


def _failure(phone: Machine, argv: Sequence[str], result: CommandResult) -> ActionError:
    output = (result.stderr or result.stdout).decode(errors="replace").strip()
    return ActionError(
        f"{argv[0]} failed on {phone.info.machine_id}.",
        details=f"$ {shlex.join(argv)}\n{output}",
    )


def _type_of(value: str | int) -> str:
    if isinstance(value, str):
        return "s"
    return "i" if abs(value) < 1 << 31 else "l"
