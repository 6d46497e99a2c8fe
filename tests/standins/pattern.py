"""A screen that shows a number as stripes, and a program that records it until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from foundation.clock import SYSTEM_CLOCK
from provisioning.recording.recorder import Recorder

if TYPE_CHECKING:
    from provisioning.protocols import Frame

BITS = 12
_STRIPE_PX = 16


def draw(number: int) -> Frame:
    """Draw a number as stripes, one per bit: uint8 array (65, 193, 3), odd sizes on purpose."""
    frame = np.zeros((65, BITS * _STRIPE_PX + 1, 3), np.uint8)
    for bit in range(BITS):
        if number >> bit & 1:
            frame[:, bit * _STRIPE_PX : (bit + 1) * _STRIPE_PX] = 255
    return frame


def read(frame: Frame) -> int:
    """Read the number of a picture, even after lossy compression."""
    places = range(_STRIPE_PX // 2, BITS * _STRIPE_PX, _STRIPE_PX)
    return sum(1 << bit for bit, x in enumerate(places) if frame[32, x].mean() > 127)


class Counter:
    """A `provisioning.protocols.Screen` that shows the number of its captures."""

    def __init__(self) -> None:
        self.number = -1

    def capture(self) -> Frame:
        self.number += 1
        return draw(self.number)

    def size(self) -> tuple[int, int]:
        height, width, _ = draw(0).shape
        return width, height


def main() -> None:
    """Record a counter 20 times a second to the given file until the process is killed."""
    with Recorder(Counter(), Path(sys.argv[1]), rate_hz=20):
        SYSTEM_CLOCK.sleep(600)


if __name__ == "__main__":
    main()
