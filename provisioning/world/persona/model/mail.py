"""Mail, text messages and what they are about."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from provisioning.world.persona.model.base import Part, Record


class Folder(StrEnum):
    """A folder of the mailbox, by its name on the server."""

    INBOX = "INBOX"
    SENT = "Sent"
    DRAFTS = "Drafts"
    ARCHIVE = "Archive"
    JUNK = "Junk"
    TRASH = "Trash"


class Mailbox(Part):
    """Name and address in a header of a mail."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


class Mail(Record):
    """A mail.

    Attributes:
        thread: id of the first mail of the thread; its own id if it is the first.
        reply_to: id of the mail that it answers; empty if it answers none.
        folder: where it is.
        sender: who wrote it.
        to: recipients.
        sent: when it was sent, UTC.
        subject: its subject.
        body: plain text.
        is_read: whether the person has read it.
        is_flagged: whether the person marked it.
        attachments: paths of the person's files that are attached.
        about: id of the order, event or contact that it is about; empty if none.
    """

    thread: str
    reply_to: str
    folder: Folder
    sender: Mailbox
    to: tuple[Mailbox, ...]
    sent: datetime
    subject: str
    body: str
    is_read: bool
    is_flagged: bool
    attachments: tuple[str, ...]
    about: str


class TextMessage(Record):
    """A text message to or from a contact.

    Attributes:
        contact: id of the contact.
        is_sent: whether the person sent it.
        sent: when, UTC.
        text: its text.
        about: id of the event that it is about; empty if none.
    """

    contact: str
    is_sent: bool
    sent: datetime
    text: str
    about: str
