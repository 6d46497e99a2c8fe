"""Makes a phone whose whole machine was restored current: clock, screen, picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import LinkProtocolError
from provisioning.phone.adb.screen import read_png

if TYPE_CHECKING:
    from foundation.clock import Clock
    from provisioning.phone.adb.device import AdbDevice

_TIMEOUT_S = 15.0
_MAX_OFF_S = 5.0
_EVERY_S = 0.5
# Android's images for emulators allow `su` to the shell's user; others only to the system.
_SET_CLOCK = "su 0 date -u @{seconds:.0f} >/dev/null 2>&1 || cmd alarm set-time {milliseconds:.0f}"
_AWAKE = "input keyevent KEYCODE_WAKEUP; wm dismiss-keyguard"
# Source: AOSP SurfaceFlinger.cpp, transaction 1004: repaint everything.
_REPAINT = "su 0 service call SurfaceFlinger 1004 >/dev/null 2>&1"


def wake(device: AdbDevice, *, clock: Clock = SYSTEM_CLOCK) -> None:
    """Set the clock, switch the screen on, and wait for a new picture.

    A restored machine continues at the time of its snapshot, and its picture is empty, or of the
    state before, until something is drawn.

    Raises:
        LinkProtocolError: the clock could not be set, or the screen stays empty.
        LinkError: the phone did not answer.
    """
    set_clock(device, clock=clock)
    device.shell(_AWAKE, _TIMEOUT_S)

    def has_picture() -> bool:
        device.shell(_REPAINT, _TIMEOUT_S)
        frame = read_png(device.read("screencap -p", _TIMEOUT_S))
        return bool((frame != frame[0, 0]).any())

    if not wait_until(has_picture, timeout_s=_TIMEOUT_S, every_s=_EVERY_S, clock=clock):
        raise LinkProtocolError(
            f"The screen of the phone {device.serial} stayed empty after a rewind.",
            details=f"All pixels had the same colour for {_TIMEOUT_S:g} s.",
        )


def set_clock(device: AdbDevice, *, clock: Clock = SYSTEM_CLOCK) -> None:
    """Set the phone's clock to this host's, and read it back.

    Raises:
        LinkProtocolError: the phone shows another time.
        LinkError: the phone did not answer.
    """
    now_s = clock.now_s()
    command = _SET_CLOCK.format(seconds=now_s, milliseconds=now_s * 1000)
    device.shell(command, _TIMEOUT_S)
    shown = device.shell("date +%s", _TIMEOUT_S).text
    off_s = int(shown) - clock.now_s() if shown.isdigit() else None
    if off_s is None or abs(off_s) > _MAX_OFF_S:
        raise LinkProtocolError(
            f"The clock of the phone {device.serial} could not be set.",
            details=f"It shows {shown!r}; this host's time is {clock.now_s():.0f}.",
        )
