"""Input to a VM from the host, through its virtual hardware: QMP's ``input-send-event``.

Nothing inside the guest can forge it. The guest is only asked which keys its present layout needs.
"""

from __future__ import annotations

import contextlib
import logging
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import InvalidActionError
from provisioning.desktop.qemu.keys import QCODES
from provisioning.links.guest_io import LinkInput
from provisioning.protocols import Button

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foundation.clock import Clock
    from provisioning.desktop.qemu.input_monitor import InputMonitor
    from provisioning.desktop.qemu.screen import VmScreen
    from provisioning.protocols import Link, Point

    Event = dict[str, Any]

_log = logging.getLogger(__name__)

# Source: QEMU 7.2, include/ui/input.h: INPUT_EVENT_ABS_MAX.
_ABS_MAX = 0x7FFF
# Minimum gap at which an emulated guest sees two events as separate.
_GAP_S = 0.02
# From a click's end to the next click. GTK takes a press after 400 ms for another click: a busy host may move
# the clicks apart. Together they stay two: images/desktop/files/libinput.quirks. Source: GTK 3, gtk-double-click-time.
_DOUBLE_CLICK_GAP_S = 0.07
_DOUBLE_CLICK_MOST_S = 0.4
_DRAG_STEPS = 12


class VmInput:
    """A `provisioning.protocols.Input`: pointer and keys over QMP, text through the probe.

    Args:
        monitor: takes events for its devices.
        screen: returns the size of the last screenshot.
        link: link to the probe.
        clock: clock used to wait between events.
    """

    def __init__(
        self,
        monitor: InputMonitor,
        screen: VmScreen,
        link: Link,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._monitor = monitor
        self._screen = screen
        self._keyboard = LinkInput(link, clock=clock)
        self._clock = clock

    def move(self, x: int, y: int) -> None:
        """Move the pointer to a position.

        Raises:
            InvalidActionError: the position is not on the screen.
        """
        width, height = self._screen.last_size()
        if not (0 <= x < width and 0 <= y < height):
            raise InvalidActionError(
                f"The point ({x}, {y}) is not on the screen.",
                details=f"The screen is {width} x {height} px.",
            )
        self._monitor.send([_axis("x", x, width), _axis("y", y, height)])

    def click(
        self,
        x: int,
        y: int,
        *,
        button: Button = Button.LEFT,
        count: int = 1,
        held: Sequence[str] = (),
    ) -> None:
        """Click `count` times."""
        with self._holding(held):
            self.move(x, y)
            self._clock.sleep(_GAP_S)
            start_s = self._clock.monotonic_s()
            for index in range(count):
                if index:
                    self._clock.sleep(_DOUBLE_CLICK_GAP_S)
                self._press(button.value)
                end_s = self._clock.monotonic_s()
                if index and end_s - start_s > _DOUBLE_CLICK_MOST_S:
                    _log.warning("two clicks took %.0f ms on a busy host", (end_s - start_s) * 1000)
                start_s = end_s

    def button_down(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Press a button at a position and keep it pressed."""
        self.move(x, y)
        self._clock.sleep(_GAP_S)
        self._monitor.send([_button(button.value, down=True)])

    def button_up(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Move to a position and release a button there."""
        self.move(x, y)
        self._clock.sleep(_GAP_S)
        self._monitor.send([_button(button.value, down=False)])

    def drag(
        self,
        path: Sequence[Point],
        *,
        button: Button = Button.LEFT,
        duration_s: float = 0.3,
        held: Sequence[str] = (),
    ) -> None:
        """Press at the first point, move along the others and release at the last."""
        legs = len(path) - 1
        steps = max(1, _DRAG_STEPS // legs)
        with self._holding(held):
            self.button_down(*path[0], button=button)
            try:
                for start, end in pairwise(path):
                    for step in range(1, steps + 1):
                        self._clock.sleep(duration_s / steps / legs)
                        self.move(*_between(start, end, step / steps))
                self._clock.sleep(_GAP_S)
            finally:
                self._monitor.send([_button(button.value, down=False)])

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0, held: Sequence[str] = ()) -> None:
        """Turn the wheel at a position; positive `dy` scrolls down, positive `dx` right."""
        with self._holding(held):
            self.move(x, y)
            for count, forward, back in (
                (dy, "wheel-down", "wheel-up"),
                (dx, "wheel-right", "wheel-left"),
            ):
                for _ in range(abs(count)):
                    self._clock.sleep(_GAP_S)
                    self._press(forward if count > 0 else back)

    def key(self, *names: str, hold_s: float = 0.0) -> None:
        """Press keys together, then release them.

        Raises:
            InvalidActionError: a key does not exist, or the guest's layout cannot have it.
        """
        if hold_s:
            with self._holding(names):
                self._clock.sleep(hold_s)
            return
        prepared = self._keyboard.prepare_keys(names, list(QCODES))
        keys = [QCODES[code] for code in prepared.codes]
        try:
            self._monitor.send(
                *([_key(key, down=True)] for key in keys),
                *([_key(key, down=False)] for key in reversed(keys)),
            )
        finally:
            if prepared.is_bound:
                self._keyboard.finish_keys()

    def key_down(self, *names: str) -> None:
        """Press keys and keep them pressed.

        Raises:
            InvalidActionError: a key does not exist, or the present layout has no key for it.
        """
        self._monitor.send(*([_key(key, down=True)] for key in self._keys(names)))

    def key_up(self, *names: str) -> None:
        """Release keys in reverse.

        Raises:
            InvalidActionError: a key does not exist, or the present layout has no key for it.
        """
        self._monitor.send(*([_key(key, down=False)] for key in reversed(self._keys(names))))

    def text(self, text: str) -> None:
        """Type any Unicode text into the focused element.

        The text goes through the probe to the X server, which queues it. QEMU's keyboard queue of
        64 events overflows while an emulated guest is busy, which was observed to lose letters.
        """
        self._keyboard.text(text)

    @contextlib.contextmanager
    def _holding(self, names: Sequence[str]) -> Iterator[None]:
        """Hold keys down during a block.

        Raises:
            InvalidActionError: a key does not exist, or the present layout has no key for it.
        """
        keys = self._keys(names) if names else []
        if keys:
            self._monitor.send(*([_key(key, down=True)] for key in keys))
        try:
            yield
        finally:
            if keys:
                self._monitor.send(*([_key(key, down=False)] for key in reversed(keys)))

    def _keys(self, names: Sequence[str]) -> list[str]:
        """Return QEMU's names of keys that the present layout has."""
        prepared = self._keyboard.prepare_keys(names, list(QCODES), may_bind=False)
        return [QCODES[code] for code in prepared.codes]

    def _press(self, button: str) -> None:
        self._monitor.send([_button(button, down=True)], [_button(button, down=False)])


def _between(start: Point, end: Point, share: float) -> Point:
    """Return the point at a share of the way from one point to another."""
    x, y = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
    return x, y


def _key(code: str, *, down: bool) -> Event:
    return {"type": "key", "data": {"down": down, "key": {"type": "qcode", "data": code}}}


def _button(name: str, *, down: bool) -> Event:
    return {"type": "btn", "data": {"down": down, "button": name}}


def _axis(axis: str, position: int, size: int) -> Event:
    """Return the event for the center of a pixel, in the tablet's units."""
    value = (2 * position + 1) * _ABS_MAX // (2 * size)
    return {"type": "abs", "data": {"axis": axis, "value": value}}
