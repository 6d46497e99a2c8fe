"""Calendars and address books on a server, read from the desktop over CalDAV and CardDAV.

Source: RFC 4791 (``calendar-query``), RFC 6352 (``addressbook-query``), RFC 5545 and RFC 6350
(the data returned).
"""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from evaluators.decorators import evaluator
from evaluators.desktop.errors import asking
from evaluators.desktop.web import ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from urllib.parse import SplitResult

    from provisioning.probe.guest import Guest

_MULTI_STATUS = 207
_NOT_FOUND = 404
_CALDAV = "urn:ietf:params:xml:ns:caldav"
_CARDDAV = "urn:ietf:params:xml:ns:carddav"
_EVENTS = f"""<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="{_CALDAV}">
<D:prop><C:calendar-data/></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"/></C:comp-filter></C:filter>
</C:calendar-query>"""
_ESCAPED = re.compile(r"\\(.)")
_CARDS = f"""<?xml version="1.0" encoding="utf-8"?>
<C:addressbook-query xmlns:D="DAV:" xmlns:C="{_CARDDAV}">
<D:prop><C:address-data/></D:prop><C:filter/>
</C:addressbook-query>"""


class Property(NamedTuple):
    """One line of an event or a card.

    Attributes:
        name: upper case, without a group.
        options: value by name, such as ``TZID``, upper case.
        value: unescaped.
    """

    name: str
    options: dict[str, str]
    value: str


@evaluator(on="desktop")
def calendar_has_event(
    guest: Guest, calendar: str, summary: str, start: str, *, end: str = "", location: str = ""
) -> bool:
    """Return whether a calendar on a server has an event with this title and start.

    A time with an offset is compared as an instant. A time without one is compared with the event's
    local time, and events whose time is in UTC are then ignored. A date means an all-day event.

    Example:
        ``{on: desktop, check: calendar_has_event, with: {calendar: "http://ann:pass@dav.test/ann/office/",
        summary: Dentist, start: "2026-11-24T09:30"}}``

    Args:
        guest: the desktop.
        calendar: address of the collection, with user and password.
        summary: the whole title; white space around it is ignored.
        start: in ISO 8601: ``2026-11-24``, ``2026-11-24T09:30``, ``2026-11-24T09:30+01:00``.
        end: likewise; any when empty. For all-day events it is the day after the last.
        location: the whole place; any when empty.

    Raises:
        ServerError, ValueError: the server does not speak CalDAV (one of the desktop's own is then
            unmet), or `start` or `end` is not a time.
    """
    first, last = _time(start), _time(end) if end else None
    for event in _components(_collection(calendar, _EVENTS), "VEVENT"):
        values = {each.name: each.value.strip() for each in event}
        if (
            values.get("SUMMARY") == summary.strip()
            and location.strip() in {"", values.get("LOCATION")}
            and _is_at(event, "DTSTART", first)
            and (last is None or _is_at(event, "DTEND", last))
        ):
            return True
    return False


@evaluator(on="desktop")
def calendar_lacks_event(guest: Guest, calendar: str, summary: str) -> bool:
    """Return whether a calendar on a server exists and has no event with this title.

    Example:
        ``{on: desktop, check: calendar_lacks_event, with: {calendar:
        "http://ann:pass@dav.test/ann/office/", summary: Dentist}}``

    Args:
        guest: the desktop.
        calendar: address of the collection, with user and password.
        summary: the whole title; white space around it is ignored.

    Raises:
        ServerError: the server has no such calendar, or does not speak CalDAV; one of the desktop's
            own is unmet.
    """
    texts = _collection(calendar, _EVENTS)
    if texts is None:
        with asking(urlsplit(calendar).hostname or ""):
            raise ValueError("there is no such calendar")
    titles = [
        each.value.strip()
        for event in _components(texts, "VEVENT")
        for each in event
        if each.name == "SUMMARY"
    ]
    return summary.strip() not in titles


@evaluator(on="desktop")
def address_book_has(
    guest: Guest, address_book: str, name: str, email: str = "", phone: str = ""
) -> bool:
    """Return whether an address book on a server has a card with this name.

    Example:
        ``{on: desktop, check: address_book_has, with: {address_book: "http://ann:pass@dav.test/ann/people/",
        name: Bob Ray, phone: +41 44 123 45 67}}``

    Args:
        guest: the desktop.
        address_book: address of the collection, with user and password.
        name: the whole formatted name; white space around it is ignored.
        email: one of the card's addresses, case-insensitive; any when empty.
        phone: one of the card's numbers; only its digits and a leading ``+`` count; any when empty.

    Raises:
        ServerError: the server does not speak CardDAV; one of the desktop's own is unmet.
    """
    for card in _components(_collection(address_book, _CARDS), "VCARD"):
        emails = {each.value.strip().lower() for each in card if each.name == "EMAIL"}
        phones = {_digits(each.value) for each in card if each.name == "TEL"}
        if (
            name.strip() in {each.value.strip() for each in card if each.name == "FN"}
            and (not email or email.strip().lower() in emails)
            and (not phone or _digits(phone) in phones)
        ):
            return True
    return False


def _collection(address: str, query: str) -> list[str] | None:
    """Return the texts of a collection's members; None when there is no such collection.

    Raises:
        ObstructedError: a server of this desktop does not speak the protocol.
        ServerError: another server does not.
    """
    parts = urlsplit(address)
    with asking(parts.hostname or ""):
        return _query(parts, address, query)


def _query(parts: SplitResult, address: str, query: str) -> list[str] | None:
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    headers = {
        "Authorization": f"Basic {base64.b64encode(user.encode()).decode()}",
        "Content-Type": 'application/xml; charset="utf-8"',
        "Depth": "1",
    }
    answer = ask("REPORT", address, headers, query.encode())
    if answer.status == _NOT_FOUND:
        return None
    if answer.status != _MULTI_STATUS or answer.body is None or b"<!DOCTYPE" in answer.body:
        raise ValueError(f"the server replied with status {answer.status} instead of a collection")
    try:
        root = ET.fromstring(answer.body)  # noqa: S314  (without a DTD no entities)
    except ET.ParseError as exc:
        raise ValueError(f"the server replied with broken XML: {exc}") from exc
    tags = {f"{{{_CALDAV}}}calendar-data", f"{{{_CARDDAV}}}address-data"}
    return [each.text or "" for each in root.iter() if each.tag in tags]


def _components(texts: list[str] | None, wanted: str) -> Iterator[list[Property]]:
    """Return the properties of each component with a name, without those of nested components."""
    for text in texts or ():
        inside: list[str] = []
        found: list[Property] = []
        unfolded = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "")
        for line in unfolded.split("\n"):
            entry = _property(line)
            if entry.name == "BEGIN":
                inside.append(entry.value.upper())
                found = [] if inside[-1] == wanted else found
            elif entry.name == "END" and inside:
                if inside.pop() == wanted:
                    yield found
            elif inside[-1:] == [wanted]:
                found.append(entry)


def _property(line: str) -> Property:
    head, _, value = line.partition(":")
    name, *rest = head.split(";")
    options = {
        key.upper(): text.strip('"') for key, _, text in (each.partition("=") for each in rest)
    }
    value = _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], value)
    return Property(name.rpartition(".")[2].upper(), options, value)


def _time(text: str) -> date:
    """Parse a date, or a time (a `datetime` is a date as well)."""
    if len(text) == len("2026-11-24"):
        return date.fromisoformat(text)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _is_at(event: list[Property], name: str, wanted: date) -> bool:
    found = next((each for each in event if each.name == name), None)
    given = None if found is None else _given(found)
    if not isinstance(given, datetime) or not isinstance(wanted, datetime):
        return type(given) is type(wanted) and given == wanted
    if wanted.tzinfo is not None:
        return given.tzinfo is not None and given == wanted
    return given.tzinfo is not timezone.utc and given.replace(tzinfo=None) == wanted


def _given(entry: Property) -> date | None:
    text = entry.value.strip()
    try:
        if len(text) == len("20261124"):
            return datetime.strptime(text, "%Y%m%d").date()  # noqa: DTZ007  (a day has no zone)
        if text.endswith("Z"):
            return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
        zone = ZoneInfo(entry.options["TZID"]) if "TZID" in entry.options else None
        return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=zone)
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None


def _digits(number: str) -> str:
    kept = "".join(each for each in number if each in "+0123456789")
    return kept[:1] + kept[1:].replace("+", "")
