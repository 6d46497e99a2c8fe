"""Text messages and calls as rows.

Source: ``Telephony.Sms`` and ``CallLog.Calls`` for columns and types.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store

RECEIVED, SENT, DRAFT = 1, 2, 3
INCOMING, OUTGOING, MISSED, REJECTED = 1, 2, 3, 5
_NOT_DIALLED = re.compile(r"[\s().\-/]")
_OWN_DIGITS = 9


def plain_number(text: str) -> str:
    """Return a number without grouping characters."""
    return _NOT_DIALLED.sub("", text)


def is_same_number(number: str, other: str) -> bool:
    """Return whether two numbers are the same, with or without country code."""
    number, other = plain_number(number), plain_number(other)
    if number == other:
        return True
    tails = number[-_OWN_DIGITS:], other[-_OWN_DIGITS:]
    return tails[0] == tails[1] and len(tails[0]) == _OWN_DIGITS


def name_of(store: Store, number: str) -> str:
    """Return the name of the contact with a number, or the number itself if there is none."""
    for row in store.rows(
        "SELECT c.display_name, d.data1 FROM contact_data d JOIN contact c ON c._id=d.contact_id"
        " WHERE d.mimetype LIKE '%phone%' ORDER BY d._id"
    ):
        if is_same_number(row["data1"], number):
            return str(row["display_name"])
    return number


def find_thread(store: Store, address: str) -> int | None:
    """Return the ID of the conversation with a number, or None."""
    for row in store.rows("SELECT DISTINCT thread_id, address FROM sms ORDER BY thread_id"):
        if is_same_number(row["address"], address):
            return int(row["thread_id"])
    return None


def add_message(store: Store, address: str, body: str, kind: int, date_ms: int) -> int:
    """Add a message to the conversation with a number and return the row's ID.

    Args:
        store: the state.
        address: number of the other party.
        body: text of the message.
        kind: `RECEIVED` or `SENT`.
        date_ms: date, ms since the epoch.
    """
    thread = find_thread(store, address)
    if thread is None:
        thread = int(store.rows("SELECT coalesce(max(thread_id), 0) + 1 AS n FROM sms")[0]["n"])
    return store.insert(
        "INSERT INTO sms (thread_id, address, date, read, type, body) VALUES (?, ?, ?, ?, ?, ?)",
        (thread, address, date_ms, int(kind == SENT), kind, body),
    )


def list_threads(store: Store) -> list[Row]:
    """Return the last message of each conversation with its count of unread ones, newest first."""
    return store.rows(
        "SELECT s.*, (SELECT count(*) FROM sms u WHERE u.thread_id=s.thread_id AND u.read=0)"
        " AS unread FROM sms s WHERE s._id=(SELECT t._id FROM sms t WHERE t.thread_id=s.thread_id"
        " ORDER BY t.date DESC, t._id DESC LIMIT 1) ORDER BY s.date DESC, s._id DESC"
    )


def list_messages(store: Store, thread: int) -> list[Row]:
    """Return the messages of a conversation, oldest first."""
    return store.rows("SELECT * FROM sms WHERE thread_id=? ORDER BY date, _id", (thread,))


def mark_read(store: Store, thread: int) -> None:
    """Mark the messages of a conversation as read."""
    store.change("UPDATE sms SET read=1 WHERE thread_id=? AND read=0", (thread,))


def log_call(store: Store, number: str, kind: int, now_s: float, since_s: int | None) -> int:
    """Add an ended call to the log and return the row's ID.

    Args:
        store: the state.
        number: number of the other party.
        kind: `INCOMING`, `OUTGOING`, `MISSED` or `REJECTED`.
        now_s: current time, s since the epoch.
        since_s: when the call was accepted, s since the epoch; None if it was not.
    """
    name = name_of(store, number)
    length_s = 0 if since_s is None else max(0, int(now_s) - since_s)
    return store.insert(
        "INSERT INTO call (number, date, duration, type, name) VALUES (?, ?, ?, ?, ?)",
        (number, int(now_s * 1000), length_s, kind, "" if name == number else name),
    )


def list_calls(store: Store) -> list[Row]:
    """Return all calls, newest first."""
    return store.rows("SELECT * FROM call ORDER BY date DESC, _id DESC")
