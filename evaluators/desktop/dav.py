"""Evaluators of calendars and address books on a server, read from the desktop over CalDAV and CardDAV.

Source: RFC 4791 (``calendar-query``), RFC 6352 (``addressbook-query``), RFC 5545 and RFC 6350
(the data returned).
"""

from __future__ import annotations

import base64
import contextlib
import xml.etree.ElementTree as ET
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from evaluators.decorators import evaluator
from evaluators.desktop.errors import ObstructedError, asking
from evaluators.desktop.ical import components, events_in
from evaluators.desktop.reading import link_target
from evaluators.desktop.urls import ServiceUrl, service_url
from evaluators.desktop.visible import alike, shown
from evaluators.desktop.web import ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from urllib.parse import SplitResult

    from evaluators.desktop.ical import Event, Property
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
_CONTENT = {f"{{{_CALDAV}}}calendar-data", f"{{{_CARDDAV}}}address-data"}
_STATUS = "{DAV:}status"
_TOO_MANY = " 507"
_KINDS = {"KIND", "X-ADDRESSBOOKSERVER-KIND"}
_CARDS = f"""<?xml version="1.0" encoding="utf-8"?>
<C:addressbook-query xmlns:D="DAV:" xmlns:C="{_CARDDAV}">
<D:prop><C:address-data/></D:prop><C:filter/>
</C:addressbook-query>"""


class Collection(NamedTuple):
    """Contents of a calendar or address book.

    Attributes:
        texts: content of each member.
        is_whole: whether the server returned all members.
    """

    texts: list[str]
    is_whole: bool


@evaluator(on="desktop")
def calendar_has_event(
    guest: Guest,
    calendar: ServiceUrl,
    summary: str,
    start: str,
    *,
    end: str = "",
    location: str = "",
) -> bool:
    """Return whether a calendar on a server has an event with the given title and start.

    A time with an offset is compared as an instant. A time without an offset is compared with the
    event's local time, or with the desktop's local time if the event's time is in UTC. A date means
    an all-day event. Titles that look alike but differ in invisible characters are unmet. Only the first event of a series counts. A cancelled event is unmet, as is one
    with a duplicate property, such as its title. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: calendar_has_event, with: {calendar: "http://ann:pass@dav.test/ann/office/",
        summary: Dentist, start: "2026-11-24T09:30"}}``

    Args:
        guest: the desktop.
        calendar: URL of the collection, with user and password.
        summary: the complete title; surrounding white space is ignored.
        start: start in ISO 8601: ``2026-11-24``, ``2026-11-24T09:30``, ``2026-11-24T09:30+01:00``.
        end: end, likewise; empty matches any. For all-day events it is the day after the last. For
            an event with a duration or without an end, RFC 5545 defines the end.
        location: the complete location; empty matches any.

    Raises:
        ServerError, ValueError: the server does not support CalDAV (for a server on the desktop,
        the check is then unmet), or `start` or `end` is not a time.
    """
    first, last = _time(start), _time(end) if end else None
    own = _own_zone(guest)
    events = list(_events(_collection(guest, calendar, _EVENTS).texts))
    titles = (" ".join(title.split()) for event in events for title in event.texts("SUMMARY"))
    return len(alike(titles, " ".join(summary.split()))) == 1 and any(
        shown(event.text("SUMMARY")) == shown(summary)
        and event.takes_place()
        and (not location.strip() or shown(event.text("LOCATION")) == shown(location))
        and _is_at(event.start(), first, own)
        and (last is None or _is_at(event.end(), last, own))
        for event in events
    )


@evaluator(on="desktop")
def calendar_lacks_event(guest: Guest, calendar: ServiceUrl, summary: str) -> bool:
    """Return whether a calendar on a server exists and has no event with the given title.

    A cancelled event still counts. A calendar that the server returns only partially, or whose
    events cannot be parsed, is unmet. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: calendar_lacks_event, with: {calendar:
        "http://ann:pass@dav.test/ann/office/", summary: Dentist}}``

    Args:
        guest: the desktop.
        calendar: URL of the collection, with user and password.
        summary: the complete title; surrounding white space is ignored.

    Raises:
        ServerError: the server does not support CalDAV; for a server on the desktop, the check is
            unmet.
        ObstructedError: the calendar does not exist at the start of the trial; later the check is
            unmet.
    """
    collection = _collection(guest, calendar, _EVENTS, is_required=True)
    try:
        events = [event for text in collection.texts for event in events_in(text)]
    except ValueError:
        return False
    titles = {shown(title) for event in events for title in event.texts("SUMMARY") or [""]}
    return collection.is_whole and shown(summary) not in titles


@evaluator(on="desktop")
def address_book_has(
    guest: Guest, address_book: ServiceUrl, name: str, email: str = "", phone: str = ""
) -> bool:
    """Return whether an address book on a server has a contact with the given name.

    Names that look alike but differ in invisible characters are unmet. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: address_book_has, with: {address_book: "http://ann:pass@dav.test/ann/people/",
        name: Bob Ray, phone: +41 44 123 45 67}}``

    Args:
        guest: the desktop.
        address_book: URL of the collection, with user and password.
        name: the complete formatted name; surrounding white space is ignored.
        email: one of the contact's e-mail addresses, case-insensitive; empty matches any.
        phone: one of the contact's numbers; only its digits and a leading ``+`` (or ``00``) count;
            empty matches any.

    Raises:
        ServerError: the server does not support CardDAV; for a server on the desktop, the check is
            unmet.
    """
    cards = list(_cards(_collection(guest, address_book, _CARDS).texts))
    names = (" ".join(line.value.split()) for card in cards for line in card if line.name == "FN")
    return len(alike(names, " ".join(name.split()))) == 1 and any(
        shown(name) in {shown(line.value) for line in card if line.name == "FN"}
        and (not email.strip() or email.strip().lower() in _emails(card))
        and (not _digits(phone) or _digits(phone) in _phones(card))
        and not _is_group(card)
        for card in cards
    )


def _events(texts: list[str]) -> Iterator[Event]:
    for text in texts:
        with contextlib.suppress(ValueError):
            yield from events_in(text)


def _cards(texts: list[str]) -> Iterator[list[Property]]:
    for text in texts:
        with contextlib.suppress(ValueError):
            yield from components(text, "VCARD")


def _emails(card: list[Property]) -> set[str]:
    return {
        line.value.strip().lower().removeprefix("mailto:") for line in card if line.name == "EMAIL"
    }


def _phones(card: list[Property]) -> set[str]:
    return {_digits(line.value) for line in card if line.name == "TEL"}


def _is_group(card: list[Property]) -> bool:
    return any(
        line.name in _KINDS and line.value.strip().lower() not in {"", "individual", "org"}
        for line in card
    )


def _collection(guest: Guest, address: str, query: str, *, is_required: bool = False) -> Collection:
    """Return a collection; an empty one if it does not exist.

    Raises:
        ObstructedError: a server on this desktop does not support the protocol, or a required
            collection does not exist, although it did when the trial began.
        ServerError: another server does not support the protocol.
    """
    parts = urlsplit(service_url(address))
    with asking(parts.hostname or ""):
        collection = _query(guest, parts, address, query)
    if collection is None and is_required:
        raise ObstructedError("the collection does not exist")
    return collection or Collection([], is_whole=True)


def _query(guest: Guest, parts: SplitResult, address: str, query: str) -> Collection | None:
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    headers = {
        "Authorization": f"Basic {base64.b64encode(user.encode()).decode()}",
        "Content-Type": 'application/xml; charset="utf-8"',
        "Depth": "1",
    }
    answer = ask(guest, "REPORT", address, headers, query.encode())
    if answer.status == _NOT_FOUND:
        return None
    if answer.status == _MULTI_STATUS and answer.body is None:
        return Collection([], is_whole=False)
    if answer.status != _MULTI_STATUS or answer.body is None or b"<!DOCTYPE" in answer.body:
        raise ValueError(f"the server replied with status {answer.status} instead of a collection")
    try:
        root = ET.fromstring(answer.body)  # noqa: S314  (without a DTD no entities)
    except ET.ParseError as exc:
        raise ValueError(f"the server replied with malformed XML: {exc}") from exc
    texts = [node.text or "" for node in root.iter() if node.tag in _CONTENT]
    return Collection(texts, not any(_TOO_MANY in (node.text or "") for node in root.iter(_STATUS)))


def _time(text: str) -> date:
    """Parse a date or a time (a `datetime` is also a `date`)."""
    if len(text) == len("2026-11-24"):
        return date.fromisoformat(text)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _own_zone(guest: Guest) -> ZoneInfo | None:
    """Return the desktop's time zone; None if it is unknown."""
    target = link_target(guest, "/etc/localtime") or ""
    try:
        return ZoneInfo(target.partition("/zoneinfo/")[2])
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None


def _is_at(given: date | None, wanted: date, own: ZoneInfo | None) -> bool:
    if not isinstance(given, datetime) or not isinstance(wanted, datetime):
        return type(given) is type(wanted) and given == wanted
    if wanted.tzinfo is not None:
        return given.tzinfo is not None and given == wanted
    if given.tzinfo is timezone.utc:
        return own is not None and given.astimezone(own).replace(tzinfo=None) == wanted
    return given.replace(tzinfo=None) == wanted


def _digits(number: str) -> str:
    """Return a number's digits; a leading ``00`` becomes a plus."""
    kept = "".join(char for char in number if char in "+0123456789")
    digits = kept.replace("+", "")
    if kept.startswith("00"):
        return f"+{digits[2:]}"
    return f"+{digits}" if kept.startswith("+") else digits
