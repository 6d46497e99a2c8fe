"""The touchscreen of a phone through its device file, for gestures of several fingers.

Android's command ``input`` has one finger. ``sendevent`` writes events of the kernel's multi-touch
protocol to the device, as the touchscreen's driver would; emulators and phones with developer
builds let the shell do so.

Source: Linux Documentation/input/multi-touch-protocol.rst (type B); AOSP ``getevent.c``,
    ``sendevent.c``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import InvalidActionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from provisioning.phone.adb.device import AdbDevice
    from provisioning.protocols import Point

    Event = tuple[int, int, int]

_TIMEOUT_S = 30.0
_STEPS = 8
_DEVICE = re.compile(r"^add device \d+: (/dev/input/event\d+)$", re.MULTILINE)
_AXIS = r"\b{code:04x}\s+: value -?\d+, min -?\d+, max (\d+)"
# Source: Linux include/uapi/linux/input-event-codes.h.
_EV_SYN, _EV_KEY, _EV_ABS = 0, 1, 3
_BTN_TOUCH = 330
_MT_SLOT, _MT_X, _MT_Y, _MT_ID = 0x2F, 0x35, 0x36, 0x39
_LIFTED = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Touchscreen:
    """A touchscreen.

    Attributes:
        device: the phone.
        path: its device file.
        most: its largest coordinates.
    """

    device: AdbDevice
    path: str
    most: Point

    def gesture(
        self, paths: Sequence[Sequence[Point]], screen_px: Point, duration_s: float
    ) -> None:
        """Put fingers down, move each along its path, and lift them together.

        Args:
            paths: the points of each finger, screen px.
            screen_px: size of the screen.
            duration_s: time between down and up, seconds.

        Raises:
            InvalidActionError: the phone's shell may not write to its touchscreen.
        """
        frames = [self._events(frame, screen_px) for frame in _frames(paths)]
        lines = [
            " && ".join(
                f"sendevent {self.path} {kind} {code} {value}" for kind, code, value in rows
            )
            for rows in (*frames, _lift(len(paths)))
        ]
        pause = f" && sleep {duration_s / len(frames):.3f} && "
        result = self.device.shell(pause.join(lines), _TIMEOUT_S + duration_s)
        if result.exit_code != 0:
            raise _undriveable((result.stderr or result.stdout).decode(errors="replace"))

    def _events(self, places: Sequence[tuple[int, Point, bool]], screen_px: Point) -> list[Event]:
        events: list[Event] = []
        for finger, place, is_new in places:
            x, y = (
                min(most, round(value * most / max(1, size - 1)))
                for value, most, size in zip(place, self.most, screen_px, strict=True)
            )
            events.append((_EV_ABS, _MT_SLOT, finger))
            if is_new:
                events.append((_EV_ABS, _MT_ID, finger + 1))
            events += [(_EV_ABS, _MT_X, x), (_EV_ABS, _MT_Y, y)]
        if any(is_new for _, _, is_new in places):
            events.append((_EV_KEY, _BTN_TOUCH, 1))
        return [*events, (_EV_SYN, 0, 0)]


def find_touchscreen(device: AdbDevice) -> Touchscreen:
    """Return the touchscreen of a phone: its first device with positions of several fingers.

    Raises:
        InvalidActionError: the phone shows none to its shell.
    """
    result = device.shell("getevent -p", _TIMEOUT_S)
    _, *parts = _DEVICE.split(result.text)
    for path, described in zip(parts[::2], parts[1::2], strict=True):
        axes = [
            re.search(_AXIS.format(code=code), described.split("input props")[0])
            for code in (_MT_X, _MT_Y)
        ]
        if all(axes):
            x, y = (int(axis[1]) for axis in axes if axis)
            return Touchscreen(device, path, (x, y))
    raise _undriveable((result.stderr or result.stdout).decode(errors="replace"))


def _frames(paths: Sequence[Sequence[Point]]) -> Iterator[list[tuple[int, Point, bool]]]:
    """Yield, for each moment, the place of each finger and whether it has just come down."""
    for step in range(_STEPS + 1):
        places = [_along(path, step / _STEPS) for path in paths]
        yield [(finger, place, step == 0) for finger, place in enumerate(places)]


def _along(path: Sequence[Point], share: float) -> Point:
    """Return the point at a share of a path, whose legs take the same time."""
    at = share * (len(path) - 1)
    leg = min(int(at), len(path) - 2)
    (x, y), (to_x, to_y) = path[leg], path[leg + 1]
    rest = at - leg
    return round(x + (to_x - x) * rest), round(y + (to_y - y) * rest)


def _lift(fingers: int) -> list[Event]:
    events: list[Event] = []
    for finger in range(fingers):
        events += [(_EV_ABS, _MT_SLOT, finger), (_EV_ABS, _MT_ID, _LIFTED)]
    return [*events, (_EV_KEY, _BTN_TOUCH, 0), (_EV_SYN, 0, 0)]


def _undriveable(output: str) -> InvalidActionError:
    return InvalidActionError(
        "This phone does not let several fingers be simulated.",
        details=output.strip()[:200],
        resolution="Use its buttons or swipes of one finger instead.",
    )
