from __future__ import annotations

import pytest

from controller.models.outage import OutageMeter
from foundation.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def meter(clock: FakeClock) -> OutageMeter:
    return OutageMeter(100.0, clock)


def unanswered(meter: OutageMeter, clock: FakeClock, takes_s: float, asks_s: float | None) -> None:
    number = meter.begin()
    clock.advance(takes_s)
    meter.fail(number, asks_s)
    meter.end(number)


def test_unanswered_requests_and_pauses_before_their_repetition_count(
    clock: FakeClock, meter: OutageMeter
) -> None:
    unanswered(meter, clock, 5, 3)
    clock.advance(20)  # longer than the server requests
    number = meter.begin()
    clock.advance(7)
    meter.end(number)
    assert meter.take_s() == 5 + 3
    assert meter.take_s() == 0


def test_pause_of_a_program_that_does_not_repeat_its_request_is_its_own_time(
    clock: FakeClock, meter: OutageMeter
) -> None:
    unanswered(meter, clock, 5, 60)
    clock.advance(20)
    assert meter.pending_s() == 25
    assert meter.take_s() == 5


def test_pauses_grow_until_a_request_is_answered(clock: FakeClock, meter: OutageMeter) -> None:
    for _ in range(7):
        unanswered(meter, clock, 0, None)
        clock.advance(60)
    meter.end(meter.begin())
    assert meter.take_s() == 0.5 + 1 + 2 + 4 + 8 + 8 + 8
    unanswered(meter, clock, 0, None)
    clock.advance(60)
    meter.begin()
    assert meter.take_s() == 0.5


def test_time_in_which_another_request_is_answered_or_in_progress_does_not_count(
    clock: FakeClock, meter: OutageMeter
) -> None:
    hung, answered = meter.begin(), meter.begin()
    clock.advance(4)
    meter.end(answered)
    clock.advance(5)
    slow = meter.begin()
    clock.advance(6)
    meter.fail(hung, 0)
    assert meter.take_s() == 5
    clock.advance(1)
    meter.fail(slow, 0)
    assert meter.take_s() == 1  # the rest of it was charged


def test_outages_count_within_the_budget(clock: FakeClock, meter: OutageMeter) -> None:
    unanswered(meter, clock, 70, 0)
    assert meter.take_s() == 70
    unanswered(meter, clock, 70, 0)
    assert meter.pending_s() == 30
    assert meter.take_s() == 30
    unanswered(meter, clock, 70, 0)
    assert (meter.pending_s(), meter.take_s()) == (0, 0)


def test_requests_in_progress_are_pending(clock: FakeClock, meter: OutageMeter) -> None:
    number = meter.begin()
    clock.advance(9)
    assert meter.pending_s() == 9
    meter.end(number)
    assert (meter.pending_s(), meter.take_s()) == (0, 0)
