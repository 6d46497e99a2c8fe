from __future__ import annotations

import threading

import pytest

from foundation.cancel import CancellableClock, CancelToken
from foundation.clock import SYSTEM_CLOCK, FakeClock
from foundation.errors import CancelledError


def test_first_cancellation_reason_is_kept() -> None:
    token = CancelToken()
    token.check()
    token.cancel("first")
    token.cancel("second")
    assert (token.is_cancelled, token.reason) == (True, "first")
    with pytest.raises(CancelledError, match="first"):
        token.check()


def test_callbacks_are_called_once_unless_withdrawn() -> None:
    token, calls = CancelToken(), []
    token.on_cancel(lambda: calls.append("kept"))
    token.on_cancel(lambda: calls.append("withdrawn"))()
    token.cancel()
    token.cancel()
    token.on_cancel(lambda: calls.append("late"))
    assert calls == ["kept", "late"]


def test_wait_ends_when_it_is_cancelled() -> None:
    token = CancelToken()
    clock = CancellableClock(SYSTEM_CLOCK, token)
    threading.Timer(0.05, token.cancel).start()
    start_s = SYSTEM_CLOCK.monotonic_s()
    with pytest.raises(CancelledError):
        clock.sleep(30)
    assert SYSTEM_CLOCK.monotonic_s() - start_s < 10


def test_cancellable_clock_uses_the_underlying_clock() -> None:
    fake = FakeClock(start_s=100.0)
    clock = CancellableClock(fake, CancelToken())
    clock.sleep(2.5)
    assert (clock.now_s(), clock.monotonic_s()) == (102.5, 102.5)
    event = threading.Event()
    assert clock.wait(event, 1.5) is False
    event.set()
    assert clock.wait(event, 1.5) is True
    assert fake.now_s() == 104
