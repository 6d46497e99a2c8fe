"""Evaluators of messages in mailboxes, read over IMAP from the desktop.

Folders are opened read-only, so that reading does not mark messages as seen. At most 1 MiB of each
message is read, and the 500 newest messages of a folder; of those with the same subject, the 20
newest. Messages marked as deleted count as deleted. A duplicate header that must be unique is
ignored.
"""

from __future__ import annotations

import contextlib
import email
import email.parser
import email.policy
import imaplib
import itertools
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from evaluators.decorators import evaluator
from evaluators.desktop.errors import as_agent, asking
from evaluators.desktop.urls import MailboxUrl, mailbox_url
from evaluators.desktop.visible import html_text, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from email.message import EmailMessage
    from urllib.parse import SplitResult

    from provisioning.probe.guest import Guest

_TIMEOUT_S = 5.0
_MAX_MESSAGES = 500
_PORT = 143
_PORT_TLS = 993
_WHOLE = "BODY.PEEK[]<0.1048576>"
_HEADERS = "BODY.PEEK[HEADER]<0.65536>"
_MAX_HEADERS = 5000
_MAX_OF_A_SUBJECT = 20
_AT_ONCE = 50
_MAX_HEADER_CHARS = 2000
_MAX_NESTED = 50
_DELETED = "\\deleted"
_DRAFT = "\\draft"
_BROKEN = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions that the message parser raises for malformed messages."""


class Message(NamedTuple):
    r"""One message of a folder.

    Attributes:
        content: source of the message.
        flags: flags, such as ``\Seen``, in lower case.
    """

    content: bytes
    flags: frozenset[str]


@evaluator(on="desktop")
def mail_in_folder(
    guest: Guest,
    account: MailboxUrl,
    folder: str,
    subject: str,
    *,
    sender: str = "",
    text: str = "",
) -> bool:
    """Return whether a folder has a message with the given subject, and the given sender and text, if any.

    Proves the state, not who caused it: the account's owner can put any message into its folders.

    Example:
        ``{on: desktop, check: mail_in_folder, with: {account: "imap://ann:pass@mail.test", folder:
        Sent, subject: Lunch, text: "At noon?"}}``

    Args:
        guest: the desktop.
        account: ``imap://USER:PASSWORD@HOST:PORT``, or ``imaps:`` with TLS.
        folder: name of the folder, such as ``INBOX``; a missing folder is unmet.
        subject: the complete subject.
        sender: the only sender's address, without the name; empty matches any.
        text: the complete text of the message's HTML, or else its plain text; empty matches any. A
            line break counts as a space, because programs wrap lines differently.
    """
    return any(
        _DELETED not in message.flags and _holds(_has_text, message, sender, text)
        for message in _newest(guest, account, folder, subject)
    )


@evaluator(on="desktop")
def mail_sent_to(
    guest: Guest, account: MailboxUrl, folder: str, subject: str, recipients: list[str]
) -> bool:
    """Return whether a message with the given subject is addressed to exactly the given recipients.

    A draft is unmet. Proves the state, not who caused it: only the recipients' mailboxes prove that a
    message was sent, so check those.

    Example:
        ``{on: desktop, check: mail_sent_to, with: {account: "imap://bob:pass@mail.test", folder:
        INBOX, subject: Lunch, recipients: [bob@mail.test]}}``

    Args:
        guest: the desktop.
        account: ``imap://USER:PASSWORD@HOST:PORT``, or ``imaps:`` with TLS.
        folder: name of the folder; a missing folder is unmet.
        subject: the complete subject.
        recipients: addresses without names, in To, Cc and Bcc together; case-insensitive.
    """
    wanted = {recipient.strip().lower() for recipient in recipients}
    return any(
        not message.flags & {_DELETED, _DRAFT} and _holds(_is_to, message, wanted)
        for message in _newest(guest, account, folder, subject)
    )


@evaluator(on="desktop")
def mail_flagged(guest: Guest, account: MailboxUrl, folder: str, subject: str, flag: str) -> bool:
    r"""Return whether a folder has messages with the given subject, and all of them have a flag.

    A folder with more than 5000 messages is unmet. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: mail_flagged, with: {account: "imap://ann:pass@mail.test", folder:
        INBOX, subject: Lunch, flag: '\Seen'}}``

    Args:
        guest: the desktop.
        account: ``imap://USER:PASSWORD@HOST:PORT``, or ``imaps:`` with TLS.
        folder: name of the folder; a missing folder is unmet.
        subject: the complete subject.
        flag: ``\Seen``, ``\Answered``, ``\Flagged``, ``\Deleted``, or a keyword.
    """
    wanted = flag.lower()
    messages = list(_messages(guest, account, folder, _HEADERS, _MAX_HEADERS + 1))
    flags = [
        message.flags
        for message in messages
        if (wanted == _DELETED or _DELETED not in message.flags)
        and _holds(_is_about, message, subject)
    ]
    is_whole = len(messages) <= _MAX_HEADERS
    return is_whole and bool(flags) and all(wanted in marks for marks in flags)


def _newest(guest: Guest, account: str, folder: str, subject: str) -> Iterator[Message]:
    """Return the newest messages with a subject."""
    messages = _messages(guest, account, folder, _WHOLE, _MAX_MESSAGES)
    matching_messages = (message for message in messages if _holds(_is_about, message, subject))
    return itertools.islice(matching_messages, _MAX_OF_A_SUBJECT)


def _holds(condition: Callable[..., bool], message: Message, *arguments: object) -> bool:
    """Return whether a condition holds for a message; False if it cannot be parsed."""
    try:
        return condition(message.content, *arguments)
    except _BROKEN:
        return False


def _is_about(content: bytes, subject: str) -> bool:
    return _header(_headers(content), "Subject") == shown(subject)


def _has_text(content: bytes, sender: str, text: str) -> bool:
    if sender.strip() and _addresses(_headers(content), "From") != [sender.strip().lower()]:
        return False
    return not text.strip() or _text(content) == shown(text)


def _is_to(content: bytes, wanted: set[str]) -> bool:
    message = _headers(content)
    return {
        address for name in ("To", "Cc", "Bcc") for address in _addresses(message, name)
    } == wanted


def _messages(guest: Guest, account: str, folder: str, part: str, most: int) -> Iterator[Message]:
    """Iterate over the newest messages of a folder, in batches, newest batch first; empty if it does not exist.

    Args:
        guest: the desktop.
        account: URL of the mailbox.
        folder: name of the folder.
        part: part of each message to fetch.
        most: maximum number of messages.

    Raises:
        WrongArgumentError: `account` is not an IMAP URL.
        ObstructedError: a server on this desktop does not respond, or rejects the login.
        ServerError: another server does so.
    """
    parts = urlsplit(mailbox_url(account))
    with asking(parts.hostname or ""), _connection(guest, parts) as server:
        quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
        kind, count = server.select(f'"{quoted}"', readonly=True)
        total = int(count[0] or 0) if kind == "OK" else 0
        oldest = max(1, total - most + 1)
        for last in range(total, oldest - 1, -_AT_ONCE):
            first = max(oldest, last - _AT_ONCE + 1)
            _, rows = server.fetch(f"{first}:{last}", f"(FLAGS {part})")
            yield from _parse(rows)


def _parse(rows: Sequence[object]) -> Iterator[Message]:
    """Iterate over the messages in a reply, in which flags precede or follow the content."""
    for number, row in enumerate(rows):
        if isinstance(row, tuple):
            after = rows[number + 1 : number + 2]
            rest = b"".join(part for part in after if isinstance(part, bytes))
            flags = imaplib.ParseFlags(row[0] + rest)
            yield Message(
                row[1], frozenset(flag.decode("ascii", "replace").lower() for flag in flags)
            )


@contextlib.contextmanager
def _connection(guest: Guest, parts: SplitResult) -> Iterator[imaplib.IMAP4]:
    is_safe = parts.scheme == "imaps"
    port = parts.port or (_PORT_TLS if is_safe else _PORT)
    kind = imaplib.IMAP4_SSL if is_safe else imaplib.IMAP4
    with as_agent(guest):
        server = kind(parts.hostname or "", port, timeout=_TIMEOUT_S)
    try:
        server.login(unquote(parts.username or ""), unquote(parts.password or ""))
        yield server
    finally:
        with contextlib.suppress(OSError, imaplib.IMAP4.error):
            server.logout()


def _headers(content: bytes) -> EmailMessage:
    return email.parser.BytesHeaderParser(policy=email.policy.default).parsebytes(content)


def _header(message: EmailMessage, name: str) -> str:
    """Return a header as displayed; empty if it is missing or duplicated."""
    values = _values(message, name)
    return shown(str(message.get(name, ""))) if len(values) == 1 else ""


def _addresses(message: EmailMessage, name: str) -> list[str]:
    """Return the addresses in all headers of a name, in lower case."""
    headers = message.get_all(name, []) if _values(message, name) else []
    return [address.addr_spec.lower() for header in headers for address in header.addresses]


def _values(message: EmailMessage, name: str) -> list[str]:
    """Return the raw values of all headers of a name.

    Raises:
        ValueError: they are too long, because parsing takes quadratic time.
    """
    values = [str(value) for key, value in message.raw_items() if key.lower() == name.lower()]
    if sum(map(len, values)) > _MAX_HEADER_CHARS:
        raise ValueError("the header is too long")
    return values


def _text(source: bytes) -> str:
    """Return the displayed text of a message.

    Raises:
        ValueError: it has more than 50 nested messages, because parsing takes quadratic time.
    """
    if source.lower().count(b"boundary") > _MAX_NESTED:
        raise ValueError("the message is nested too deeply")
    message = email.message_from_bytes(source, policy=email.policy.default)
    body = message.get_body(("html", "plain"))
    if body is None:
        return ""
    content = str(body.get_content())
    if body.get_content_subtype() == "html":
        return html_text(content)
    kind = body["Content-Type"]  # the default is plain text
    is_joined = kind is not None and kind.params.get("delsp", "").lower() == "yes"
    return shown(content.replace("\r\n", "\n").replace(" \n", "") if is_joined else content)
