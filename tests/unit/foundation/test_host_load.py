from __future__ import annotations

import os

import pytest

from foundation.clock import FakeClock
from foundation.host_load import Patience, slowdown_ratio


@pytest.mark.parametrize(
    ("load", "cpus", "ratio"), [(0.1, 2, 1.0), (6.0, 2, 3.0), (90.0, 2, 8.0), (3.0, None, 3.0)]
)
def test_slowdown_is_processes_per_processor(
    monkeypatch: pytest.MonkeyPatch, load: float, cpus: int | None, ratio: float
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: cpus)
    assert slowdown_ratio() == ratio


def test_seconds_count_less_while_the_host_is_busy() -> None:
    clock, slowdown = FakeClock(), [1.0]
    patience = Patience(10, clock, lambda: slowdown[0])
    over = []
    for load, seconds in ((1.0, 5.0), (4.0, 19.0), (4.0, 1.0)):
        slowdown[0] = load
        clock.advance(seconds)
        over.append(patience.is_over)
    assert over == [False, False, True]
    assert patience.waited_s == 25
