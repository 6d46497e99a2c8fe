"""What a rewind makes necessary: set the clock, stir the random pool."""

from __future__ import annotations

import fcntl
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provisioning.probe.params import Params

# Source: Linux, include/uapi/linux/random.h: _IOW('R', 0x03, int[2]) and _IO('R', 0x07).
_RNDADDENTROPY = 0x40085203
_RNDRESEEDCRNG = 0x5207


def set_clock(params: Params) -> dict[str, float]:
    """Set the real-time clock to ``unix_s``; give what it shows then."""
    time.clock_settime(time.CLOCK_REALTIME, params.number("unix_s"))
    return {"clock_s": time.time()}


def reseed(params: Params) -> None:
    """Credit ``seed_b64`` to the kernel's random pool and make it draw from the pool anew."""
    seed = params.data("seed_b64")
    request = struct.pack("ii", len(seed) * 8, len(seed)) + seed
    with open("/dev/urandom", "wb") as pool:
        fcntl.ioctl(pool, _RNDADDENTROPY, request)
        fcntl.ioctl(pool, _RNDRESEEDCRNG)


def boot_id() -> str:
    """Give the kernel's id of this boot; a rewind keeps it."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
