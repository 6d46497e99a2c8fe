"""Read and write calendar objects and contact cards as text, for programs in images.

Source: RFC 5545 and RFC 2426, which share the format of lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

UTC = timezone.utc  # noqa: UP017 - 3.10
_STEPS = {"DAILY": timedelta(1), "WEEKLY": timedelta(7)}
_MAX_OCCURRENCES = 1000


@dataclass(frozen=True)
class Event:
    """An event, or one occurrence of it.

    Attributes:
        uid: its id.
        title: its title.
        start: when it starts, UTC.
        end: when it ends, UTC; exclusive.
        is_all_day: whether it lasts whole days.
        place: where.
        notes: description.
        guests: addresses of the people who are invited.
        rule: how it repeats; empty if it does not.
        excluded: starts of its repetitions that do not take place, or are changed, UTC.
        instance: of a changed repetition, when it would have started, UTC; None of others.
    """

    uid: str
    title: str
    start: datetime
    end: datetime
    is_all_day: bool
    place: str
    notes: str
    guests: tuple[str, ...]
    rule: str
    excluded: tuple[datetime, ...] = ()
    instance: datetime | None = None

    def occurrences(self, last: date) -> Iterator[Event]:
        """Yield the event, and its repetitions until a day."""
        rule = dict(part.partition("=")[::2] for part in self.rule.split(";"))
        until = (_time(rule.get("UNTIL", "")) or (None,))[0]
        current = self
        for _ in range(_MAX_OCCURRENCES):
            if current.start.date() > last or (until is not None and current.start > until):
                return
            if current.start not in self.excluded:
                yield current
            if (step := _next(current.start, rule.get("FREQ", ""))) is None:
                return
            current = replace(current, start=current.start + step, end=current.end + step)


@dataclass(frozen=True)
class Card:
    """A contact."""

    uid: str
    name: str
    emails: tuple[str, ...]
    phones: tuple[str, ...]
    address: str


def read_events(text: str) -> list[Event]:
    """Return the events of a calendar that take place; changed repetitions are events of their own."""
    found = [event for rows in components(text, "VEVENT") if (event := _event(rows)) is not None]
    changed: dict[str, tuple[datetime, ...]] = {}
    for event in found:
        if event.instance is not None:
            changed[event.uid] = (*changed.get(event.uid, ()), event.instance)
    return [
        replace(event, excluded=event.excluded + changed.get(event.uid, ()))
        if event.rule
        else event
        for event in found
    ]


def read_cards(text: str) -> list[Card]:
    """Return the contacts of an address book."""
    cards = []
    for rows in components(text, "VCARD"):
        values = {name: plain(value) for name, _, value in reversed(rows)}
        every = {
            name: tuple(plain(value) for key, _, value in rows if key == name)
            for name in ("EMAIL", "TEL")
        }
        address = ", ".join(part for part in values.get("ADR", "").split(";") if part)
        uid, name = values.get("UID", ""), values.get("FN", "")
        cards.append(Card(uid, name, every["EMAIL"], every["TEL"], address))
    return cards


def write_event(event: Event) -> str:
    """Return an event as a calendar object; it does not repeat."""
    return "\r\n".join(
        [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//World//EN", "BEGIN:VEVENT",
            f"UID:{event.uid}", f"DTSTAMP:{event.start:%Y%m%dT%H%M%SZ}", *_fields(event),
            "END:VEVENT", "END:VCALENDAR", "",
        ]
    )  # fmt: skip


def change_event(text: str, event: Event) -> str:
    """Return a calendar object with an event's title, times, place and notes; the rest stays."""
    names = ("SUMMARY", "DTSTART", "DTEND", "DURATION", "LOCATION", "DESCRIPTION")
    kept = [
        line
        for line in _unfold(text).splitlines()
        if line.partition(":")[0].partition(";")[0].upper() not in names
    ]
    place = kept.index("BEGIN:VEVENT") + 1
    return "\r\n".join([*kept[:place], *_fields(event), *kept[place:], ""])


def exclude_repetition(text: str, start: datetime) -> str:
    """Return a calendar object without one repetition of its event.

    Args:
        text: the object.
        start: when the repetition would have started, UTC.
    """
    head, blocks, tail = _blocks(text)
    kept = [block for block in blocks if _instance(block) != start]
    for block in kept:
        if _instance(block) is None:
            block.insert(1, f"EXDATE{_moment(start, is_day=_is_whole_day(block))}")
    return "\r\n".join([*head, *(line for block in kept for line in block), *tail, ""])


def change_repetition(text: str, event: Event, start: datetime) -> str:
    """Return a calendar object with one repetition of its event as given; the others stay.

    Args:
        text: the object.
        event: the repetition.
        start: when it would have started, UTC.
    """
    head, blocks, tail = _blocks(text)
    is_day = any(_is_whole_day(block) for block in blocks if _instance(block) is None)
    kept = [block for block in blocks if _instance(block) != start]
    kept.append(
        [
            "BEGIN:VEVENT", f"UID:{event.uid}", f"DTSTAMP:{start:%Y%m%dT%H%M%SZ}",
            f"RECURRENCE-ID{_moment(start, is_day=is_day)}", *_fields(event), "END:VEVENT",
        ]
    )  # fmt: skip
    return "\r\n".join([*head, *(line for block in kept for line in block), *tail, ""])


def write_card(card: Card) -> str:
    """Return a contact as a card."""
    given, _, family = card.name.rpartition(" ")
    rows = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{card.uid}", f"FN:{escape(card.name)}"]
    rows.append(f"N:{escape(family)};{escape(given)};;;")
    rows += [f"EMAIL;TYPE=INTERNET:{email}" for email in card.emails]
    rows += [f"TEL;TYPE=CELL:{phone}" for phone in card.phones]
    return "\r\n".join([*rows, "END:VCARD", ""])


def components(text: str, kind: str) -> Iterator[list[tuple[str, str, str]]]:
    """Yield the lines of each component, as name, parameters and value, without those inside it."""
    rows: list[tuple[str, str, str]] | None = None
    depth = 0
    for line in _unfold(text).splitlines():
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


def plain(text: str) -> str:
    """Return a value without escapes."""
    return re.sub(r"\\(.)", lambda mark: "\n" if mark[1] in "nN" else mark[1], text)


def escape(text: str) -> str:
    """Return a text as a value."""
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\r", "").replace("\n", "\\n")


def _unfold(text: str) -> str:
    return re.sub(r"\r?\n[ \t]", "", text)


def _blocks(text: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the lines before the events, those of each event, and those after them."""
    head: list[str] = []
    blocks: list[list[str]] = []
    tail: list[str] = []
    is_inside = False
    for line in _unfold(text).splitlines():
        if line == "BEGIN:VEVENT":
            blocks.append([])
            is_inside = True
        (blocks[-1] if is_inside else tail if blocks else head).append(line)
        is_inside = is_inside and line != "END:VEVENT"
    return head, blocks, tail


def _instance(block: list[str]) -> datetime | None:
    """Return the repetition that an event changes; None if it is the event itself."""
    event = next(components("\r\n".join(block), "VEVENT"), [])
    return next((when[0] for name, options, value in event if name == "RECURRENCE-ID"
                 and (when := _time(value, options))), None)  # fmt: skip


def _is_whole_day(block: list[str]) -> bool:
    return any(line.startswith("DTSTART;VALUE=DATE:") for line in block)


def _moment(when: datetime, *, is_day: bool) -> str:
    return f";VALUE=DATE:{when:%Y%m%d}" if is_day else f":{when:%Y%m%dT%H%M%SZ}"


def _fields(event: Event) -> list[str]:
    times = [
        f"{name}{_moment(when, is_day=event.is_all_day)}"
        for name, when in (("DTSTART", event.start), ("DTEND", event.end))
    ]
    rows = [*times, f"SUMMARY:{escape(event.title)}"]
    if event.place:
        rows.append(f"LOCATION:{escape(event.place)}")
    if event.notes:
        rows.append(f"DESCRIPTION:{escape(event.notes)}")
    return rows


def _event(rows: list[tuple[str, str, str]]) -> Event | None:
    values = {name: value for name, _, value in reversed(rows)}
    options = {name: option for name, option, _ in reversed(rows)}
    start = _time(values.get("DTSTART", ""), options.get("DTSTART", ""))
    if start is None or values.get("STATUS", "").upper() == "CANCELLED":
        return None
    end = _time(values.get("DTEND", ""), options.get("DTEND", ""))
    instance = _time(values.get("RECURRENCE-ID", ""), options.get("RECURRENCE-ID", ""))
    return Event(
        uid=values.get("UID", ""),
        title=plain(values.get("SUMMARY", "")),
        start=start[0],
        end=end[0] if end else start[0] + timedelta(days=1 if start[1] else 0),
        is_all_day=start[1],
        place=plain(values.get("LOCATION", "")),
        notes=plain(values.get("DESCRIPTION", "")),
        guests=tuple(
            value.lower().removeprefix("mailto:") for name, _, value in rows if name == "ATTENDEE"
        ),
        rule=values.get("RRULE", ""),
        excluded=tuple(
            when[0]
            for name, option, value in rows
            if name == "EXDATE"
            for part in value.split(",")
            if (when := _time(part, option))
        ),
        instance=instance[0] if instance else None,
    )


def _next(start: datetime, frequency: str) -> timedelta | None:
    if frequency == "YEARLY":
        try:
            return start.replace(year=start.year + 1) - start
        except ValueError:  # 29 February
            return timedelta(365 * 4 + 1)
    return _STEPS.get(frequency)


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
