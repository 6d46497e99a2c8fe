"""Calendars and address book as web mail shows and changes them, through the world's CalDAV server."""

from __future__ import annotations

import base64
import http.client
import re
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from images.calendar_text import Card, Event, read_cards, read_events, write_event

if TYPE_CHECKING:
    from datetime import date

    from images.world.program.sites.accounts import Accounts

CALENDARS = ("private", "work", "birthdays")
_SERVER = ("127.0.0.1", 5232)
_OK = 200
_ID = re.compile(r"[A-Za-z0-9@._-]{1,200}", re.ASCII)


class Calendars:
    """The person's calendars and address book.

    Args:
        accounts: how to sign in.
    """

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def between(self, first: date, last: date) -> list[tuple[str, Event]]:
        """Return what takes place from one day to another, both included, with its calendar, by time."""
        found = [
            (calendar, event)
            for calendar in CALENDARS
            for whole in read_events(self._ask("GET", f"{calendar}/"))
            for event in whole.occurrences(last)
            if last_day(event) >= first and event.start.date() <= last
        ]
        return sorted(found, key=lambda pair: (pair[1].start, pair[1].title))

    def find(self, calendar: str, uid: str) -> Event | None:
        """Return an event; None if there is none."""
        events = read_events(self._ask("GET", f"{calendar}/"))
        return next((event for event in events if event.uid == uid), None)

    def add(self, calendar: str, event: Event) -> None:
        """Add an event."""
        data = write_event(event).encode()
        self._ask("PUT", f"{calendar}/{event.uid}.ics", data)

    def remove(self, calendar: str, uid: str) -> None:
        """Remove an event."""
        if _ID.fullmatch(uid) and calendar in CALENDARS:
            self._ask("DELETE", f"{calendar}/{uid}.ics")

    def contacts(self, query: str) -> list[Card]:
        """Return the contacts that have a text, by name."""
        wanted = query.casefold().strip()
        cards = read_cards(self._ask("GET", "contacts/"))
        found = [card for card in cards if wanted in f"{card.name} {card.emails}".casefold()]
        return sorted(found, key=lambda card: card.name)

    def _ask(self, method: str, path: str, data: bytes = b"") -> str:
        email, password = self._accounts.login
        login = base64.b64encode(f"{email}:{password}".encode()).decode()
        connection = http.client.HTTPConnection(*_SERVER, timeout=10)
        try:
            headers = {"Authorization": f"Basic {login}", "Content-Type": "text/calendar"}
            connection.request(method, f"/{email}/{path}", body=data, headers=headers)
            reply = connection.getresponse()
            text = reply.read().decode(errors="replace")
            return text if reply.status == _OK else ""
        finally:
            connection.close()


def new_id() -> str:
    """Return the id of a new event."""
    return f"{secrets.token_hex(8)}@mail.example"


def last_day(event: Event) -> date:
    """Return the last day of an event."""
    return (event.end - timedelta(seconds=1 if event.end > event.start else 0)).date()
