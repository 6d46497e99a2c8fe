"""Steps that say nothing for minutes are reported."""

from __future__ import annotations

import threading

from appliance.bringup.minutes import telling_minutes


def test_each_minute_of_a_block_is_told() -> None:
    told: list[tuple[str, str]] = []
    second = threading.Event()

    def report(phase: str, fraction: float | None = None, line: str = "") -> None:
        assert fraction is None
        told.append((phase, line))
        if len(told) == 2:
            second.set()

    with telling_minutes(report, "boot", "it boots", every_s=0.01):
        assert second.wait(10)
    assert told[:2] == [("boot", "1 min: it boots"), ("boot", "2 min: it boots")]
