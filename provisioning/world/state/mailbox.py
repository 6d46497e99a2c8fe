"""The mailbox of a persona as Maildir, with the lists of UIDs that Dovecot keeps."""

from __future__ import annotations

import hashlib
from email.charset import QP, Charset
from email.header import Header
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, formataddr
from typing import TYPE_CHECKING

from provisioning.world.persona.model.mail import Folder
from provisioning.world.state.archive import StateFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from email.message import Message

    from provisioning.world.persona.model.documents import File
    from provisioning.world.persona.model.mail import Mail, Mailbox
    from provisioning.world.persona.persona import Persona

MAILBOX = "mail"
"""Folder of the mailbox in the state."""
HOST = "mail.example"


def mailbox_files(persona: Persona) -> Iterator[StateFile]:
    """Return the files of the mailbox: mails, lists of UIDs, and the subscribed folders."""
    files = {file.path: file for file in persona.files}
    answered = {mail.reply_to for mail in persona.mails if mail.reply_to}
    now_s = int(persona.now.timestamp())
    names = []
    for folder in Folder:
        place = f"{MAILBOX}/" if folder is Folder.INBOX else f"{MAILBOX}/.{folder}/"
        mails = persona.mails.in_folder(folder)
        messages = [message_of(mail, files).as_bytes() for mail in mails]
        stems = [_stem(mail, data) for mail, data in zip(mails, messages, strict=True)]
        for mail, data, stem in zip(mails, messages, stems, strict=True):
            name = f"{stem}:2,{_flags(mail, is_answered=mail.id in answered)}"
            yield StateFile(f"{place}cur/{name}", data, int(mail.sent.timestamp()))
        yield StateFile(f"{place}dovecot-uidlist", _uid_list(persona, folder, stems), now_s)
        if folder is not Folder.INBOX:
            yield StateFile(f"{place}maildirfolder", b"", now_s)
            names.append(folder.value)
    subscriptions = "\n".join(["V\t2", "", *names, ""])
    yield StateFile(f"{MAILBOX}/subscriptions", subscriptions.encode(), now_s)


def mailbox_folders() -> Iterator[str]:
    """Return the folders that a Maildir has although they are empty."""
    for folder in Folder:
        place = MAILBOX if folder is Folder.INBOX else f"{MAILBOX}/.{folder}"
        yield from (f"{place}/{part}" for part in ("cur", "new", "tmp"))


def message_of(mail: Mail, files: Mapping[str, File]) -> Message:
    """Return a mail as it is sent.

    The older interface of `email` is used, as that of `EmailMessage` needs 3 ms a mail.

    Args:
        mail: the mail.
        files: the person's files by path, for attachments.
    """
    message: Message = _text_part(mail.body, "plain")
    if mail.attachments:
        parts = [message, *(_attachment(files[path]) for path in mail.attachments)]
        message = MIMEMultipart("mixed", f"=={mail.id}==", parts)
    message["From"] = _format_address(mail.sender)
    message["To"] = ", ".join(map(_format_address, mail.to))
    message["Subject"] = Header(mail.subject).encode()
    message["Date"] = format_datetime(mail.sent)
    message["Message-ID"] = message_id(mail.id)
    if mail.reply_to:
        message["In-Reply-To"] = message_id(mail.reply_to)
        references = dict.fromkeys((mail.thread, mail.reply_to))
        message["References"] = " ".join(map(message_id, references))
    return message


def message_id(mail_id: str) -> str:
    """Return the header of a mail that names it to the world."""
    return f"<{mail_id}@{HOST}>"


def _format_address(mailbox: Mailbox) -> str:
    return formataddr((mailbox.name, mailbox.email))


def _text_part(text: str, subtype: str) -> MIMEText:
    """Return a text that people can read in the mail's source, too."""
    if text.isascii():
        return MIMEText(text, subtype, "us-ascii")
    charset = Charset("utf-8")
    charset.body_encoding = QP
    return MIMEText(text, subtype, charset)  # type: ignore[arg-type] # typeshed: only names


def _attachment(file: File) -> MIMEText:
    part = _text_part(file.text, file.media_type.partition("/")[2])
    name = ("utf-8", "", file.path.rpartition("/")[2])
    part.add_header("Content-Disposition", "attachment", filename=name)
    return part


def _stem(mail: Mail, data: bytes) -> str:
    """Return the name of a mail's file, without flags; names sort by time."""
    return f"{int(mail.sent.timestamp())}.{mail.id}.{HOST},S={len(data)}"


def _flags(mail: Mail, *, is_answered: bool) -> str:
    """Return the flags in a file's name, in alphabetical order.

    Source: Maildir, "Reading a message".
    """
    flags = {
        "D": mail.folder is Folder.DRAFTS,
        "F": mail.is_flagged,
        "R": is_answered,
        "S": mail.is_read,
    }
    return "".join(flag for flag, is_set in flags.items() if is_set)


def _uid_list(persona: Persona, folder: Folder, stems: Sequence[str]) -> bytes:
    """Return Dovecot's list of UIDs, so that they are the same in every world of a persona.

    Source: Dovecot, "Maildir", the file dovecot-uidlist, version 3.
    """
    guid = hashlib.sha256(f"{persona.records.seed}/{folder}".encode()).hexdigest()[:32]
    validity = int(persona.now.timestamp())
    rows = [f"3 V{validity} N{len(stems) + 1} G{guid}"]
    rows += [f"{uid} :{stem}" for uid, stem in enumerate(stems, 1)]
    return "\n".join([*rows, ""]).encode()
