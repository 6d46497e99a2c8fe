"""Messages in mailboxes, read over IMAP from the desktop.

Folders are opened read-only, so that reading does not mark messages as seen. At most 1 MiB of each
message is read, and the 500 newest messages of a folder.
"""

from __future__ import annotations

import contextlib
import email
import email.policy
import imaplib
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from evaluators.decorators import evaluator
from evaluators.desktop.errors import asking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import EmailMessage
    from urllib.parse import SplitResult

    from provisioning.probe.guest import Guest

_TIMEOUT_S = 5.0
_MAX_MESSAGES = 500
_PORT = 143
_PORT_TLS = 993
_BROKEN = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the parser of messages raises on hostile ones."""
_PART = "BODY.PEEK[]<0.1048576>"


class Message(NamedTuple):
    r"""One message of a folder.

    Attributes:
        content: the parsed message.
        flags: such as ``\Seen``, lower case.
    """

    content: EmailMessage
    flags: frozenset[str]


@evaluator(on="desktop")
def mail_in_folder(
    guest: Guest, account: str, folder: str, subject: str, *, sender: str = "", text: str = ""
) -> bool:
    """Return whether a folder has a message with this subject, and with a sender and text if given.

    Example:
        ``{on: desktop, check: mail_in_folder, with: {account: "imap://ann:pass@mail.test", folder:
        Sent, subject: Lunch, text: "At noon?"}}``

    Args:
        guest: the desktop.
        account: ``imap://USER:PASSWORD@HOST:PORT``, or ``imaps:`` with TLS.
        folder: its name, such as ``INBOX``; a missing one is unmet.
        subject: the whole subject.
        sender: the sender's address, without the name; any when empty.
        text: the whole plain text, white space at its ends ignored; any when empty.
    """
    return any(
        _header(each, "Subject") == subject.strip()
        and sender.lower() in {"", *_addresses(each, "From")}
        and text.strip() in {"", _text(each)}
        for each in _messages(account, folder)
    )


@evaluator(on="desktop")
def mail_sent_to(
    guest: Guest, account: str, folder: str, subject: str, recipients: list[str]
) -> bool:
    """Return whether a message with this subject is addressed to exactly these people.

    Example:
        ``{on: desktop, check: mail_sent_to, with: {account: "imap://bob:pass@mail.test", folder:
        INBOX, subject: Lunch, recipients: [bob@mail.test]}}``

    Args:
        guest: the desktop.
        account: ``imap://USER:PASSWORD@HOST:PORT``, or ``imaps:`` with TLS.
        folder: its name; a missing one is unmet.
        subject: the whole subject.
        recipients: addresses without names, To and Cc together; case-insensitive.
    """
    wanted = sorted(each.lower() for each in recipients)
    return any(
        _header(each, "Subject") == subject.strip()
        and sorted([*_addresses(each, "To"), *_addresses(each, "Cc")]) == wanted
        for each in _messages(account, folder)
    )


@evaluator(on="desktop")
def mail_flagged(guest: Guest, account: str, folder: str, subject: str, flag: str) -> bool:
    r"""Return whether all messages with this subject in a folder have a flag; there must be one.

    Example:
        ``{on: desktop, check: mail_flagged, with: {account: "imap://ann:pass@mail.test", folder:
        INBOX, subject: Lunch, flag: '\Seen'}}``

    Args:
        guest: the desktop.
        account: ``imap://USER:PASSWORD@HOST:PORT``, or ``imaps:`` with TLS.
        folder: its name; a missing one is unmet.
        subject: the whole subject.
        flag: ``\Seen``, ``\Answered``, ``\Flagged``, or a keyword.
    """
    found = [
        each for each in _messages(account, folder) if _header(each, "Subject") == subject.strip()
    ]
    return bool(found) and all(flag.lower() in each.flags for each in found)


def _messages(account: str, folder: str) -> list[Message]:
    """Return the newest messages of a folder; an empty list when there is no such folder.

    Raises:
        ValueError: `account` is not an address of IMAP.
        ObstructedError: a server of this desktop does not answer, or refuses the login.
        ServerError: another server does.
    """
    parts = urlsplit(account)
    if parts.scheme not in {"imap", "imaps"} or not parts.hostname:
        raise ValueError("an account must be imap://USER:PASSWORD@HOST:PORT")
    with asking(parts.hostname):
        return _read(parts, folder)


def _read(parts: SplitResult, folder: str) -> list[Message]:
    with _connection(parts) as server:
        quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
        kind, count = server.select(f'"{quoted}"', readonly=True)
        total = int(count[0] or 0) if kind == "OK" else 0
        if not total:
            return []
        first = max(1, total - _MAX_MESSAGES + 1)
        _, rows = server.fetch(f"{first}:{total}", f"(FLAGS {_PART})")
    return [_parse(row) for row in rows if isinstance(row, tuple)]


def _parse(row: tuple[bytes, bytes]) -> Message:
    flags = frozenset(
        flag.decode("ascii", "replace").lower() for flag in imaplib.ParseFlags(row[0])
    )
    return Message(email.message_from_bytes(row[1], policy=email.policy.default), flags)


@contextlib.contextmanager
def _connection(parts: SplitResult) -> Iterator[imaplib.IMAP4]:
    is_safe = parts.scheme == "imaps"
    port = parts.port or (_PORT_TLS if is_safe else _PORT)
    server = (imaplib.IMAP4_SSL if is_safe else imaplib.IMAP4)(
        parts.hostname or "", port, timeout=_TIMEOUT_S
    )
    try:
        server.login(unquote(parts.username or ""), unquote(parts.password or ""))
        yield server
    finally:
        with contextlib.suppress(OSError, imaplib.IMAP4.error):
            server.logout()


def _header(message: Message, name: str) -> str:
    with contextlib.suppress(*_BROKEN):
        return " ".join(str(message.content.get(name, "")).split())
    return ""


def _addresses(message: Message, name: str) -> list[str]:
    with contextlib.suppress(*_BROKEN):
        header = message.content.get(name)
        return [each.addr_spec.lower() for each in getattr(header, "addresses", ())]
    return []


def _text(message: Message) -> str:
    with contextlib.suppress(*_BROKEN):
        body = message.content.get_body(("plain",))
        return "" if body is None else str(body.get_content()).replace("\r\n", "\n").strip()
    return ""
