"""Alarms and timers ring and are dismissed."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from images.phone.device.apps.directory import CLOCK, SETTINGS
from images.phone.device.machine import PhoneMachine
from images.phone.device.phone import Phone
from images.phone.device.processes import Processes
from images.phone.device.ringer import Ringer
from tests.standins.phone_user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINUTE_S = 60
ALARM = "AlarmActivity"


class Clocked(User):
    """A user with a controllable clock."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        # A Friday, 06:58.
        self.now_s = datetime(2024, 3, 1, 6, 58, tzinfo=UTC).timestamp()
        monkeypatch.setattr(Phone, "now_s", lambda _: self.now_s)
        super().__init__(folder)
        self.ringer = Ringer(self.phone)

    def wait(self, seconds: float) -> None:
        """Advance the time; the phone checks its alarms afterwards."""
        self.now_s += seconds
        self.ringer.look()

    def shows(self) -> str:
        """Return the foreground activity, without its package."""
        return self.phone.stack.top.activity.rpartition(".")[2]

    def set_alarm(self, *args: str) -> None:
        """Set an alarm for seven o'clock."""
        extra = "android.intent.extra.alarm."
        ready = ("--ei", f"{extra}HOUR", "7", "--ez", f"{extra}SKIP_UI", "true")
        self.run("am", "start", "-a", "android.intent.action.SET_ALARM", *ready, *args)

    def alarms(self) -> list[tuple[int, int]]:
        """Return the hour and the on state of each alarm."""
        rows = self.phone.store.rows("SELECT * FROM alarm")
        return [(row["hour"], row["enabled"]) for row in rows]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clocked]:
    with closing(Clocked(tmp_path, monkeypatch)) as opened:
        yield opened


def test_alarm_rings_once_and_the_previous_screen_returns(user: Clocked) -> None:
    user.set_alarm()
    user.tap("Settings")
    user.wait(1.5 * MINUTE_S)
    assert user.front() == SETTINGS
    user.wait(MINUTE_S)
    assert (user.front(), user.shows()) == (CLOCK, ALARM)
    assert "android.title=String (Alarm)" in user.run("dumpsys", "notification")
    user.check_screen()
    user.phone.press("BACK")
    assert user.shows() == ALARM
    user.tap("Dismiss")
    assert user.front() == SETTINGS
    assert "android.title" not in user.run("dumpsys", "notification")
    assert user.alarms() == [(7, 0)]
    user.wait(24 * 60 * MINUTE_S)
    assert user.front() == SETTINGS


def test_snoozed_alarm_rings_again_after_ten_minutes(user: Clocked) -> None:
    user.set_alarm("-e", "android.intent.extra.alarm.MESSAGE", "Get up")
    user.wait(3 * MINUTE_S)
    assert user.sees("Get up")
    user.tap("Snooze")
    assert user.alarms() == [(7, 1)]
    user.wait(9 * MINUTE_S)
    assert user.shows() != ALARM
    user.wait(2 * MINUTE_S)
    assert user.shows() == ALARM
    user.tap("Dismiss")
    assert user.alarms() == [(7, 0)]


def test_alarm_on_some_days_stays_on(user: Clocked) -> None:
    user.set_alarm()
    user.phone.store.change("UPDATE alarm SET daysofweek=?", (1 << 4 | 1 << 0,))
    for days in (0, 3):  # Friday, then Monday
        user.wait(days * 24 * 60 * MINUTE_S + 3 * MINUTE_S)
        assert user.shows() == ALARM
        user.tap("Dismiss")
        user.wait(-3 * MINUTE_S)
        assert user.alarms() == [(7, 1)]


def test_ringing_alarm_is_reopened_through_its_notification(user: Clocked) -> None:
    user.set_alarm()
    user.wait(3 * MINUTE_S)
    user.phone.press("HOME")
    assert user.shows() != ALARM
    user.phone.expand_shade()
    user.tap("Alarm")
    assert user.shows() == ALARM
    user.tap("Dismiss")


def test_timer_rings_and_gets_another_minute(user: Clocked) -> None:
    user.tap("Clock", "Timer", "timer_setup_digit_5", "timer_setup_digit_0", "Start")
    user.phone.press("HOME")
    user.wait(49)
    assert user.front() != CLOCK
    user.wait(2)
    assert user.shows() == "ExpiredTimersActivity"
    assert user.sees("0:50 timer")
    user.check_screen()
    user.tap("+1 min")
    user.wait(59)
    assert user.shows() != "ExpiredTimersActivity"
    user.wait(2)
    user.tap("Stop")
    assert user.phone.store.rows("SELECT ends, left FROM timer") == [{"ends": None, "left": 50}]


@pytest.mark.slow
def test_alarm_skipped_by_a_rewind_does_not_ring(user: Clocked) -> None:
    machine = PhoneMachine(user.config, user.phone, Processes())
    user.set_alarm()
    machine.save("before")
    user.wait(3 * MINUTE_S)
    assert user.shows() == ALARM
    machine.load("before")
    user.wait(MINUTE_S)
    assert user.shows() != ALARM
    assert user.alarms() == [(7, 1)]


def test_next_alarm_is_dumped(user: Clocked) -> None:
    assert "time:" not in user.run("dumpsys", "alarm")
    user.set_alarm()
    output = user.run("dumpsys", "alarm")
    assert re.search(r"user:0 pendingSend:false time:\d{13} = 2024-03-01 07:00:00 = \+0h2m", output)
    user.phone.store.change("UPDATE alarm SET enabled=0")
    assert "time:" not in user.run("dumpsys", "alarm")


@pytest.mark.parametrize("extra", ["HOUR", "LENGTH"])
def test_intent_with_a_wrong_number_sets_nothing(user: Clocked, extra: str) -> None:
    action = f"android.intent.action.SET_{'ALARM' if extra == 'HOUR' else 'TIMER'}"
    for value in ("99999", "x", "-1"):
        argv = ["am", "start", "-a", action, "--ei", f"android.intent.extra.alarm.{extra}", value]
        assert user.commands.run(argv, user.config.root).exit_code == 1
    assert user.alarms() == []
    assert user.phone.store.rows("SELECT * FROM timer") == []


def test_world_clock_shows_the_offset_of_a_city_at_utc_0(user: Clocked) -> None:
    user.phone.store.put_property("persist.sys.timezone", "Asia/Tokyo")
    for name, zone in (("Reykjavik", "Atlantic/Reykjavik"), ("Seoul", "Asia/Seoul")):
        user.phone.store.change("INSERT INTO city (name, zone) VALUES (?, ?)", (name, zone))
    user.tap("Clock", "Clock")
    assert user.sees("Today, 9 hours behind")
    assert user.sees("Seoul")
