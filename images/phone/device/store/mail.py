"""Mails as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store

INBOX, SENT, DRAFTS, TRASH = "inbox", "sent", "drafts", "trash"
OWN_ADDRESS = "user@phone.example"
"""Address of a phone that is not signed in to an account."""


class MailDraft(NamedTuple):
    """The content of a mail.

    Attributes:
        recipients: comma-separated addresses.
        subject: may be empty.
        body: may be empty.
    """

    recipients: str
    subject: str
    body: str


def own_address(store: Store) -> str:
    """Return the address that mail is sent from."""
    return store.setting("device", "account_email") or OWN_ADDRESS


def add_mail(store: Store, folder: str, sender: str, draft: MailDraft, date_ms: int) -> int:
    """Add a mail to a folder and return the row's ID.

    Args:
        store: the state.
        folder: `INBOX`, `SENT`, `DRAFTS` or `TRASH`.
        sender: address of the sender.
        draft: content of the mail.
        date_ms: date, ms since the epoch.
    """
    return store.insert(
        "INSERT INTO mail (folder, sender, recipients, subject, body, date, read)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (folder, sender, *draft, date_ms, int(folder != INBOX)),
    )


def list_mails(store: Store, folder: str, text: str = "") -> list[Row]:
    """Return the mails of a folder that contain a text, newest first."""
    rows = store.rows("SELECT * FROM mail WHERE folder=? ORDER BY date DESC, _id DESC", (folder,))
    wanted = text.casefold()
    names = ("sender", "recipients", "subject", "body")
    return [row for row in rows if any(wanted in str(row[name]).casefold() for name in names)]


def load_mail(store: Store, number: int) -> Row | None:
    """Return one mail; None if it does not exist."""
    rows = store.rows("SELECT * FROM mail WHERE _id=?", (number,))
    return rows[0] if rows else None


def move_mail(store: Store, number: int, folder: str) -> None:
    """Move a mail to another folder."""
    store.change("UPDATE mail SET folder=? WHERE _id=?", (folder, number))
