"""Calendar objects and contact cards: components, properties, times.

Source: RFC 5545 and RFC 6350, which share the format of lines.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPED = re.compile(r"\\(.)")
_HEAD = re.compile(r'(?:[^":]|"[^"]*")*(?=:)')
_OPTION = re.compile(r'(?:[^";]|"[^"]*")+')
_ONCE = frozenset(
    {"SUMMARY", "DTSTART", "DTEND", "DURATION", "LOCATION", "STATUS", "RECURRENCE-ID"}
)
"""Properties that an event may have at most once. Source: RFC 5545, 3.6.1."""
_PLANS = frozenset({"", "PUBLISH", "REQUEST", "ADD"})
"""Methods of objects whose events take place. Source: RFC 5546, 1.4."""
_DURATION = re.compile(
    r"\+?P(?:(?P<weeks>\d{1,5})W)?(?:(?P<days>\d{1,5})D)?"
    r"(?:T(?:(?P<hours>\d{1,5})H)?(?:(?P<minutes>\d{1,5})M)?(?:(?P<seconds>\d{1,5})S)?)?"
)


class Property(NamedTuple):
    """One line of a component.

    Attributes:
        name: name in upper case, without a group.
        options: value of each parameter, by name in upper case, such as ``TZID``.
        value: unescaped value.
    """

    name: str
    options: dict[str, str]
    value: str


class Event(NamedTuple):
    """An event of a calendar object.

    Attributes:
        properties: properties of the event.
        zones: names of the time zones that the object defines itself.
        removed: times at which the series has no event, or a replacement.
        method: iTIP method of the object in upper case, mostly empty in a calendar.
    """

    properties: list[Property]
    zones: frozenset[str]
    removed: list[date]
    method: str = ""

    def takes_place(self) -> bool:
        """Return whether the event takes place and has no duplicate properties."""
        names = [line.name for line in self.properties if line.name in _ONCE]
        is_planned = self.text("STATUS").strip().upper() != "CANCELLED"
        return is_planned and self.method in _PLANS and len(names) == len(set(names))

    def texts(self, name: str) -> list[str]:
        """Return the text of every property with a name."""
        return [line.value for line in self.properties if line.name == name]

    def text(self, name: str) -> str:
        """Return a property's text; empty if there is none."""
        return next(iter(self.texts(name)), "")

    def start(self) -> date | None:
        """Return the start of the event; None if it is unknown or the event is removed from the series."""
        first = self._time("DTSTART")
        return None if first in self.removed else first

    def end(self) -> date | None:
        """Return the end of the event, from its end, its duration or the type of its start."""
        first = self._time("DTSTART")
        if self.text("DTEND") or first is None:
            return self._time("DTEND")
        duration = _DURATION.fullmatch(self.text("DURATION"))
        if duration is not None:
            return first + timedelta(
                **{key: int(value or 0) for key, value in duration.groupdict().items()}
            )
        return first if isinstance(first, datetime) else first + timedelta(days=1)

    def _time(self, name: str) -> date | None:
        lines = (line for line in self.properties if line.name == name)
        return next(iter(times_of(next(lines, None), self.zones)), None)


def events_in(text: str) -> list[Event]:
    """Return the events of a calendar object.

    Raises:
        ValueError: a component is not closed.
    """
    rows = components(text, "VCALENDAR", "VEVENT")
    zones = frozenset(
        line.value
        for zone in components(text, "VCALENDAR", "VTIMEZONE")
        for line in zone
        if line.name == "TZID"
    )
    moved = _times(rows, "RECURRENCE-ID", zones)
    methods = {
        line.value.strip().upper()
        for calendar in components(text, "VCALENDAR")
        for line in calendar
        if line.name == "METHOD"
    }
    return [
        Event(
            row,
            zones,
            _times([row], "EXDATE", zones)
            + ([] if _times([row], "RECURRENCE-ID", zones) else moved),
            " ".join(sorted(methods)),
        )
        for row in rows
    ]


def components(text: str, *path: str) -> list[list[Property]]:
    """Return the properties of each component at a path, without those of nested components.

    Raises:
        ValueError: a component is not closed.
    """
    inside: list[str] = []
    property_lists: list[list[Property]] = []
    for entry in map(parse_line, _unfolded(text)):
        if entry.name == "BEGIN":
            inside.append(entry.value.upper())
            if tuple(inside) == path:
                property_lists.append([])
        elif entry.name == "END":
            if inside[-1:] != [entry.value.upper()]:
                raise ValueError("a component is not closed")
            inside.pop()
        elif tuple(inside) == path:
            property_lists[-1].append(entry)
    if inside:
        raise ValueError("a component is not closed")
    return property_lists


def parse_line(line: str) -> Property:
    """Parse one unfolded line; parameters may contain colons and semicolons in quotes."""
    head = _HEAD.match(line)
    end = line.partition(":")[0] if head is None else head[0]
    name, *rest = _OPTION.findall(end) or [""]
    options = {
        key.upper(): value.strip('"') for key, _, value in (pair.partition("=") for pair in rest)
    }
    value = _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], line[len(end) + 1 :])
    return Property(name.rpartition(".")[2].upper(), options, value)


def times_of(entry: Property | None, zones: frozenset[str]) -> list[date]:
    """Return the valid dates or times of a property.

    Args:
        entry: the property.
        zones: names of the time zones that its object defines; a time in one of them that the
            system does not know has no offset.
    """
    times = []
    for text in entry.value.split(",") if entry is not None else ():
        zone = entry.options.get("TZID", "") if entry is not None else ""
        try:
            times.append(_time(text.strip(), zone, zones))
        except (ValueError, ZoneInfoNotFoundError, OSError):
            continue
    return times


def _times(rows: list[list[Property]], name: str, zones: frozenset[str]) -> list[date]:
    return [
        time for row in rows for line in row if line.name == name for time in times_of(line, zones)
    ]


def _unfolded(text: str) -> list[str]:
    return re.sub(r"\n[ \t]", "", text.replace("\r\n", "\n")).split("\n")


def _time(text: str, zone: str, zones: frozenset[str]) -> date:
    if len(text) == len("20261124"):
        return datetime.strptime(text, "%Y%m%d").date()  # noqa: DTZ007  (a day has no zone)
    if text.endswith("Z"):
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=_zone(zone, zones))


def _zone(name: str, zones: frozenset[str]) -> ZoneInfo | None:
    """Return a time zone; None if there is none, or the object defines its own.

    Programs prefix the zone with their own name, as in
    ``/freeassociation.sourceforge.net/Europe/Zurich``.

    Raises:
        ZoneInfoNotFoundError: the zone is unknown.
    """
    if not name:
        return None
    for known in _without_prefixes(name):
        try:
            return ZoneInfo(known)
        except (ValueError, ZoneInfoNotFoundError, OSError):
            continue
    if name not in zones:
        raise ZoneInfoNotFoundError(name)
    return None


def _without_prefixes(name: str) -> Iterator[str]:
    parts = name.split("/")
    return ("/".join(parts[number:]) for number in range(len(parts)))
