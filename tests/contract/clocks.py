"""Error of a machine's clock, independent of the load of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from provisioning.protocols import Machine

CLOCK_TOLERANCE_S = 0.5


def clock_off_s(machine: Machine) -> float:
    """Return the minimum error of a clock, which was read between two readings of the host's clock."""
    before_s = SYSTEM_CLOCK.now_s()
    shown_s = cast("dict[str, float]", machine.link.call("ping"))["clock_s"]
    return max(before_s - shown_s, shown_s - SYSTEM_CLOCK.now_s(), 0.0)
