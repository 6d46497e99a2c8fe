"""Contacts as rows: a name, and its data of several kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store

# Source: ContactsContract.CommonDataKinds.
PHONE = "vnd.android.cursor.item/phone_v2"
EMAIL = "vnd.android.cursor.item/email_v2"
NAME = "vnd.android.cursor.item/name"


@dataclass(frozen=True)
class ContactDraft:
    """The details of one person."""

    name: str
    phones: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    starred: bool = False


def find_contacts(store: Store, text: str) -> list[Row]:
    """Return the contacts whose name, number or address contains a text, by name."""
    rows = store.rows("SELECT * FROM contact ORDER BY display_name COLLATE NOCASE, _id")
    if not text:
        return rows
    data = store.rows("SELECT contact_id, data1 FROM contact_data")
    wanted = text.casefold()
    hits = {row["contact_id"] for row in data if wanted in row["data1"].casefold()}
    return [row for row in rows if wanted in row["display_name"].casefold() or row["_id"] in hits]


def load_contact(store: Store, contact_id: int) -> ContactDraft | None:
    """Return one contact; None if it does not exist."""
    rows = store.rows("SELECT * FROM contact WHERE _id=?", (contact_id,))
    if not rows:
        return None
    data = store.rows("SELECT * FROM contact_data WHERE contact_id=? ORDER BY _id", (contact_id,))
    return ContactDraft(
        rows[0]["display_name"],
        tuple(row["data1"] for row in data if row["mimetype"] == PHONE),
        tuple(row["data1"] for row in data if row["mimetype"] == EMAIL),
        bool(rows[0]["starred"]),
    )


def save_contact(store: Store, draft: ContactDraft, contact_id: int | None = None) -> int:
    """Write a contact, replacing an old one if its ID is given; return the ID."""
    if contact_id is None:
        contact_id = store.insert("INSERT INTO contact (display_name) VALUES (?)", (draft.name,))
    store.change(
        "UPDATE contact SET display_name=?, starred=? WHERE _id=?",
        (draft.name, int(draft.starred), contact_id),
    )
    store.change("DELETE FROM contact_data WHERE contact_id=?", (contact_id,))
    for kind, values in ((PHONE, draft.phones), (EMAIL, draft.emails)):
        for value in values:
            add_data(store, contact_id, kind, value)
    return contact_id


def add_data(store: Store, contact_id: int, kind: str, value: str) -> int:
    """Add a number or address to a contact and return the row's ID."""
    return store.insert(
        "INSERT INTO contact_data (contact_id, mimetype, data1) VALUES (?, ?, ?)",
        (contact_id, kind, value),
    )


def delete_contact(store: Store, contact_id: int) -> int:
    """Delete a contact with all its data; return the number of deleted contacts."""
    return store.change("DELETE FROM contact WHERE _id=?", (contact_id,))
