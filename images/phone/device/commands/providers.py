"""The providers behind ``content://`` addresses.

Source: Android's ``ContactsContract``. Google Tasks has no public provider; this phone's own is
``content://com.google.android.apps.tasks/tasks`` (also ``content://org.mesocosm.tasks/tasks``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError
from images.phone.device.commands.provider import Provider, Value
from images.phone.device.commands.tables import TABLES
from images.phone.device.store.contacts import (
    EMAIL,
    NAME,
    PHONE,
    ContactDraft,
    add_data,
    delete_contact,
    save_contact,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from images.phone.device.phone import Phone
    from images.phone.device.store.database import Row


def find_provider(uri: str) -> tuple[Provider, int | None] | None:
    """Return the provider of a URI, and the row's ID if the URI ends in one."""
    path = uri.removeprefix("content://").split("?")[0].strip("/")
    if not uri.startswith("content://"):
        return None
    if path in PROVIDERS:
        return PROVIDERS[path], None
    head, _, last = path.rpartition("/")
    return (PROVIDERS[head], int(last)) if head in PROVIDERS and last.isdigit() else None


def _tasks(phone: Phone) -> list[Row]:
    rows = phone.store.rows("SELECT * FROM task ORDER BY _id")
    return [{**row, "done": row["completed"]} for row in rows]


def _read_task(values: Mapping[str, Value]) -> dict[str, Value]:
    names = {"title": "title", "notes": "notes", "completed": "completed", "done": "completed"}
    for name in values:
        if name not in names:
            raise CommandError(f"[ERROR] no such column: {name}")
    read = {names[name]: value for name, value in values.items()}
    if "completed" in read:
        read["completed"] = int(str(read["completed"]).lower() in {"1", "true"})
    return read


def _insert_task(phone: Phone, values: Mapping[str, Value]) -> None:
    row = {"title": "", "notes": "", "completed": 0, **_read_task(values)}
    if not str(row["title"] or "").strip():
        raise CommandError("[ERROR] a task needs a title")
    phone.store.insert(
        "INSERT INTO task (title, notes, completed) VALUES (?, ?, ?)",
        (row["title"], row["notes"], row["completed"]),
    )


def _update_task(phone: Phone, task_id: int, values: Mapping[str, Value]) -> None:
    for name, value in _read_task(values).items():
        # The name is one of the three in _read_task.
        phone.store.change(f"UPDATE task SET {name}=? WHERE _id=?", (value, task_id))  # noqa: S608


def _delete_task(phone: Phone, task_id: int) -> None:
    phone.store.change("DELETE FROM task WHERE _id=?", (task_id,))


def _contacts(phone: Phone) -> list[Row]:
    return phone.store.rows("SELECT * FROM contact ORDER BY _id")


def _insert_contact(phone: Phone, values: Mapping[str, Value]) -> int:
    name = str(values.get("display_name") or values.get("name") or "")
    return save_contact(phone.store, ContactDraft(name)) if name else _insert_raw(phone)


def _insert_raw(phone: Phone) -> int:
    """Add a contact that gets its name from a data row, like Android's raw contacts."""
    return phone.store.insert("INSERT INTO contact (display_name) VALUES ('')")


def _update_contact(phone: Phone, contact_id: int, values: Mapping[str, Value]) -> None:
    for name, value in values.items():
        if name not in {"display_name", "starred"}:
            raise CommandError(f"[ERROR] no such column: {name}")
        phone.store.change(f"UPDATE contact SET {name}=? WHERE _id=?", (value, contact_id))  # noqa: S608


def _data(phone: Phone, kind: str = "") -> list[Row]:
    rows = phone.store.rows(
        "SELECT d._id, d.contact_id, d.contact_id AS raw_contact_id, d.mimetype, d.data1,"
        " c.display_name FROM contact_data d JOIN contact c ON c._id = d.contact_id ORDER BY d._id"
    )
    return [row for row in rows if not kind or row["mimetype"] == kind]


def _insert_data(phone: Phone, values: Mapping[str, Value]) -> None:
    """Add a data row; without an owner, add a contact with ``name``, ``phone``, ``email``."""
    owner = values.get("raw_contact_id", values.get("contact_id"))
    if owner is None:
        name = str(values.get("name") or "").strip()
        if not name:
            raise CommandError("[ERROR] raw_contact_id, or a name, is needed")
        number, email = (str(values.get(key) or "").strip() for key in ("phone", "email"))
        save_contact(
            phone.store,
            ContactDraft(name, (number,) if number else (), (email,) if email else ()),
        )
        return
    kind, value = str(values.get("mimetype", "")), str(values.get("data1") or "")
    if kind == NAME:
        phone.store.change("UPDATE contact SET display_name=? WHERE _id=?", (value, int(owner)))
    elif kind in {PHONE, EMAIL} and value:
        add_data(phone.store, int(owner), kind, value)
    else:
        raise CommandError(f"[ERROR] unsupported data: {kind}")


def _update_data(phone: Phone, data_id: int, values: Mapping[str, Value]) -> None:
    if set(values) != {"data1"}:
        raise CommandError("[ERROR] only data1 can be changed")
    phone.store.change("UPDATE contact_data SET data1=? WHERE _id=?", (values["data1"], data_id))


def _delete_data(phone: Phone, data_id: int) -> None:
    phone.store.change("DELETE FROM contact_data WHERE _id=?", (data_id,))


def _data_provider(kind: str = "") -> Provider:
    columns = ("_id", "contact_id", "raw_contact_id", "mimetype", "data1", "display_name")
    return Provider(
        columns, lambda phone: _data(phone, kind), _insert_data, _update_data, _delete_data
    )


_TASKS = Provider(
    ("_id", "title", "notes", "completed", "done"),
    _tasks,
    _insert_task,
    _update_task,
    _delete_task,
)
_CONTACTS = Provider(
    ("_id", "display_name", "starred"),
    _contacts,
    _insert_contact,
    _update_contact,
    lambda phone, number: delete_contact(phone.store, number),
)
PROVIDERS = {
    **TABLES,
    "com.google.android.apps.tasks/tasks": _TASKS,
    "org.mesocosm.tasks/tasks": _TASKS,
    "com.android.contacts/contacts": _CONTACTS,
    "com.android.contacts/raw_contacts": _CONTACTS,
    "com.android.contacts/data": _data_provider(),
    "com.android.contacts/data/phones": _data_provider(PHONE),
    "com.android.contacts/data/emails": _data_provider(EMAIL),
}
