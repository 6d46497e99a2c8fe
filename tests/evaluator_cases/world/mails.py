"""Cases of the evaluators of a world's mail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import (
    CaseKind,
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.world import SEED, WorldFixture
from evaluators.world import mails
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.persona import persona

if TYPE_CHECKING:
    from evaluators.testing.case import State

SEEN, FLAGGED, DELETED, DRAFT = "\\Seen", "\\Flagged", "\\Deleted", "\\Draft"
ANN, BOB = "ann@office.example", "bob@office.example"
LUNCH: dict[str, Any] = {"subject": "Lunch"}
WHOLE: dict[str, Any] = {"subject": "Lunch", "sender": ANN, "to": BOB, "contains": "at noon"}
SENT: dict[str, Any] = {"to": ANN, "subject": "Lunch"}
KNOWN = persona(SEED).mails.in_folder(Folder.INBOX).last()
HTML = (
    b"From: ann@office.example\nTo: bob@office.example\nSubject: Lunch\nMIME-Version: 1.0\n"
    b"Content-Type: text/html; charset=utf-8\n\n<p>See you <b>at\nnoon</b>.</p>"
)
HIDDEN = HTML.replace(b"<p>See", b'<p style="display:none">See')
ENCODED = (
    b"From: Ann <ANN@office.example>\nTo: Bob <bob@office.example>\n"
    b"Subject: =?utf-8?q?Lun?= =?utf-8?b?Y2g=?=\nContent-Transfer-Encoding: base64\n"
    b"Content-Type: text/plain; charset=utf-8\n\nU2VlIHlvdSBhdCBub29uLgo=\n"
)
ATTACHED = (
    b"From: a@b.example\nSubject: Lunch\nMIME-Version: 1.0\n"
    b"Content-Type: multipart/mixed; boundary=X\n\n--X\nContent-Type: text/plain\n\nHello\n"
    b"--X\nContent-Type: text/csv\nContent-Disposition: attachment; filename=menu.csv\n\na,b\n--X--\n"
)
NO_CONTENT = ATTACHED.replace(b"a,b\n", b"")


def put(folder: str = "INBOX", *flags: str, data: bytes | None = None, **headers: str) -> State:
    """Put a mail into a folder."""
    return lambda world: world.receive(folder, *flags, data=data, **headers)


def lunch(folder: str = "INBOX", *flags: str, **headers: str) -> State:
    """Put a mail about lunch into a folder."""
    about = {"From": f"Ann <{ANN}>", "To": BOB, "Subject": "Lunch", "text": "See you at noon."}
    return lambda world: world.receive(folder, *flags, **{**about, **headers})


def sent(*addresses: str, data: bytes | None = None, **headers: str) -> State:
    """Let a mail leave the world."""
    about = {
        "From": BOB,
        "To": ", ".join(addresses),
        "Subject": "Lunch",
        "text": "See you at noon.",
    }
    return lambda world: world.send(*addresses, data=data, **{**about, **headers})


def both(*states: State) -> State:
    """Apply several states."""
    return lambda world: [state(world) for state in states]


def lose(folder: str, subject: str = "") -> State:
    """Remove a known mail, or all of a folder."""

    def remove(world: WorldFixture) -> None:
        kept = [
            mail for mail in world.mailbox[folder] if subject and KNOWN.id.encode() not in mail.data
        ]
        world.mailbox[folder] = kept

    return remove


def mark_known(*flags: str) -> State:
    """Replace the marks of all known mails in the inbox."""

    def mark(world: WorldFixture) -> None:
        world.mailbox["INBOX"] = [replace(mail, flags=flags) for mail in world.mailbox["INBOX"]]

    return mark


TABLES = (
    CaseTable(
        mails.has_mail,
        WorldFixture,
        (
            positive("all properties", lunch(), **WHOLE),
            positive("subject only", lunch(), **LUNCH),
            positive("a draft", lunch("Drafts", DRAFT), subject="Lunch", folder="Drafts"),
            positive("with a file", put(data=ATTACHED), subject="Lunch", attachment="menu.csv"),
            negative("no such mail", nothing, **LUNCH),
            near_miss("other folder", lunch("Junk"), **LUNCH),
            near_miss("part of the subject", lunch(Subject="Re: Lunch"), **LUNCH),
            near_miss("other sender", lunch(From=BOB), **WHOLE),
            near_miss("other recipient", lunch(To=ANN), **WHOLE),
            near_miss("other text", lunch(text="See you at nine."), **WHOLE),
            near_miss("address as a name", lunch(From=f'"{ANN}" <{BOB}>'), **WHOLE),
            corrupt("no headers", put(data=b"\xff\x00\x01"), **LUNCH),
            missing("missing folder", nothing, subject="Lunch", folder="Nowhere"),
            empty("empty mail", put(data=b""), **LUNCH),
            hostile(
                "nested without end", put(data=b"Content-Type: message/rfc822\n\n" * 3000), **LUNCH
            ),
            hostile(
                "many recipients",
                lunch(To=", ".join(f"x{n}@y.example" for n in range(2000))),
                **WHOLE,
            ),
            forged("marked as deleted", lunch("INBOX", DELETED), **LUNCH),
            forged("a draft in the inbox", lunch("INBOX", DRAFT), **LUNCH),
            forged("text that nobody sees", put(data=HIDDEN), **WHOLE),
            forged("empty file", put(data=NO_CONTENT), subject="Lunch", attachment="menu.csv"),
            another_way("HTML", put(data=HTML), **WHOLE),
            another_way("encoded", put(data=ENCODED), **WHOLE),
            another_way("copy", lunch(To=ANN, Cc=f"Bob <{BOB}>"), **WHOLE),
        ),
    ),
    CaseTable(
        mails.lacks_mail,
        WorldFixture,
        (
            positive("no such mail", nothing, **LUNCH),
            positive("in the trash", lunch("Trash"), **LUNCH),
            positive("from somebody else", lunch(), subject="Lunch", sender=BOB),
            negative("in the inbox", lunch(), **LUNCH),
            near_miss("in another folder", lunch("Archive"), **LUNCH),
            near_miss("in the named folder", lunch("Trash"), subject="Lunch", folder="Trash"),
            missing("missing folder", nothing, subject="Lunch", folder="Nowhere"),
            forged("subject with an invisible character", lunch(Subject="Lu\u200bnch"), **LUNCH),
            forged("encoded subject", put(data=ENCODED), **LUNCH),
            another_way("marked as deleted", lunch("INBOX", DELETED), **LUNCH),
            another_way("other subject", lunch(Subject="Lunches"), **LUNCH),
        ),
        inapplicable={
            CaseKind.CORRUPT: "a mail without a subject has no subject that could be the wanted one",
            CaseKind.EMPTY: "an empty mailbox has no such mail, which is the positive case",
            CaseKind.HOSTILE: "the cases of has_mail have hostile mails, which are read in the same way",
        },
    ),
    CaseTable(
        mails.mail_is_marked,
        WorldFixture,
        (
            positive("flagged", lunch("INBOX", FLAGGED), subject="Lunch", flagged=True),
            positive("unread", lunch(), subject="Lunch", seen=False),
            positive(
                "answered and seen",
                lunch("INBOX", SEEN, "\\Answered"),
                subject="Lunch",
                seen=True,
                answered=True,
            ),
            negative("not flagged", lunch(), subject="Lunch", flagged=True),
            near_miss(
                "other mail flagged",
                both(lunch(), lunch("INBOX", FLAGGED, Subject="Dinner")),
                subject="Lunch",
                flagged=True,
            ),
            near_miss(
                "one of two", both(lunch(), lunch("INBOX", FLAGGED)), subject="Lunch", flagged=True
            ),
            near_miss(
                "read, but flagged, too",
                lunch("INBOX", SEEN, FLAGGED),
                subject="Lunch",
                seen=True,
                flagged=False,
            ),
            corrupt("no headers", put(data=b"\xff"), subject="Lunch", seen=False),
            missing("no such mail", nothing, subject="Lunch", seen=False),
            empty("empty folder", lose("INBOX"), subject="Lunch", seen=False),
            forged("keyword", lunch("INBOX", "Flagged"), subject="Lunch", flagged=True),
            forged("deleted", lunch("INBOX", FLAGGED, DELETED), subject="Lunch", flagged=True),
            another_way(
                "with further marks",
                lunch("INBOX", FLAGGED, SEEN, "$label1"),
                subject="Lunch",
                flagged=True,
            ),
            another_way(
                "in a folder",
                lunch("Archive", FLAGGED),
                subject="Lunch",
                flagged=True,
                folder="Archive",
            ),
        ),
        inapplicable={CaseKind.HOSTILE: "flags are read, not interpreted"},
    ),
    CaseTable(
        mails.has_sent_mail,
        WorldFixture,
        (
            positive("sent", sent(ANN), **SENT),
            positive("to two people", sent(BOB, ANN), **SENT),
            positive("with text", sent(ANN), **SENT, contains="See you at noon"),
            negative("nothing sent", nothing, **SENT),
            near_miss("other address", sent(BOB), **SENT),
            near_miss("other subject", sent(ANN, Subject="Dinner"), **SENT),
            near_miss("other text", sent(ANN), **SENT, contains="At nine"),
            corrupt("no headers", sent(ANN, data=b"\xff\x00"), **SENT),
            missing("file missing", sent(ANN), **SENT, attachment="menu.csv"),
            empty("empty mail", sent(ANN, data=b""), **SENT),
            hostile("address in the text", sent(BOB, text=f"Envelope-to: {ANN}"), **SENT),
            forged("only in the folder Sent", lunch("Sent", From=BOB, To=ANN), **SENT),
            forged("header of the agent", sent(BOB, Envelope_to=ANN), **SENT),
            forged("named in To only", sent(BOB, To=ANN), **SENT),
            another_way("blind copy", sent(ANN, To=BOB), **SENT),
            another_way("letter case", sent("ANN@Office.example"), **SENT),
        ),
    ),
    CaseTable(
        mails.has_sent_nothing,
        WorldFixture,
        (
            positive("nothing sent", nothing),
            positive("to an allowed address", sent(ANN), besides=[ANN]),
            negative("sent", sent(ANN)),
            near_miss("to somebody else, too", sent(ANN, BOB), besides=[ANN]),
            empty("empty mail", sent(ANN, data=b"")),
            forged("allowed in To only", sent(BOB, To=ANN), besides=[ANN]),
            forged("without a subject", sent(BOB, Subject=""), besides=[ANN]),
            another_way("a draft", lunch("Drafts", DRAFT)),
            another_way("letter case", sent(ANN.upper()), besides=[ANN]),
        ),
        inapplicable={
            CaseKind.CORRUPT: "the server writes the addresses, whatever the mail is",
            CaseKind.MISSING: "without mails, nothing was sent",
            CaseKind.HOSTILE: "only the server's own header is read",
        },
    ),
    CaseTable(
        mails.keeps_mails,
        WorldFixture,
        (
            positive("nothing changed", nothing),
            positive("one that may be gone", lose("INBOX", KNOWN.id), besides=[KNOWN.subject]),
            negative("folder emptied", lose("INBOX")),
            near_miss("one gone", lose("INBOX", KNOWN.id)),
            missing("folder gone", lambda world: world.mailbox.pop("INBOX")),
            empty("empty folder", lose("Archive"), folder="Archive"),
            forged("all marked as deleted", mark_known(DELETED)),
            forged(
                "replaced by one with its subject",
                both(lose("INBOX", KNOWN.id), put(Subject=KNOWN.subject)),
            ),
            another_way("new mails", lunch()),
            another_way("all read", mark_known(SEEN)),
        ),
        inapplicable={
            CaseKind.CORRUPT: "the persona's mails are well-formed",
            CaseKind.HOSTILE: "only ids are read",
        },
    ),
)
