"""The mailbox as web mail reads and changes it, through the IMAP and SMTP servers of the world."""

from __future__ import annotations

import contextlib
import imaplib
import re
import smtplib
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import format_datetime, formataddr, parseaddr, parsedate_to_datetime
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from images.world.program.sites.accounts import Accounts

IMAP, SMTP = ("127.0.0.1", 1143), ("127.0.0.1", 2587)
FOLDERS = ("INBOX", "Sent", "Drafts", "Archive", "Junk", "Trash")
PAGE_MAILS = 25
_ROW = re.compile(rb"UID (\d+)")
_FLAGS = re.compile(rb"FLAGS \(([^)]*)\)")
_HEADERS = "(UID FLAGS BODY.PEEK[HEADER.FIELDS (FROM TO SUBJECT DATE)])"


@dataclass(frozen=True)
class Row:
    """A mail in a list."""

    uid: str
    sender: str
    to: str
    subject: str
    date: str
    is_seen: bool
    is_flagged: bool


@dataclass(frozen=True)
class Opened:
    """A mail that is read."""

    row: Row
    address: str
    cc: str
    text: str
    files: tuple[str, ...]
    message_id: str
    references: str


class Mailbox:
    """The person's mailbox.

    Args:
        accounts: how to sign in.
        name: the person's name.
    """

    def __init__(self, accounts: Accounts, name: str) -> None:
        self._accounts = accounts
        self._name = name

    def rows(self, folder: str, query: str, page: int) -> tuple[list[Row], int]:
        """Return the mails of a page of a folder, the latest first, and how many there are."""
        with self._imap() as server:
            server.select(f'"{folder}"', readonly=True)
            uids = _search(server, query)
            shown = uids[::-1][page * PAGE_MAILS : (page + 1) * PAGE_MAILS]
            if not shown:
                return [], len(uids)
            rows = server.uid("FETCH", b",".join(shown).decode(), _HEADERS)[1]
            found = {row.uid: row for row in map(_row, _parts(rows))}
            return [found[uid.decode()] for uid in shown if uid.decode() in found], len(uids)

    def unread(self) -> int:
        """Return the number of unread mails in the inbox."""
        with self._imap() as server:
            answer = server.status("INBOX", "(UNSEEN)")[1][0] or b""
            return int(re.findall(rb"UNSEEN (\d+)", cast("bytes", answer))[0])

    def open(self, folder: str, uid: str) -> Opened | None:
        """Return a mail and mark it as read; None if there is none."""
        with self._imap() as server:
            server.select(f'"{folder}"')
            found = _parts(server.uid("FETCH", uid, "(UID FLAGS BODY[])")[1])
            return _opened(found[0]) if found else None

    def mark(self, folder: str, uid: str, flag: str, *, is_set: bool) -> None:
        """Set or remove a flag of a mail."""
        with self._imap() as server:
            server.select(f'"{folder}"')
            server.uid("STORE", uid, "+FLAGS" if is_set else "-FLAGS", f"({flag})")

    def move(self, folder: str, uid: str, target: str) -> None:
        """Move a mail to another folder; a mail of the trash that is moved there is deleted."""
        with self._imap() as server:
            server.select(f'"{folder}"')
            if folder != target:
                server.uid("COPY", uid, f'"{target}"')
            server.uid("STORE", uid, "+FLAGS", "(\\Deleted)")
            server.expunge()

    def send(self, form: dict[str, str], now: datetime, answered: tuple[str, str] | None) -> str:
        """Send a mail and keep it in the folder Sent.

        Args:
            form: the fields ``to``, ``cc``, ``subject``, ``text``.
            now: its time.
            answered: folder and UID of the mail that it answers.

        Returns:
            Why it was not sent; empty if it was.
        """
        email, password = self._accounts.login
        message = EmailMessage()
        try:
            message["From"] = formataddr((self._name, email))
            message["To"] = form.get("to", "")
            if form.get("cc", "").strip():
                message["Cc"] = form["cc"]
            message["Subject"] = form.get("subject", "")
            message["Date"] = format_datetime(now)
            self._thread(message, answered)
            message.set_content(form.get("text", "").replace("\r\n", "\n"))
            with smtplib.SMTP(*SMTP, local_hostname="mail.example", timeout=10) as server:
                server.login(email, password)
                server.send_message(message)
        except (smtplib.SMTPException, ValueError, IndexError) as exc:
            return f"The mail was not sent: check its recipients. ({type(exc).__name__})"
        with self._imap() as server:
            server.append("Sent", "(\\Seen)", imaplib.Time2Internaldate(now), message.as_bytes())
        if answered is not None:
            self.mark(*answered, "\\Answered", is_set=True)
        return ""

    def _thread(self, message: EmailMessage, answered: tuple[str, str] | None) -> None:
        before = None if answered is None else self.open(*answered)
        if before is not None and before.message_id:
            message["In-Reply-To"] = before.message_id
            message["References"] = f"{before.references} {before.message_id}".strip()

    @contextlib.contextmanager
    def _imap(self) -> Iterator[imaplib.IMAP4]:
        server = imaplib.IMAP4(*IMAP, timeout=10)
        try:
            server.login(*self._accounts.login)
            yield server
        finally:
            server.logout()


def _search(server: imaplib.IMAP4, query: str) -> list[bytes]:
    words = query.replace("\\", " ").replace('"', " ").split()
    if not words:
        return cast("bytes", server.uid("SEARCH", "ALL")[1][0] or b"").split()
    found: set[bytes] | None = None
    for word in words:
        server.literal = word.encode()  # type: ignore[assignment] # a literal may have any characters
        uids = set(
            cast("bytes", server.uid("SEARCH", "CHARSET", "UTF-8", "TEXT")[1][0] or b"").split()
        )
        found = uids if found is None else found & uids
    return sorted(found or (), key=int)


def _parts(rows: list[object]) -> list[tuple[bytes, bytes]]:
    return [cast("tuple[bytes, bytes]", row) for row in rows if isinstance(row, tuple)]


def _row(part: tuple[bytes, bytes]) -> Row:
    about, data = part
    message = message_from_bytes(data, policy=policy.default)
    uid = _ROW.search(about)
    flags = _FLAGS.search(about)
    marks = flags[1].split() if flags else []
    return Row(
        uid=uid[1].decode() if uid else "",
        sender=_person(str(message["From"] or "")),
        to=_person(str(message["To"] or "")),
        subject=str(message["Subject"] or "(no subject)"),
        date=_date(str(message["Date"] or "")),
        is_seen=b"\\Seen" in marks,
        is_flagged=b"\\Flagged" in marks,
    )


def _opened(part: tuple[bytes, bytes]) -> Opened:
    message = message_from_bytes(part[1], policy=policy.default)
    body = message.get_body(("plain", "html"))
    text = "" if body is None else body.get_content()
    if body is not None and body.get_content_subtype() == "html":
        text = re.sub(r"<[^>]*>", "", text)
    files = tuple(part.get_filename() or "file" for part in message.iter_attachments())
    return Opened(
        _row(part),
        parseaddr(str(message["From"] or ""))[1],
        str(message["Cc"] or ""),
        text,
        files,
        str(message["Message-ID"] or "").strip(),
        str(message["References"] or "").strip(),
    )


def _person(header: str) -> str:
    name, address = parseaddr(header)
    return name or address


def _date(header: str) -> str:
    try:
        return f"{parsedate_to_datetime(header):%Y-%m-%d %H:%M}"
    except ValueError:
        return ""
