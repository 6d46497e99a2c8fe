"""Wait until a screen has settled instead of sleeping for a fixed time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foundation.clock import SYSTEM_CLOCK, Clock
from provisioning.protocols import Load, Stillness

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from provisioning.protocols import Machine, Screen

    Frame = npt.NDArray[np.uint8]
    Watch = Callable[[Frame], object]


@dataclass(frozen=True, slots=True)
class SettleRule:
    """Conditions under which a screen counts as still.

    Attributes:
        window_s: time during which nothing may change.
        max_s: maximum waiting time.
        every_s: pause between two frames.
        still_ratio: share of pixels that may still differ: a blinking cursor (0.013 % of 1280x800)
            or a clock (0.1 %), whereas a menu or a new line of text exceeds it.
        idle_share: share of one processor that an idle machine may use: an idle emulated desktop
            uses 0.03 to 0.1, one that starts a program 1 to 2.
    """

    window_s: float = 0.25
    max_s: float = 6.0
    every_s: float = 0.06
    still_ratio: float = 0.0015
    idle_share: float = 0.4


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of waiting for a still screen.

    Attributes:
        frame: the last frame, uint8 array (H, W, 3), RGB.
        is_still: False if the time limit was reached first.
        seconds: duration of the wait.
        frames: number of captured frames.
    """

    frame: Frame
    is_still: bool
    seconds: float
    frames: int


DEFAULT_RULE = SettleRule()


def _ignore(_: Frame) -> None:
    """Do nothing with a frame."""


def settle(
    screen: Screen,
    rule: SettleRule = DEFAULT_RULE,
    clock: Clock = SYSTEM_CLOCK,
    load: Load | None = None,
    *,
    watch: Watch = _ignore,
) -> Settled:
    """Capture frames until the screen is still and the machine idle during a time window.

    A screen that implements `Stillness` is trusted: its frame has settled if no change is pending
    before and after its capture.

    Every frame is compared with the first one of the window, so that small changes below the
    threshold count once they add up. If the machine reports its load, a still screen is not
    sufficient: a starting program shows nothing for seconds.

    Args:
        screen: the screen to capture.
        rule: conditions under which it counts as still.
        clock: measures and waits.
        load: load of the machine, if it reports it.
        watch: called with each captured frame.
    """
    if isinstance(screen, Stillness) and screen.is_still() is not None:
        return _settle_by_report(screen, screen, rule, clock, watch)
    start_s = since_s = clock.monotonic_s()
    first = screen.capture()
    watch(first)
    used_s = load.cpu_time_s() if load else 0.0
    frames = 1
    while True:
        clock.sleep(rule.every_s)
        frame = screen.capture()
        watch(frame)
        frames += 1
        now_s = clock.monotonic_s()
        if changed_ratio(first, frame) > rule.still_ratio:
            first, since_s = frame, now_s
            used_s = load.cpu_time_s() if load else 0.0
        if now_s - since_s >= rule.window_s:
            now_used_s = load.cpu_time_s() if load else 0.0
            if now_used_s - used_s <= rule.idle_share * (now_s - since_s):
                return Settled(frame, is_still=True, seconds=now_s - start_s, frames=frames)
            first, since_s, used_s = frame, now_s, now_used_s
        if now_s - start_s >= rule.max_s:
            return Settled(frame, is_still=False, seconds=now_s - start_s, frames=frames)


def _settle_by_report(
    screen: Screen, stillness: Stillness, rule: SettleRule, clock: Clock, watch: Watch
) -> Settled:
    """Poll the machine until no change is pending before and after the frame's capture."""
    start_s = clock.monotonic_s()
    frames = 0
    while True:
        is_still = stillness.is_still()
        frame = screen.capture()
        watch(frame)
        frames += 1
        is_still = bool(is_still) and bool(stillness.is_still()) and screen.capture() is frame
        seconds = clock.monotonic_s() - start_s
        if is_still or seconds >= rule.max_s:
            return Settled(frame, is_still=is_still, seconds=seconds, frames=frames)
        clock.sleep(rule.every_s)


def settle_machine(
    machine: Machine, rule: SettleRule, clock: Clock, *, watch: Watch = _ignore
) -> Settled:
    """Wait until a machine has settled, according to its screen and its load, if reported.

    Args:
        machine: the machine.
        rule: conditions under which it counts as still.
        clock: measures and waits.
        watch: called with each captured frame.
    """
    load = machine if isinstance(machine, Load) else None
    return settle(machine.screen, rule, clock, load, watch=watch)


def observe_now(machine: Machine, *, watch: Watch = _ignore) -> Settled:
    """Capture one frame without waiting, for runs that observe in real time.

    Args:
        machine: the machine.
        watch: called with the captured frame.
    """
    frame = machine.screen.capture()
    watch(frame)
    return Settled(frame, is_still=False, seconds=0.0, frames=1)


def changed_ratio(before: Frame, after: Frame) -> float:
    """Return the share of pixels that differ, 0 to 1; 1 if the sizes differ."""
    if before is after:
        return 0.0
    if before.shape != after.shape:
        return 1.0
    if np.array_equal(before, after):  # the common case; takes a tenth of the pixel count's time
        return 0.0
    red, green, blue = np.moveaxis(before != after, 2, 0)
    return float((red | green | blue).mean())
