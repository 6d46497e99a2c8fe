"""Cases of the evaluators of a world's calendars."""

from __future__ import annotations

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
from evaluators.world import calendars
from provisioning.world.persona.model.calendar import Calendar
from provisioning.world.persona.persona import persona

if TYPE_CHECKING:
    from evaluators.testing.case import State

VISIT: dict[str, Any] = {"title": "Visit", "start": "2026-11-24T09:30"}
WORK = persona(SEED).events.in_calendar(Calendar.WORK)
KNOWN = WORK.last()
ROWS = {
    "UID": "new",
    "SUMMARY": "Visit",
    "DTSTART": "20261124T093000Z",
    "DTEND": "20261124T100000Z",
    "LOCATION": "Room 5\\, Main Street",
    "ATTENDEE": "mailto:Ann@office.example",
}


def event(calendar: str = "private", /, *more: str, **changes: str) -> State:
    """Put an event into a calendar; an empty value leaves a property out."""
    rows = {**ROWS, **changes}
    lines = [f"{key}:{value}" for key, value in rows.items() if value]
    text = "\r\n".join(
        [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "BEGIN:VEVENT",
            *lines,
            *more,
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        ]
    )
    return lambda world: world.member(calendar, text)


def raw(text: str) -> State:
    """Put any text into a calendar."""
    return lambda world: world.member("private", text)


def zoned(zone: str, start: str) -> State:
    """Put an event into a calendar, whose start has a time zone."""
    return event("private", f"DTSTART;TZID={zone}:{start}", DTSTART="", DTEND="")


def lose(calendar: str, member: str = "") -> State:
    """Remove a member, or all, of a calendar."""

    def remove(world: WorldFixture) -> None:
        members = world.collections[calendar]
        world.collections[calendar] = {
            name: text for name, text in members.items() if member and name != member
        }

    return remove


def move_known(world: WorldFixture) -> None:
    """Move the known event by some years."""
    text = world.collections["work"][KNOWN.id]
    world.collections["work"][KNOWN.id] = text.replace("DTSTART:20", "DTSTART:19")


TABLES = (
    CaseTable(
        calendars.has_event,
        WorldFixture,
        (
            positive("title and start", event(), **VISIT),
            positive(
                "all properties",
                event("work", "RRULE:FREQ=WEEKLY"),
                **VISIT,
                end="2026-11-24T10:00",
                calendar="work",
                place="Main Street",
                guests=["ann@office.example"],
                repeats="weekly",
            ),
            positive(
                "whole day",
                event("private", "DTSTART;VALUE=DATE:20261124", DTSTART="", DTEND=""),
                title="Visit",
                start="2026-11-24",
                end="2026-11-25",
            ),
            negative("no such event", nothing, **VISIT),
            near_miss("half an hour later", event(DTSTART="20261124T100000Z"), **VISIT),
            near_miss("part of the title", event(SUMMARY="Visit Ann"), **VISIT),
            near_miss("other calendar", event("work"), **VISIT, calendar="private"),
            near_miss(
                "other end", event(DTEND="20261124T110000Z"), **VISIT, end="2026-11-24T10:00"
            ),
            near_miss("other place", event(LOCATION="Room 6"), **VISIT, place="Main Street"),
            near_miss("guest missing", event(ATTENDEE=""), **VISIT, guests=["ann@office.example"]),
            near_miss("only once", event(), **VISIT, repeats="weekly"),
            near_miss("weekly", event("private", "RRULE:FREQ=WEEKLY"), **VISIT, repeats="never"),
            near_miss("a day, not a time", event(DTSTART="20261124"), **VISIT),
            corrupt("not a calendar", raw("Visit 2026-11-24"), **VISIT),
            corrupt("start is no time", event(DTSTART="tomorrow"), **VISIT),
            missing("no start", event(DTSTART=""), **VISIT),
            empty("empty calendar", lose("private"), **VISIT, calendar="private"),
            hostile("two titles", event("private", "SUMMARY:Other"), **VISIT),
            hostile("two starts", event("private", "DTSTART:20261125T093000Z"), **VISIT),
            forged("cancelled", event("private", "STATUS:CANCELLED"), **VISIT),
            forged("in the notes", event("private", "DESCRIPTION:Visit", SUMMARY="x"), **VISIT),
            another_way("time zone", zoned("Europe/Zurich", "20261124T103000"), **VISIT),
            another_way("without a zone", event(DTSTART="20261124T093000"), **VISIT),
            another_way(
                "with an offset in the task", event(), title="Visit", start="2026-11-24T10:30+01:00"
            ),
            another_way(
                "duration",
                event("private", "DURATION:PT30M", DTEND=""),
                **VISIT,
                end="2026-11-24T10:00",
            ),
        ),
    ),
    CaseTable(
        calendars.lacks_event,
        WorldFixture,
        (
            positive("no such event", nothing, title="Visit"),
            positive("at another time", event(), title="Visit", start="2026-11-25T09:30"),
            negative("there", event(), title="Visit"),
            near_miss("in another calendar", event("work"), title="Visit"),
            near_miss("at this time", event(), **VISIT),
            missing("no such calendar", nothing, title="Visit", calendar="nowhere"),
            corrupt("start is no time", event(DTSTART="tomorrow"), title="Visit"),
            empty("no end", event(DTEND=""), title="Visit"),
            forged(
                "title with an invisible character", event(SUMMARY="Vi\u200bsit"), title="Visit"
            ),
            forged("time zone", zoned("Europe/Zurich", "20261124T103000"), **VISIT),
            another_way("cancelled", event("private", "STATUS:CANCELLED"), title="Visit"),
            another_way("renamed", event(SUMMARY="Visit Ann"), title="Visit"),
        ),
        inapplicable={CaseKind.HOSTILE: "the cases of has_event have hostile events"},
    ),
    CaseTable(
        calendars.keeps_events,
        WorldFixture,
        (
            positive("nothing changed", nothing, calendar="work"),
            positive(
                "one that may change",
                lose("work", KNOWN.id),
                calendar="work",
                besides=[KNOWN.title],
            ),
            negative("calendar emptied", lose("work"), calendar="work"),
            near_miss("one gone", lose("work", KNOWN.id), calendar="work"),
            near_miss("one moved", move_known, calendar="work"),
            missing("calendar gone", lambda world: world.collections.pop("work"), calendar="work"),
            empty("another calendar emptied", lose("birthdays"), calendar="birthdays"),
            corrupt(
                "calendar overwritten",
                lambda world: world.collections.update(work={"x": "BEGIN:VCALENDAR"}),
                calendar="work",
            ),
            forged(
                "replaced by one with its title",
                lambda world: (
                    lose("work", KNOWN.id)(world),
                    event("work", SUMMARY=KNOWN.title)(world),
                ),
                calendar="work",
            ),
            forged(
                "one cancelled",
                lambda world: world.collections["work"].update(
                    {
                        KNOWN.id: world.collections["work"][KNOWN.id].replace(
                            "END:VEVENT", "STATUS:CANCELLED\r\nEND:VEVENT"
                        )
                    }
                ),
                calendar="work",
            ),
            another_way("new events", event("work"), calendar="work"),
            another_way("changes elsewhere", lose("private"), calendar="work"),
        ),
        inapplicable={CaseKind.HOSTILE: "ids and times are read"},
    ),
)
