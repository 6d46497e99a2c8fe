"""Calendars and address book as web mail shows and changes them, through the world's CalDAV server."""

from __future__ import annotations

import base64
import http.client
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.world.program.sites.accounts import Accounts

CALENDARS = ("private", "work", "birthdays")
_SERVER = ("127.0.0.1", 5232)
_OK = 200
_ID = re.compile(r"[A-Za-z0-9@._-]{1,200}", re.ASCII)
_STEPS = {"DAILY": timedelta(1), "WEEKLY": timedelta(7)}
_MAX_OCCURRENCES = 1000


@dataclass(frozen=True)
class Event:
    """An event, or one occurrence of it."""

    uid: str
    calendar: str
    title: str
    start: datetime
    end: datetime
    is_all_day: bool
    place: str
    notes: str
    guests: tuple[str, ...]
    repeats: str


@dataclass(frozen=True)
class Card:
    """A contact."""

    name: str
    email: str
    phone: str
    address: str


class Calendars:
    """The person's calendars and address book.

    Args:
        accounts: how to sign in.
    """

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def between(self, first: date, last: date) -> list[Event]:
        """Return what takes place from one day to another, both included, in the order of time."""
        found = [
            event
            for calendar in CALENDARS
            for event in self._events(calendar)
            for event in _occurrences(event, last)
            if event.end.date() >= first and event.start.date() <= last
        ]
        return sorted(found, key=lambda event: (event.start, event.title))

    def find(self, calendar: str, uid: str) -> Event | None:
        """Return an event; None if there is none."""
        return next((event for event in self._events(calendar) if event.uid == uid), None)

    def add(self, calendar: str, title: str, start: datetime, end: datetime, place: str) -> None:
        """Add an event."""
        uid = f"{secrets.token_hex(8)}@mail.example"
        rows = [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//World//Web mail//EN", "BEGIN:VEVENT",
            f"UID:{uid}", f"DTSTAMP:{start:%Y%m%dT%H%M%SZ}", f"DTSTART:{start:%Y%m%dT%H%M%SZ}",
            f"DTEND:{end:%Y%m%dT%H%M%SZ}", f"SUMMARY:{_escape(title)}",
        ]  # fmt: skip
        if place:
            rows.append(f"LOCATION:{_escape(place)}")
        data = "\r\n".join([*rows, "END:VEVENT", "END:VCALENDAR", ""]).encode()
        self._ask("PUT", f"{calendar}/{uid}.ics", data)

    def remove(self, calendar: str, uid: str) -> None:
        """Remove an event."""
        if _ID.fullmatch(uid) and calendar in CALENDARS:
            self._ask("DELETE", f"{calendar}/{uid}.ics")

    def contacts(self, query: str) -> list[Card]:
        """Return the contacts that have a text, by name."""
        wanted = query.casefold().strip()
        cards = [_card(rows) for rows in _components(self._ask("GET", "contacts/"), "VCARD")]
        found = [card for card in cards if wanted in f"{card.name} {card.email}".casefold()]
        return sorted(found, key=lambda card: card.name)

    def _events(self, calendar: str) -> list[Event]:
        rows = _components(self._ask("GET", f"{calendar}/"), "VEVENT")
        return [event for row in rows if (event := _event(row, calendar)) is not None]

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


def _occurrences(event: Event, last: date) -> Iterator[Event]:
    """Yield an event, and its repetitions until a day."""
    rule = dict(part.partition("=")[::2] for part in event.repeats.split(";"))
    until = (_time(rule.get("UNTIL", "")) or (None,))[0]
    current = event
    for _ in range(_MAX_OCCURRENCES):
        if current.start.date() > last or (until is not None and current.start > until):
            return
        yield current
        if (step := _next(current.start, rule.get("FREQ", ""))) is None:
            return
        moved = {"start": current.start + step, "end": current.end + step}
        current = Event(**{**vars(current), **moved})


def _next(start: datetime, frequency: str) -> timedelta | None:
    if frequency == "YEARLY":
        try:
            return start.replace(year=start.year + 1) - start
        except ValueError:  # 29 February
            return timedelta(365 * 4 + 1)
    return _STEPS.get(frequency)


def _components(text: str, kind: str) -> Iterator[list[tuple[str, str, str]]]:
    """Yield name, parameters and value of the lines of each component, without those inside it."""
    rows: list[tuple[str, str, str]] | None = None
    depth = 0
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines():
        head, _, value = line.partition(":")
        name, _, options = head.partition(";")
        if line == f"BEGIN:{kind}":
            rows, depth = [], 0
        elif rows is not None and line == f"END:{kind}":
            yield rows
            rows = None
        elif rows is not None:
            depth += (name == "BEGIN") - (name == "END")
            if not depth:
                rows.append((name.rpartition(".")[2].upper(), options, value))


def _event(rows: list[tuple[str, str, str]], calendar: str) -> Event | None:
    values = {name: value for name, _, value in reversed(rows)}
    options = {name: option for name, option, _ in reversed(rows)}
    start = _time(values.get("DTSTART", ""), options.get("DTSTART", ""))
    if start is None or values.get("STATUS", "").upper() == "CANCELLED":
        return None
    end = _time(values.get("DTEND", ""), options.get("DTEND", ""))
    last = end[0] if end else start[0] + timedelta(days=1 if start[1] else 0)
    return Event(
        uid=values.get("UID", ""),
        calendar=calendar,
        title=_plain(values.get("SUMMARY", "")),
        start=start[0],
        end=last - timedelta(seconds=1) if start[1] else last,
        is_all_day=start[1],
        place=_plain(values.get("LOCATION", "")),
        notes=_plain(values.get("DESCRIPTION", "")),
        guests=tuple(
            value.lower().removeprefix("mailto:") for name, _, value in rows if name == "ATTENDEE"
        ),
        repeats=values.get("RRULE", ""),
    )


def _card(rows: list[tuple[str, str, str]]) -> Card:
    values = {name: _plain(value) for name, _, value in reversed(rows)}
    address = ", ".join(part for part in values.get("ADR", "").split(";") if part)
    return Card(values.get("FN", ""), values.get("EMAIL", ""), values.get("TEL", ""), address)


def _time(text: str, options: str = "") -> tuple[datetime, bool] | None:
    """Return a time in UTC, and whether it is a whole day."""
    try:
        if len(text) == len("20260331"):
            return datetime.strptime(text, "%Y%m%d").replace(tzinfo=UTC), True
        when = datetime.strptime(text.removesuffix("Z"), "%Y%m%dT%H%M%S")  # noqa: DTZ007 - see below
        zone = re.search(r"TZID=\"?([^;\"]+)", options)
        own = ZoneInfo(zone[1]) if zone and not text.endswith("Z") else UTC
        return when.replace(tzinfo=own).astimezone(UTC), False
    except (ValueError, KeyError):
        return None


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda mark: "\n" if mark[1] in "nN" else mark[1], text)


def _escape(text: str) -> str:
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\r", "").replace("\n", "\\n")
