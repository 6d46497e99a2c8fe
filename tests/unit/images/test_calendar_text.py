"""Events that repeat, with repetitions that are changed or left out."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta

from images.calendar_text import (
    UTC,
    Event,
    change_repetition,
    exclude_repetition,
    read_events,
)

DAILY = """BEGIN:VCALENDAR\r
VERSION:2.0\r
BEGIN:VEVENT\r
UID:a@b\r
DTSTART:20260302T090000Z\r
DTEND:20260302T093000Z\r
SUMMARY:Stand-up\r
RRULE:FREQ=DAILY;UNTIL=20260306T090000Z\r
END:VEVENT\r
END:VCALENDAR\r
"""
BIRTHDAY = """BEGIN:VCALENDAR
BEGIN:VEVENT
UID:c@d
DTSTART;VALUE=DATE:20250304
DTEND;VALUE=DATE:20250305
SUMMARY:Birthday
RRULE:FREQ=YEARLY
END:VEVENT
END:VCALENDAR
"""
LAST = date(2026, 12, 31)
THIRD = datetime(2026, 3, 4, 9, tzinfo=UTC)


def shown(text: str) -> list[tuple[str, str]]:
    """Return the day and title of everything that takes place."""
    found: list[Event] = []
    for event in read_events(text):
        found += event.occurrences(LAST)
    return sorted((f"{event.start:%m-%d %H:%M}", event.title) for event in found)


def test_one_repetition_is_left_out() -> None:
    text = exclude_repetition(DAILY, THIRD)
    assert [day for day, _ in shown(text)] == [f"03-0{n} 09:00" for n in (2, 3, 5, 6)]
    twice = exclude_repetition(text, THIRD + timedelta(days=1))
    assert [day for day, _ in shown(twice)] == [f"03-0{n} 09:00" for n in (2, 3, 6)]


def test_one_repetition_is_changed_twice_then_left_out() -> None:
    (whole,) = read_events(DAILY)
    moved = replace(whole, title="Late", start=THIRD + timedelta(hours=1), end=THIRD, rule="")
    text = change_repetition(DAILY, moved, THIRD)
    assert shown(text)[2] == ("03-04 10:00", "Late")
    assert len(shown(text)) == 5
    assert [event.instance for event in read_events(text)] == [None, THIRD]
    again = change_repetition(text, replace(moved, title="Later"), THIRD)
    assert shown(again)[2] == ("03-04 10:00", "Later")
    assert len(shown(again)) == 5
    assert len(shown(exclude_repetition(again, THIRD))) == 4


def test_repetitions_of_whole_days_are_named_by_their_day() -> None:
    day = datetime(2026, 3, 4, tzinfo=UTC)
    text = exclude_repetition(BIRTHDAY, day)
    assert "EXDATE;VALUE=DATE:20260304" in text
    assert len(shown(BIRTHDAY)) == 2
    assert len(shown(text)) == 1
    (whole,) = read_events(BIRTHDAY)
    party = change_repetition(BIRTHDAY, replace(whole, title="Party", start=day, end=day), day)
    assert "RECURRENCE-ID;VALUE=DATE:20260304" in party
    assert [title for _, title in shown(party)] == ["Birthday", "Party"]
