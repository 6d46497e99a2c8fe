"""The pointer of an X display: moves, buttons, drags and the wheel.

Between the events of a click or a drag the X server itself waits, so that load does not stretch it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from Xlib.display import Display

    Place = tuple[int, int]

BUTTONS = {"left": 1, "middle": 2, "right": 3}
_HELD_MS = 20
_BETWEEN_CLICKS_MS = 80
_STEP_MS = 20
_MOST_STEPS = 400
_LEAST_POINTS = 2


class Pointer:
    """The pointer of a display.

    Args:
        display: connection to the display.
    """

    def __init__(self, display: Display) -> None:
        # pyautogui opens its own connection on import.
        import pyautogui
        from Xlib import X
        from Xlib.ext import xtest

        pyautogui.PAUSE = 0
        pyautogui.FAILSAFE = False
        self._pyautogui = pyautogui
        self._display = display
        self._fake_input = xtest.fake_input
        self._motion, self._press, self._release = X.MotionNotify, X.ButtonPress, X.ButtonRelease

    def move(self, place: Place) -> None:
        """Move to a position."""
        self._pyautogui.moveTo(*place)

    def click(self, place: Place, button: str, count: int) -> None:
        """Click at a position."""
        self.move(place)
        for index in range(count):
            after_ms = _BETWEEN_CLICKS_MS if index else 0
            self._fake_input(self._display, self._press, BUTTONS[button], after_ms)
            self._fake_input(self._display, self._release, BUTTONS[button], _HELD_MS)
        self._display.sync()

    def press(self, place: Place, button: str) -> None:
        """Press a button at a position and keep it pressed."""
        self.move(place)
        self._pyautogui.mouseDown(button=button)

    def release(self, place: Place, button: str) -> None:
        """Move to a position and release a button there."""
        self._along([place], _STEP_MS)
        self._pyautogui.mouseUp(button=button)

    def drag(self, path: Sequence[Place], button: str, duration_s: float) -> None:
        """Press at the first point, move along the others and release at the last.

        Raises:
            ProbeError: ``bad_params`` for fewer than two points.
        """
        if len(path) < _LEAST_POINTS:
            raise ProbeError("bad_params", f"a drag needs two points, got {len(path)}")
        legs = len(path) - 1
        most = max(1, _MOST_STEPS // legs)
        steps = max(1, min(most, round(duration_s * 1000 / _STEP_MS / legs)))
        between = [
            _between(start, end, step / steps)
            for start, end in zip(path[:-1], path[1:])  # noqa: B905, RUF007 - Python 3.9
            for step in range(1, steps + 1)
        ]
        self.press(path[0], button)
        try:
            self._along(between, round(duration_s * 1000 / len(between)))
        finally:
            self._pyautogui.mouseUp(button=button)

    def scroll(self, place: Place, dx: int, dy: int) -> None:
        """Turn the wheels at a position: positive is down and right."""
        self.move(place)
        self._pyautogui.vscroll(-dy)
        self._pyautogui.hscroll(dx)

    def _along(self, places: Sequence[Place], every_ms: int) -> None:
        for x, y in places:
            self._fake_input(self._display, self._motion, 0, every_ms, x=x, y=y)
        self._display.sync()


def _between(start: Place, end: Place, share: float) -> Place:
    """Return the point at a share of the way from one point to another."""
    x = round(start[0] + (end[0] - start[0]) * share)
    return x, round(start[1] + (end[1] - start[1]) * share)
