"""Synchronise mail: the latest mails of Inbox, Sent and Trash, by IMAP and SMTP."""

from __future__ import annotations

import contextlib
import imaplib
import re
import smtplib
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import formatdate, parseaddr, parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple, cast

from images.phone.device.store.mail import INBOX, SENT, TRASH
from images.phone.device.sync.account import (
    HERE,
    TIMEOUT_S,
    Known,
    drop_known,
    list_known,
    put_known,
    writing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.phone.device.phone import Phone
    from images.phone.device.store.database import Row
    from images.phone.device.sync.account import Account

KIND = "mail"
FOLDERS = {"INBOX": INBOX, "Sent": SENT, "Trash": TRASH}
LATEST = 200
"""Mails that are kept of each folder."""
_IMAP_PORT, _SMTP_PORT = 143, 587
_ROW = re.compile(rb"UID (\d+)")
_FLAGS = re.compile(rb"FLAGS \(([^)]*)\)")
_APPENDED = re.compile(rb"APPENDUID \d+ (\d+)")


class _Mail(NamedTuple):
    """A mail on the server."""

    folder: str
    sender: str
    recipients: str
    subject: str
    body: str
    date_ms: int


class MailSync:
    """Synchronises mail of one account.

    Args:
        phone: the phone.
        account: the account.
        epoch: first part of the version of the state that is synchronised.
    """

    def __init__(self, phone: Phone, account: Account, epoch: int) -> None:
        self._phone = phone
        self._epoch = epoch
        self._account = account
        self._seen: dict[str, bytes] = {}

    def run(self) -> None:
        """Send what was changed on the phone, then fetch what was changed on the server.

        Raises:
            OSError, imaplib.IMAP4.error, smtplib.SMTPException: the servers do not answer.
        """
        with self._imap() as server:
            self._push(server)
            for folder in FOLDERS:
                self._pull(server, folder)

    def _push(self, server: imaplib.IMAP4) -> None:
        with self._phone.lock:
            known = list_known(self._phone.store, KIND)
            rows = {row["_id"]: row for row in self._phone.store.rows("SELECT * FROM mail")}
        for entry in known:
            row = rows.get(entry.local)
            if row is None or digest_of(row) != entry.digest:
                self._change(server, entry, row)
        sent = {entry.local for entry in known}
        for row in rows.values():
            if row["folder"] == SENT and row["_id"] not in sent:
                self._send(server, row)

    def _change(self, server: imaplib.IMAP4, entry: Known, row: Row | None) -> None:
        """Mark, move or delete a mail on the server as on the phone."""
        folder, _, uid = entry.remote.partition("/")
        server.select(folder)
        if row is not None and FOLDERS[folder] == row["folder"]:
            for flag, is_set in (("\\Seen", row["read"]), ("\\Flagged", row["starred"])):
                server.uid("STORE", uid, "+FLAGS" if is_set else "-FLAGS", f"({flag})")
            with writing(self._phone, self._epoch):
                put_known(self._phone.store, KIND, Known(entry.local, entry.remote, digest_of(row)))
            return
        if row is not None:
            target = next((name for name, own in FOLDERS.items() if own == row["folder"]), "Trash")
            server.uid("COPY", uid, target)
        server.uid("STORE", uid, "+FLAGS", "(\\Deleted)")
        server.expunge()
        with writing(self._phone, self._epoch):  # a moved mail is fetched again from its new folder
            drop_known(self._phone.store, KIND, entry.remote)
            self._phone.store.change("DELETE FROM mail WHERE _id=?", (entry.local,))

    def _send(self, server: imaplib.IMAP4, row: Row) -> None:
        message = EmailMessage()
        message["From"] = self._account.email
        message["To"] = row["recipients"]
        message["Subject"] = row["subject"]
        message["Date"] = formatdate(row["date"] / 1000)
        message.set_content(row["body"])
        with smtplib.SMTP(HERE, _SMTP_PORT, "phone.example", TIMEOUT_S) as smtp:
            smtp.login(self._account.email, self._account.password)
            smtp.send_message(message)
        when = imaplib.Time2Internaldate(row["date"] / 1000)
        _, answer = server.append("Sent", "(\\Seen)", when, message.as_bytes())
        uid = _APPENDED.search(answer[0])
        if uid is not None:
            with writing(self._phone, self._epoch):
                remote = f"Sent/{uid[1].decode()}"
                put_known(self._phone.store, KIND, Known(row["_id"], remote, digest_of(row)))

    def _pull(self, server: imaplib.IMAP4, folder: str) -> None:
        status = cast("bytes", server.status(folder, "(MESSAGES UIDNEXT HIGHESTMODSEQ)")[1][0])
        if self._seen.get(folder) == status:
            return
        server.select(folder, readonly=True)
        everything = _parts(server.uid("FETCH", "1:*", "(UID FLAGS)")[1])
        marks = {uid: flags for uid, flags, _ in everything}
        latest = sorted(marks, key=int)[-LATEST:]
        with self._phone.lock:
            known = {
                entry.remote.partition("/")[2]: entry
                for entry in list_known(self._phone.store, KIND)
                if entry.remote.startswith(f"{folder}/")
            }
        new = [uid for uid in latest if uid not in known]
        bodies = []
        if new:
            bodies = _parts(server.uid("FETCH", ",".join(new), "(UID FLAGS BODY.PEEK[])")[1])
        mails = [(uid, flags, _read(data, FOLDERS[folder])) for uid, flags, data in bodies]
        with writing(self._phone, self._epoch):
            for uid, flags, mail in mails:
                self._insert(f"{folder}/{uid}", flags, mail)
            for uid, entry in known.items():
                self._update(entry, marks.get(uid))
        self._seen[folder] = status

    def _insert(self, remote: str, flags: frozenset[str], mail: _Mail) -> None:
        read, starred = int("\\Seen" in flags), int("\\Flagged" in flags)
        local = self._phone.store.insert(
            "INSERT INTO mail (folder, sender, recipients, subject, body, date, read, starred)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*mail, read, starred),
        )
        row = {"folder": mail.folder, "read": read, "starred": starred}
        put_known(self._phone.store, KIND, Known(local, remote, digest_of(row)))

    def _update(self, entry: Known, flags: frozenset[str] | None) -> None:
        """Change a row as the mail on the server, unless it was changed on the phone meanwhile."""
        store = self._phone.store
        rows = store.rows("SELECT * FROM mail WHERE _id=?", (entry.local,))
        if not rows or digest_of(rows[0]) != entry.digest:
            return
        if flags is None:
            store.change("DELETE FROM mail WHERE _id=?", (entry.local,))
            drop_known(store, KIND, entry.remote)
            return
        values = int("\\Seen" in flags), int("\\Flagged" in flags)
        store.change("UPDATE mail SET read=?, starred=? WHERE _id=?", (*values, entry.local))
        row = {**rows[0], "read": values[0], "starred": values[1]}
        put_known(store, KIND, Known(entry.local, entry.remote, digest_of(row)))

    @contextlib.contextmanager
    def _imap(self) -> Iterator[imaplib.IMAP4]:
        server = imaplib.IMAP4(HERE, _IMAP_PORT, TIMEOUT_S)
        try:
            server.login(self._account.email, self._account.password)
            yield server
        finally:
            server.logout()


def digest_of(row: Row) -> str:
    """Return what can be changed of a mail."""
    return f"{row['folder']} {row['read']} {row['starred']}"


def _parts(rows: list[object]) -> list[tuple[str, frozenset[str], bytes]]:
    """Return UID, flags and source of fetched mails."""
    found = []
    for row in rows:
        about, data = row if isinstance(row, tuple) else (row, b"")
        uid, flags = _ROW.search(about or b""), _FLAGS.search(about or b"")
        if uid is not None:
            marks = frozenset((flags[1] if flags else b"").decode().split())
            found.append((uid[1].decode(), marks, data))
    return found


def _read(data: bytes, folder: str) -> _Mail:
    message = message_from_bytes(data, policy=policy.default)
    try:
        date_ms = int(parsedate_to_datetime(str(message["Date"])).timestamp() * 1000)
    except ValueError:
        date_ms = 0
    body = message.get_body(("plain", "html"))
    text = "" if body is None else str(body.get_content())
    if body is not None and body.get_content_subtype() == "html":
        text = re.sub(r"<[^>]*>", "", text)
    sender = parseaddr(str(message["From"] or ""))[1]
    people = [address.addr_spec for address in message["To"].addresses] if message["To"] else []
    subject = str(message["Subject"] or "")
    return _Mail(folder, sender, ", ".join(people), subject, text.rstrip("\n"), date_ms)
