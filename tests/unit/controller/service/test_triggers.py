from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.service.schedules.definition import Cron, Interval, Trigger
from controller.service.schedules.triggers import check_trigger, next_slot
from foundation.errors import UsageError

# A Friday.
START = datetime(2026, 3, 27, 12, tzinfo=UTC).timestamp()


def slots(trigger: Trigger, count: int, *, after_s: float = START) -> list[str]:
    zone = ZoneInfo(trigger.timezone if isinstance(trigger, Cron) else "UTC")
    shown = []
    for _ in range(count):
        following = next_slot(trigger, after_s=after_s, created_s=START)
        assert following is not None
        assert following > after_s
        after_s = following
        shown.append(datetime.fromtimestamp(after_s, tz=zone).strftime("%a %d %b %H:%M %z"))
    return shown


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0 2 * * *", ["Sat 28 Mar 02:00", "Sun 29 Mar 02:00"]),
        ("30 6 * * 1-5", ["Mon 30 Mar 06:30", "Tue 31 Mar 06:30"]),
        ("0 0 * * 0", ["Sun 29 Mar 00:00", "Sun 05 Apr 00:00"]),
        ("0 0 * * 7", ["Sun 29 Mar 00:00", "Sun 05 Apr 00:00"]),
        ("0 0 * * fri-sun", ["Sat 28 Mar 00:00", "Sun 29 Mar 00:00", "Fri 03 Apr 00:00"]),
        ("0 0 * * */3", ["Sat 28 Mar 00:00", "Sun 29 Mar 00:00", "Wed 01 Apr 00:00"]),
        # One of two restricted days is enough, as crontab(5) has it.
        ("0 0 1 * mon", ["Mon 30 Mar 00:00", "Wed 01 Apr 00:00", "Mon 06 Apr 00:00"]),
        ("*/20 12 * * *", ["Fri 27 Mar 12:20", "Fri 27 Mar 12:40", "Sat 28 Mar 12:00"]),
        ("0 0 29 2 *", ["Tue 29 Feb 00:00"]),
    ],
)
def test_cron_lines_follow_crontab(line: str, expected: list[str]) -> None:
    shown = slots(Cron(line=line), len(expected))
    assert [slot.removesuffix(" +0000") for slot in shown] == expected


def test_night_of_a_clock_change_has_one_slot() -> None:
    nightly = Cron(line="30 2 * * *", timezone="Europe/Berlin")
    # On the 29th there is no 02:30.
    assert slots(nightly, 3) == [
        "Sat 28 Mar 02:30 +0100",
        "Sun 29 Mar 03:30 +0200",
        "Mon 30 Mar 02:30 +0200",
    ]
    autumn = datetime(2026, 10, 24, 12, tzinfo=UTC).timestamp()
    assert slots(nightly, 2, after_s=autumn) == [
        "Sun 25 Oct 02:30 +0200",
        "Mon 26 Oct 02:30 +0100",
    ]
    hourly = Cron(line="30 * * * *", timezone="Europe/Berlin")
    night = datetime(2026, 10, 25, 0, tzinfo=UTC).timestamp()
    assert slots(hourly, 3, after_s=night) == [
        "Sun 25 Oct 02:30 +0200",
        "Sun 25 Oct 02:30 +0100",
        "Sun 25 Oct 03:30 +0100",
    ]


@given(every_s=st.integers(1, 1_000_000), passed_s=st.floats(0, 1e7))
def test_intervals_count_from_the_creation_of_the_schedule(every_s: int, passed_s: float) -> None:
    after_s = START + passed_s
    slot_s = next_slot(Interval(every_s=every_s), after_s=after_s, created_s=START)
    assert slot_s is not None
    assert after_s < slot_s <= after_s + every_s + 0.01
    steps = (slot_s - START) / every_s
    assert steps == pytest.approx(max(1, round(steps)), abs=1e-3)


@pytest.mark.parametrize(
    ("line", "zone", "message"),
    [
        ("0 0 31 2 *", "UTC", "never fires"),
        ("61 0 * * *", "UTC", "not a cron line"),
        ("* * * * * *", "UTC", "6 fields"),
        ("0 0 * * 8", "UTC", "not a cron line"),
        ("0 0 * * 5-1", "UTC", "not a cron line"),
        ("0 0 * * x-y", "UTC", "not a cron line"),
        ("0 2 * * *", "Mars/Olympus", "time zone"),
        ("0 2 * * *", "../../etc/passwd", "time zone"),
    ],
)
def test_line_that_never_fires_is_rejected(line: str, zone: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_trigger(Cron(line=line, timezone=zone), now_s=START)
