from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from controller.observation.settle import SettleRule, changed_ratio, settle
from foundation.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from provisioning.protocols import Frame

RULE = SettleRule(window_s=0.25, max_s=3.0, every_s=0.05, still_ratio=0.01)


@dataclass
class Film:
    """A screen of 100x100 px that shows a function of time."""

    clock: FakeClock
    draw: Callable[[float, Frame], None]

    def __post_init__(self) -> None:
        self.start_s = self.clock.monotonic_s()

    def size(self) -> tuple[int, int]:
        return 100, 100

    def capture(self) -> Frame:
        frame = np.zeros((100, 100, 3), dtype=np.uint8)
        self.draw(self.clock.monotonic_s() - self.start_s, frame)
        return frame


def nothing(time_s: float, frame: Frame) -> None:
    pass


def flicker(time_s: float, frame: Frame) -> None:
    frame[:] = int(time_s * 1000) % 256


def one_second(time_s: float, frame: Frame) -> None:
    flicker(min(time_s, 1.0), frame)


def cursor(time_s: float, frame: Frame) -> None:
    frame[50, 50:60] = 255 if int(time_s * 20) % 2 else 0


def creep(time_s: float, frame: Frame) -> None:
    frame[: int(time_s * 10)] = 255


@pytest.mark.parametrize(
    ("draw", "is_still", "least_s", "most_s"),
    [
        (nothing, True, 0.25, 0.31),
        (flicker, False, 3.0, 3.1),
        (one_second, True, 1.2, 1.4),
        (cursor, True, 0.25, 0.31),
    ],
)
def test_waits_until_the_screen_is_still(
    draw: Callable[[float, Frame], None], is_still: bool, least_s: float, most_s: float
) -> None:
    clock = FakeClock()
    settled = settle(Film(clock, draw), RULE, clock)
    assert settled.is_still is is_still
    assert least_s - 1e-6 <= settled.seconds <= most_s


def test_small_changes_that_add_up_are_not_still() -> None:
    clock = FakeClock()
    film = Film(clock, creep)
    assert changed_ratio(film.capture(), film.capture()) == 0
    assert not settle(film, RULE, clock).is_still


def test_returned_frame_is_the_last_one() -> None:
    clock = FakeClock()
    film = Film(clock, one_second)
    settled = settle(film, RULE, clock)
    assert np.array_equal(settled.frame, film.capture())


def test_frames_of_other_sizes_differ_completely() -> None:
    frame = np.zeros((2, 2, 3), dtype=np.uint8)
    assert changed_ratio(frame, np.zeros((2, 3, 3), dtype=np.uint8)) == 1.0
    other = frame.copy()
    other[0, 0, 1] = 1
    assert changed_ratio(frame, other) == 0.25


class Busy:
    """A machine whose processor is busy until a given time."""

    def __init__(self, clock: FakeClock, until_s: float) -> None:
        self.clock, self.until_s, self.start_s = clock, until_s, clock.monotonic_s()

    def cpu_time_s(self) -> float:
        return min(self.clock.monotonic_s() - self.start_s, self.until_s)


def test_still_picture_of_a_busy_machine_has_not_settled() -> None:
    clock = FakeClock()

    settled = settle(Film(clock, nothing), RULE, clock, Busy(clock, 1.5))

    assert settled.is_still
    assert 1.5 <= settled.seconds < 2.1


def test_restless_machine_is_not_waited_for_indefinitely() -> None:
    clock = FakeClock()

    settled = settle(Film(clock, nothing), RULE, clock, Busy(clock, 1e9))

    assert not settled.is_still
    assert settled.seconds < RULE.max_s + RULE.every_s + 0.01


@dataclass
class ReportingFilm(Film):
    """A screen whose machine reports pending changes until a given time."""

    busy_until_s: float = 0.0
    kept: Frame | None = None
    cost_s: float = 0.06

    def is_still(self) -> bool:
        return self.clock.monotonic_s() - self.start_s >= self.busy_until_s

    def capture(self) -> Frame:
        frame = super().capture()
        if self.kept is None or changed_ratio(self.kept, frame) > 0:
            self.clock.advance(self.cost_s)
            self.kept = frame
        return self.kept


def late(time_s: float, frame: Frame) -> None:
    frame[:] = 9 if time_s >= 0.5 else 0


def test_machine_that_reports_its_state_is_believed_at_once() -> None:
    clock = FakeClock()
    settled = settle(ReportingFilm(clock, nothing), RULE, clock)
    assert (settled.is_still, settled.frames) == (True, 1)
    assert settled.seconds < RULE.window_s


def test_settled_frame_follows_pending_updates() -> None:
    clock = FakeClock()
    settled = settle(ReportingFilm(clock, late, busy_until_s=0.5), RULE, clock)
    assert settled.is_still
    assert settled.frame[0, 0, 0] == 9


def test_picture_that_changed_during_capture_is_not_settled() -> None:
    clock = FakeClock()
    settled = settle(ReportingFilm(clock, late, cost_s=0.6), RULE, clock)
    assert settled.is_still
    assert settled.frame[0, 0, 0] == 9
    assert settled.frames == 2


def test_endless_activity_ends_by_timeout() -> None:
    clock = FakeClock()
    settled = settle(ReportingFilm(clock, nothing, busy_until_s=99.0), RULE, clock)
    assert not settled.is_still
    assert settled.seconds == pytest.approx(RULE.max_s, abs=0.1)
