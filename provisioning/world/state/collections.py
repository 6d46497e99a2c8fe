"""Calendars and address book of a persona as Radicale stores them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING

from provisioning.world.persona.model.calendar import Calendar, Event, Repeats
from provisioning.world.state.archive import StateFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from provisioning.world.persona.model.people import Contact
    from provisioning.world.persona.persona import Persona

CONTACTS = "contacts"
"""Name of the address book."""
_MAX_BYTES = 75


def collection_files(persona: Persona) -> Iterator[StateFile]:
    """Return the files of the calendars and of the address book."""
    now_s = int(persona.now.timestamp())
    home = f"dav/collection-root/{persona.person.email}"
    for calendar in Calendar:
        props = {
            "tag": "VCALENDAR",
            "D:displayname": calendar.value.title(),
            "C:supported-calendar-component-set": "VEVENT",
        }
        yield StateFile(f"{home}/{calendar}/.Radicale.props", json.dumps(props).encode(), now_s)
    contacts = {contact.id: contact for contact in persona.contacts}
    for event in persona.events:
        path = f"{home}/{event.calendar}/{event.id}.ics"
        yield StateFile(path, calendar_of(event, persona, contacts), now_s)
    props = {"tag": "VADDRESSBOOK", "D:displayname": CONTACTS.title()}
    yield StateFile(f"{home}/{CONTACTS}/.Radicale.props", json.dumps(props).encode(), now_s)
    for contact in persona.contacts:
        yield StateFile(f"{home}/{CONTACTS}/{contact.id}.vcf", card_of(contact), now_s)


def calendar_of(event: Event, persona: Persona, contacts: Mapping[str, Contact]) -> bytes:
    """Return an event as iCalendar (RFC 5545).

    Args:
        event: the event.
        persona: whose calendar it is in.
        contacts: contacts by id, for guests.
    """
    rows = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Mesocosm//World//EN",
        "BEGIN:VEVENT",
        f"UID:{event.id}",
        f"DTSTAMP:{_format_time(persona.now)}",
        *_times(event),
        f"SUMMARY:{_escape(event.title)}",
    ]
    if event.place:
        rows.append(f"LOCATION:{_escape(event.place)}")
    if event.notes:
        rows.append(f"DESCRIPTION:{_escape(event.notes)}")
    if event.guests:
        person = persona.person
        rows.append(f"ORGANIZER;CN={_quote(person.name)}:mailto:{person.email}")
        rows += [
            f"ATTENDEE;CN={_quote(contacts[guest].name)};ROLE=REQ-PARTICIPANT:mailto:{contacts[guest].email}"
            for guest in event.guests
        ]
    return _join([*rows, *_rule(event), "END:VEVENT", "END:VCALENDAR"])


def card_of(contact: Contact) -> bytes:
    """Return a contact as vCard 3.0 (RFC 2426)."""
    rows = [
        "BEGIN:VCARD",
        "VERSION:3.0",
        f"UID:{contact.id}",
        f"FN:{_escape(contact.name)}",
        f"N:{_escape(contact.family)};{_escape(contact.given)};;;",
        f"EMAIL;TYPE=INTERNET:{contact.email}",
        f"TEL;TYPE=CELL:{contact.phone}",
        f"CATEGORIES:{contact.group}",
        f"NOTE:{_escape(contact.relation)}",
    ]
    if contact.birthday is not None:
        rows.append(f"BDAY:{contact.birthday.isoformat()}")
    if contact.organisation:
        rows.append(f"ORG:{_escape(contact.organisation)}")
    if (address := contact.address) is not None:
        parts = ("", "", address.street, address.town, "", address.postcode, address.country)
        rows.append(f"ADR;TYPE=HOME:{';'.join(map(_escape, parts))}")
    return _join([*rows, "END:VCARD"])


def _times(event: Event) -> tuple[str, str]:
    if event.is_all_day:
        start, end = (f"{when:%Y%m%d}" for when in (event.start, event.end))
        return f"DTSTART;VALUE=DATE:{start}", f"DTEND;VALUE=DATE:{end}"
    return f"DTSTART:{_format_time(event.start)}", f"DTEND:{_format_time(event.end)}"


def _rule(event: Event) -> list[str]:
    if event.repeats is Repeats.NEVER:
        return []
    rule = f"RRULE:FREQ={event.repeats.upper()}"
    if event.until is not None:
        rule += f";UNTIL={_format_time(datetime.combine(event.until, time(23, 59, 59), UTC))}"
    return [rule]


def _format_time(when: datetime) -> str:
    return f"{when:%Y%m%dT%H%M%SZ}"


def _escape(text: str) -> str:
    """Return a text as a value (RFC 5545, 3.3.11)."""
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", "\\n")


def _quote(text: str) -> str:
    """Return a text as a parameter, which has no double quotes."""
    return '"' + text.replace('"', "'") + '"'


def _join(rows: Iterable[str]) -> bytes:
    """Return lines folded to `_MAX_BYTES` (RFC 5545, 3.1), never inside a character."""
    return b"".join(line + b"\r\n" for row in rows for line in _fold(row))


def _fold(row: str) -> Iterator[bytes]:
    line = b""
    for mark in row:
        data = mark.encode()
        if len(line) + len(data) > _MAX_BYTES:
            yield line
            line = b" "
        line += data
    yield line
