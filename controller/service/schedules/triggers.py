"""Compute the next slot of a trigger, with APScheduler's triggers only.

Its job store uses pickle, so schedules are kept in our own tables. Cron lines are translated,
because APScheduler counts days of the week from Monday as 0 where crontab(5) has Sunday as 0 and
7, and requires day of month and day of week to match where crontab(5) requires only one of them.

Source: crontab(5); APScheduler's documentation of `CronTrigger`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from controller.service.schedules.definition import Cron, Interval
from foundation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from controller.service.schedules.definition import Trigger

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FIELDS = 5
_EXAMPLE = "For example, '0 2 * * *' is 2:00 every day, '30 6 * * 1-5' is 6:30 on weekdays."
_ITEM = re.compile(r"^(?P<first>\w+|\*)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?$")


def next_slot(trigger: Trigger, *, after_s: float, created_s: float) -> float | None:
    """Return the first slot after a time, in seconds since the epoch; None if there is none.

    Args:
        trigger: trigger of the schedule.
        after_s: seconds since the epoch; a slot at exactly this time is not returned.
        created_s: when the schedule was added; intervals are counted from here.

    Raises:
        UsageError: the cron line or the time zone is invalid.
    """
    match trigger:
        case Interval():
            start = datetime.fromtimestamp(created_s, tz=UTC)
            interval = timedelta(seconds=trigger.every_s)
            engine = IntervalTrigger(
                seconds=trigger.every_s, start_date=start + interval, timezone=UTC
            )
            return _following(engine, after_s)
        case Cron():
            return _next_cron(trigger, after_s)


def check_trigger(trigger: Trigger, *, now_s: float) -> None:
    """Check that a trigger fires at least once.

    Raises:
        UsageError: it never fires, or its line or time zone is invalid.
    """
    if next_slot(trigger, after_s=now_s, created_s=now_s) is None:
        raise UsageError(
            f"The cron line {getattr(trigger, 'line', '')!r} never fires.", resolution=_EXAMPLE
        )


def _next_cron(trigger: Cron, after_s: float) -> float | None:
    engine = _cron(trigger.line, trigger.timezone)
    slot_s = _following(engine, after_s)
    if trigger.line.split()[1].startswith("*"):
        return slot_s
    # When the clock is set back, a wall time occurs twice; a line with fixed hours means the first.
    while slot_s is not None and _is_second_of_its_time(slot_s, trigger.timezone):
        slot_s = _following(engine, slot_s)
    return slot_s


def _is_second_of_its_time(slot_s: float, timezone: str) -> bool:
    return datetime.fromtimestamp(slot_s, tz=ZoneInfo(timezone)).fold == 1


def _following(engine: Any, after_s: float) -> float | None:  # noqa: ANN401 - APScheduler is untyped
    """Return the first fire time after a time."""
    after = datetime.fromtimestamp(after_s, tz=UTC)
    fire_time = engine.get_next_fire_time(None, after + timedelta(microseconds=1))
    while fire_time is not None and fire_time.timestamp() <= after_s:
        after += timedelta(milliseconds=1)
        fire_time = engine.get_next_fire_time(None, after)
    return None if fire_time is None else float(fire_time.timestamp())


@lru_cache(maxsize=256)
def _cron(line: str, timezone: str) -> Any:  # noqa: ANN401 - APScheduler is untyped
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise UsageError(
            f"Unknown time zone {timezone!r}.",
            resolution="Use an IANA name, such as Europe/Berlin or UTC.",
        ) from exc
    fields = line.split()
    if len(fields) != _FIELDS:
        raise UsageError(
            f"{line!r} is not a cron line: it has {len(fields)} fields, not {_FIELDS}.",
            resolution=_EXAMPLE,
        )
    try:
        return _make_cron(fields, zone)
    except ValueError as exc:
        raise UsageError(
            f"{line!r} is not a cron line.", details=str(exc), resolution=_EXAMPLE
        ) from exc


def _make_cron(fields: list[str], zone: ZoneInfo) -> Any:  # noqa: ANN401 - APScheduler is untyped
    minute, hour, day, month, weekdays = fields
    times = {"minute": minute, "hour": hour, "month": month.lower(), "timezone": zone}
    days = ",".join(_weekdays(weekdays.lower()))
    if day.startswith("*") or weekdays.startswith("*"):
        return CronTrigger(day=day, day_of_week=days, **times)
    return OrTrigger([CronTrigger(day=day, **times), CronTrigger(day_of_week=days, **times)])


def _weekdays(text: str) -> Iterator[str]:
    """Return the names of the days that a day-of-week field matches, in the week's order.

    Raises:
        ValueError: the field is invalid.
    """
    numbers: set[int] = set()
    for item in text.split(","):
        match = _ITEM.match(item)
        if match is None or (match["first"] == "*" and match["last"]):
            raise ValueError(f"{item!r} is not a valid day-of-week item")
        first = 0 if match["first"] == "*" else _weekday(match["first"])
        last = _last_weekday(match["first"], match["last"], first, has_step=bool(match["step"]))
        step = int(match["step"] or 1)
        if step < 1 or last < first:
            raise ValueError(f"{item!r} is not a valid day-of-week item")
        numbers.update(range(first, last + 1, step))
    return (_DAYS[number] for number in sorted({number % 7 for number in numbers}))


def _last_weekday(first: str, last: str | None, number: int, *, has_step: bool) -> int:
    if last is not None:
        weekday = _weekday(last)
        # A range such as fri-sun ends on the second Sunday of `_DAYS`.
        return weekday + 7 if weekday == 0 and number > 0 else weekday
    return 6 if first == "*" or has_step else number


def _weekday(text: str) -> int:
    if text.isdecimal() and int(text) < len(_DAYS):
        return int(text)
    if text in _DAYS:
        return _DAYS.index(text)
    raise ValueError(f"{text!r} is not a day of the week")
