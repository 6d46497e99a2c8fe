r"""Evaluators of a world's mail, which ask its IMAP server, and read what left the world.

Folders are opened read-only. A mail marked as ``\Deleted`` counts as deleted. Subjects, names and
texts are compared as they read: white space, invisible characters and Unicode forms do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from imap_tools import MailMessage

from evaluators.decorators import evaluator
from evaluators.desktop.visible import html_text
from evaluators.world.texts import has_text, is_same_text
from provisioning.world.persona.model.mail import Folder
from provisioning.world.state.mailbox import message_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluators.world.records import StoredMail
    from evaluators.world.view import WorldView

_SEEN, _FLAGGED, _DELETED, _DRAFT, _ANSWERED = (
    "\\Seen", "\\Flagged", "\\Deleted", "\\Draft", "\\Answered",
)  # fmt: skip
_BROKEN = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions of parsers for malformed mails."""


class _Wanted(NamedTuple):
    """What a mail must have; empty texts match any mail."""

    subject: str
    sender: str = ""
    to: str = ""
    contains: str = ""
    attachment: str = ""

    @property
    def needs_body(self) -> bool:
        return bool(self.contains.strip() or self.attachment.strip())


@evaluator(on="world")
def has_mail(
    world: WorldView,
    subject: str,
    folder: str = "INBOX",
    *,
    sender: str = "",
    to: str = "",
    contains: str = "",
    attachment: str = "",
) -> bool:
    r"""Return whether a folder of the person's mailbox has a mail with the given properties.

    Drafts count only in the folder ``Drafts``. Proves the state, not who caused it: programs may
    put any mail into any folder; `has_sent_mail` proves that one was sent.

    Example:
        ``{on: world, check: has_mail, with: {subject: Lunch, sender: ann@office.example,
        contains: At noon}}``

    Args:
        world: the world.
        subject: the complete subject.
        folder: name of the folder; a missing folder is unmet.
        sender: the sender's address; empty matches any.
        to: the address of one of the recipients in To or Cc; empty matches any.
        contains: part of the text that the mail shows; empty matches any.
        attachment: name of an attached file; empty matches any mail.
    """
    wanted = _Wanted(subject, sender, to, contains, attachment)
    return any(True for _ in _find(world, folder, wanted))


@evaluator(on="world")
def lacks_mail(world: WorldView, subject: str, folder: str = "", sender: str = "") -> bool:
    r"""Return whether the person's mailbox has no mail with a subject, in one folder or in all.

    Example:
        ``{on: world, check: lacks_mail, with: {subject: Lottery, folder: INBOX}}``

    Args:
        world: the world.
        subject: the complete subject.
        folder: name of the folder, which must exist; empty for all folders but ``Trash``.
        sender: the sender's address; empty matches any.
    """
    known = world.folders()
    if folder and folder not in known:
        return False
    names = [folder] if folder else [name for name in known if name != Folder.TRASH]
    wanted = _Wanted(subject, sender)
    return not any(True for name in names for _ in _find(world, name, wanted))


@evaluator(on="world")
def mail_is_marked(
    world: WorldView,
    subject: str,
    folder: str = "INBOX",
    *,
    seen: bool | None = None,
    flagged: bool | None = None,
    answered: bool | None = None,
) -> bool:
    r"""Return whether a folder has mails with a subject, and all of them have the given marks.

    Example:
        ``{on: world, check: mail_is_marked, with: {subject: Lunch, flagged: true}}``

    Args:
        world: the world.
        subject: the complete subject.
        folder: name of the folder; a missing folder is unmet.
        seen: whether they were read; null matches any.
        flagged: whether they are flagged, or starred; null matches any.
        answered: whether they are marked as answered; null matches any.
    """
    expected = {_SEEN: seen, _FLAGGED: flagged, _ANSWERED: answered}
    found = list(_find(world, folder, _Wanted(subject)))
    return bool(found) and all(
        (flag in mail.flags) is value
        for mail in found
        for flag, value in expected.items()
        if value is not None
    )


@evaluator(on="world")
def has_sent_mail(
    world: WorldView, to: str, subject: str, contains: str = "", attachment: str = ""
) -> bool:
    """Return whether a mail was sent to somebody outside, through the world's SMTP server.

    Mails that the person had sent before the task begins do not count: they are only in the folder
    ``Sent``. A mail to the person stays inside: use `has_mail` for it.

    Example:
        ``{on: world, check: has_sent_mail, with: {to: ann@office.example, subject: "Re: Lunch"}}``

    Args:
        world: the world.
        to: the address that it was delivered to, whatever its headers name.
        subject: the complete subject.
        contains: part of the text that the mail shows; empty matches any.
        attachment: name of an attached file; empty matches any mail.
    """
    wanted = _Wanted(subject, contains=contains, attachment=attachment)
    return any(_matches(data, wanted) and _is_delivered_to(data, to) for data in world.outside())


@evaluator(on="world")
def has_sent_nothing(world: WorldView, besides: list[str] | None = None) -> bool:
    """Return whether no mail left the world, except to some addresses.

    Example:
        ``{on: world, check: has_sent_nothing, with: {besides: [ann@office.example]}}``

    Args:
        world: the world.
        besides: addresses to which mail may have been sent.
    """
    allowed = {address.strip().lower() for address in besides or ()}
    return all(_delivered(data) <= allowed for data in world.outside())


@evaluator(on="world")
def keeps_mails(world: WorldView, folder: str = "INBOX", besides: list[str] | None = None) -> bool:
    """Return whether a folder still has all mails that the persona had there.

    For nodes with ``mode: keep``. New mails, and marks, are no difference.

    Example:
        ``{on: world, check: keeps_mails, with: {folder: INBOX, besides: [Lottery]}}``

    Args:
        world: the world.
        folder: name of a folder that the persona has.
        besides: subjects of mails that may be gone.
    """
    allowed = besides or []
    wanted = {
        message_id(mail.id)
        for mail in world.persona.mails
        if mail.folder == folder and not any(is_same_text(mail.subject, name) for name in allowed)
    }
    there = {
        _header(mail.data, "message-id") for mail in world.mails(folder) if not _is_deleted(mail)
    }
    return wanted <= there


def _find(world: WorldView, folder: str, wanted: _Wanted) -> Iterator[StoredMail]:
    """Yield the mails of a folder with all properties."""
    heads = wanted._replace(contains="", attachment="")
    for mail in world.mails(folder):
        is_draft = _DRAFT in mail.flags and folder != Folder.DRAFTS
        if is_draft or _is_deleted(mail) or not _matches(mail.data, heads):
            continue
        data = world.mail(folder, mail.uid) if wanted.needs_body else mail.data
        if data is not None and _matches(data, wanted):
            yield mail


def _is_deleted(mail: StoredMail) -> bool:
    return _DELETED in mail.flags


def _matches(data: bytes, wanted: _Wanted) -> bool:
    """Return whether a mail has all properties; False if it cannot be parsed."""
    try:
        message = MailMessage.from_bytes(data)
        return (
            is_same_text(message.subject, wanted.subject)
            and _is_one(wanted.sender, [message.from_])
            and _is_one(wanted.to, [*message.to, *message.cc])
            and (not wanted.contains.strip() or has_text(_shown_text(message), wanted.contains))
            and (not wanted.attachment.strip() or wanted.attachment in _attached(message))
        )
    except _BROKEN:
        return False


def _is_one(address: str, addresses: Sequence[str]) -> bool:
    wanted = address.strip().lower()
    return not wanted or wanted in {known.strip().lower() for known in addresses}


def _shown_text(message: MailMessage) -> str:
    """Return the text that programs show: that of the HTML, or else the plain one."""
    return html_text(message.html) if message.html.strip() else message.text


def _attached(message: MailMessage) -> set[str]:
    """Return the names of attached files that are not empty."""
    return {part.filename for part in message.attachments if part.filename and part.payload}


def _is_delivered_to(data: bytes, address: str) -> bool:
    return address.strip().lower() in _delivered(data)


def _delivered(data: bytes) -> set[str]:
    """Return the addresses that the SMTP server delivered a mail to.

    It writes them into a header before those of the mail. Source: Exim specification,
    "envelope_to_add".
    """
    head = data.partition(b"\n\n")[0].decode(errors="replace")
    lines = [line for line in head.splitlines() if line.lower().startswith("envelope-to:")]
    addresses = lines[0].partition(":")[2] if lines else ""
    return {address.strip().lower() for address in addresses.split(",") if address.strip()}


def _header(data: bytes, name: str) -> str:
    try:
        values = MailMessage.from_bytes(data).headers.get(name, ())
    except _BROKEN:
        return ""
    return values[0].strip() if values else ""
