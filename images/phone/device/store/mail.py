"""Mails as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store

INBOX, SENT, DRAFTS, TRASH = "inbox", "sent", "drafts", "trash"
OWN_ADDRESS = "user@phone.example"


class MailDraft(NamedTuple):
    """What is written.

    Attributes:
        recipients: addresses, divided by commas.
        subject: may be empty.
        body: may be empty.
    """

    recipients: str
    subject: str
    body: str


def add_mail(store: Store, folder: str, sender: str, draft: MailDraft, date_ms: int) -> int:
    """Put a mail into a folder; return the row's id.

    Args:
        store: the state.
        folder: `INBOX`, `SENT`, `DRAFTS` or `TRASH`.
        sender: address.
        draft: what is written.
        date_ms: since the epoch.
    """
    return store.insert(
        "INSERT INTO mail (folder, sender, recipients, subject, body, date, read)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (folder, sender, *draft, date_ms, int(folder != INBOX)),
    )


def list_mails(store: Store, folder: str, text: str = "") -> list[Row]:
    """Return the mails of a folder that hold a text, newest first."""
    rows = store.rows("SELECT * FROM mail WHERE folder=? ORDER BY date DESC, _id DESC", (folder,))
    wanted = text.casefold()
    names = ("sender", "recipients", "subject", "body")
    return [row for row in rows if any(wanted in str(row[name]).casefold() for name in names)]


def load_mail(store: Store, number: int) -> Row | None:
    """Return one mail; None when there is none."""
    rows = store.rows("SELECT * FROM mail WHERE _id=?", (number,))
    return rows[0] if rows else None


def move_mail(store: Store, number: int, folder: str) -> None:
    """Put a mail into another folder."""
    store.change("UPDATE mail SET folder=? WHERE _id=?", (folder, number))
