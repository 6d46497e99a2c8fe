"""Input to a VM from the host, through its virtual hardware: QMP's ``input-send-event``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import InvalidActionError
from provisioning.desktop.qemu.keys import qcode_of_key
from provisioning.links.guest_io import LinkInput
from provisioning.protocols import Button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from appliance.base.clock import Clock
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.screen import VmScreen
    from provisioning.protocols import Link

    Event = dict[str, Any]

# Source: QEMU 7.2, include/ui/input.h: INPUT_EVENT_ABS_MAX.
_ABS_MAX = 0x7FFF
# Minimum gap at which an emulated guest sees two events as separate.
_GAP_S = 0.02
_DOUBLE_CLICK_GAP_S = 0.06
_DRAG_STEPS = 12


class VmInput:
    """A `provisioning.protocols.Input`: pointer and keys over QMP, text through the probe.

    Args:
        hypervisor: hypervisor that runs the domain.
        name: name of the domain.
        screen: returns the size of the last screenshot.
        link: link to the probe.
        clock: clock used to wait between events.
    """

    def __init__(
        self,
        hypervisor: Hypervisor,
        name: str,
        screen: VmScreen,
        link: Link,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._hypervisor = hypervisor
        self._name = name
        self._screen = screen
        self._link = link
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
        self._send([_axis("x", x, width), _axis("y", y, height)])

    def click(self, x: int, y: int, *, button: Button = Button.LEFT, count: int = 1) -> None:
        """Click `count` times."""
        self.move(x, y)
        self._clock.sleep(_GAP_S)
        for index in range(count):
            if index:
                self._clock.sleep(_DOUBLE_CLICK_GAP_S)
            self._press(button.value)

    def drag(
        self, start: tuple[int, int], end: tuple[int, int], *, duration_s: float = 0.3
    ) -> None:
        """Press, move and release."""
        self.move(*start)
        self._clock.sleep(_GAP_S)
        self._send([_button("left", down=True)])
        try:
            for step in range(1, _DRAG_STEPS + 1):
                self._clock.sleep(duration_s / _DRAG_STEPS)
                share = step / _DRAG_STEPS
                self.move(
                    round(start[0] + (end[0] - start[0]) * share),
                    round(start[1] + (end[1] - start[1]) * share),
                )
            self._clock.sleep(_GAP_S)
        finally:
            self._send([_button("left", down=False)])

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0) -> None:
        """Turn the wheel at a position; positive `dy` scrolls down."""
        self.move(x, y)
        for count, forward, back in (
            (dy, "wheel-down", "wheel-up"),
            (dx, "wheel-right", "wheel-left"),
        ):
            for _ in range(abs(count)):
                self._clock.sleep(_GAP_S)
                self._press(forward if count > 0 else back)

    def key(self, *names: str) -> None:
        """Press keys together, then release them.

        Raises:
            InvalidActionError: a key does not exist.
        """
        codes = [qcode_of_key(name) for name in names]
        self._chord(codes)

    def text(self, text: str) -> None:
        """Type any Unicode text into the focused element.

        The text goes through the probe to the X server, which queues it. QEMU's keyboard queue of
        64 events overflows while an emulated guest is busy, which was observed to lose letters.
        """
        LinkInput(self._link).text(text)

    def _chord(self, codes: Sequence[str]) -> None:
        self._send([_key(code, down=True) for code in codes])
        self._clock.sleep(_GAP_S)
        self._send([_key(code, down=False) for code in reversed(codes)])

    def _press(self, button: str) -> None:
        self._send([_button(button, down=True)])
        self._clock.sleep(_GAP_S)
        self._send([_button(button, down=False)])

    def _send(self, events: Sequence[Event]) -> None:
        self._hypervisor.qmp(self._name, "input-send-event", {"events": list(events)})


def _key(code: str, *, down: bool) -> Event:
    return {"type": "key", "data": {"down": down, "key": {"type": "qcode", "data": code}}}


def _button(name: str, *, down: bool) -> Event:
    return {"type": "btn", "data": {"down": down, "button": name}}


def _axis(axis: str, position: int, size: int) -> Event:
    """Return the event for the center of a pixel, in the tablet's units."""
    value = (2 * position + 1) * _ABS_MAX // (2 * size)
    return {"type": "abs", "data": {"axis": axis, "value": value}}
