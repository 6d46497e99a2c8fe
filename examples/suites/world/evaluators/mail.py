"""Evaluators that ask the mail server of a world; they run on the host."""

from __future__ import annotations

import imaplib
from typing import TYPE_CHECKING

from mesocosm import evaluator, persona

if TYPE_CHECKING:
    from mesocosm import CrossView

IMAP = 143


@evaluator(on="session")
def has_all_mails(session: CrossView, role: str, seed: int) -> bool:
    """Return whether all mails that the person's inbox had are in it.

    Example:
        ``{on: session, check: has_all_mails, with: {role: world, seed: 7}}``

    Args:
        session: reaches the world.
        role: role of the world.
        seed: seed of the world.
    """
    someone = persona(seed)
    with imaplib.IMAP4(*session.endpoint(role, IMAP), timeout=10) as server:
        server.login(someone.person.email, someone.person.password)
        server.select("INBOX", readonly=True)
        _, rows = server.fetch("1:*", "(BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])")
    there = b"".join(row[1] for row in rows if isinstance(row, tuple)).decode()
    return all(mail.id in there for mail in someone.mails if mail.folder == "INBOX")
