"""Helper process on the user's X display: screenshots, pointer, keys, windows.

It is started as root, loads everything from the zipapp, which the user cannot read, and then
switches to the user.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.display.typist import Typist
from provisioning.probe.errors import ProbeError
from provisioning.probe.serving import worker
from provisioning.probe.serving.params import Params, to_base64

if TYPE_CHECKING:
    from provisioning.probe.system.identity import Identity

_PNG_LEVEL = 1
_MARGIN_S = 0.2
# Shares of a request's time; the rest is for a server that is slow to answer.
_TYPING_SHARE = 0.4
_READING_SHARE = 0.2
_LONGEST_READ_S = 10.0
_HELD_MS = 20
_BETWEEN_CLICKS_MS = 80
_BUTTONS = {"left": 1, "middle": 2, "right": 3}


def main(identity: Identity) -> None:
    """Serve until the probe exits."""
    in_fd, out_fd = worker.claim_streams()
    display = Display()
    identity.become()
    ops = {
        "input": display.input,
        "prepare_keys": display.prepare_keys,
        "finish_keys": display.finish_keys,
        "screenshot": display.screenshot,
        "windows": display.windows,
        "shown": display.shown,
        "saved": display.saved,
        "raw_requests": display.raw_requests,
    }
    typist = display.typist
    worker.serve(ops, in_fd, out_fd, is_tidy=lambda: not typist.has_bound_keys, tidy=typist.tidy)


class Display:
    """The display named by the environment.

    Attributes:
        typist: its keyboard.
    """

    def __init__(self) -> None:
        from provisioning.probe.display import keys, windows, xserver
        from provisioning.probe.display.selections import Selections

        # pyautogui opens its own connection on import.
        xserver.load()
        keys.load()
        import mss
        import mss.tools
        import pyautogui

        pyautogui.PAUSE = 0
        pyautogui.FAILSAFE = False
        self._pyautogui = pyautogui
        self._png = mss.tools.to_png
        self._mss = mss.MSS()
        self._mss.grab(self._mss.monitors[0])
        self._windows = windows
        self._display = xserver.open_display()
        self.typist = Typist(self._display)
        self._selections = Selections(self._display)

    def screenshot(self, _params: Params) -> dict[str, Any]:
        """Take a screenshot of all monitors."""
        shot = self._mss.grab(self._mss.monitors[0])
        png = self._png(shot.rgb, shot.size, level=_PNG_LEVEL, output=None)
        return {"png_b64": to_base64(png or b""), "width": shot.width, "height": shot.height}

    def windows(self, _params: Params) -> list[dict[str, Any]]:
        """List the windows that the window manager manages, bottom to top."""
        return self._windows.list_windows(self._display)

    def shown(self, _params: Params) -> dict[str, Any]:
        """Return which parts of the desktop are visible."""
        return self._windows.shown_parts(self._display)

    def saved(self, params: Params) -> dict[str, Any]:
        """Return the state that a reset must restore: ``windows``, and ``selections`` by name."""
        deadline_s = time.monotonic() + max(0.1, params.timeout_s - _MARGIN_S)
        return {
            "windows": self._windows.saved_rows(self._display),
            "selections": self._selections.look(deadline_s),
        }

    def raw_requests(self, _params: Params) -> list[str]:
        """Return the encoded requests whose replies contain all that `saved` returns.

        Empty if replies do not contain all of it: programs own clipboards.
        """
        selections = self._selections.raw_requests()
        if not selections:
            return []
        return [to_base64(data) for data in self._windows.raw_requests(self._display) + selections]

    def input(self, params: Params) -> dict[str, int] | None:
        """Perform input of one of the kinds move, click, drag, scroll, key, text.

        A text is typed as far as there is time; the result has the number of characters, ``typed``.
        """
        kind = params.text("kind")
        if kind == "text":
            deadline_s = time.monotonic() + _TYPING_SHARE * params.timeout_s
            release_s = _READING_SHARE * params.timeout_s
            return {"typed": self.typist.type(params.text("text"), deadline_s, release_s)}
        if kind == "key":
            self.typist.press(params.texts("names"), _deadline_s(params))
        else:
            self._point(kind, params)
        return None

    def prepare_keys(self, params: Params) -> dict[str, Any]:
        """Return which of the keys ``codes`` of another keyboard press ``names``; see `Typist`."""
        codes = frozenset(params.numbers("codes"))
        return self.typist.prepare(params.texts("names"), codes, _deadline_s(params))

    def finish_keys(self, params: Params) -> bool:
        """Wait until the prepared keys were pressed and read, and release bound keys."""
        return self.typist.finish(_deadline_s(params))

    def _point(self, kind: str, params: Params) -> None:
        gui = self._pyautogui
        x, y = params.whole("x"), params.whole("y")
        if kind == "move":
            gui.moveTo(x, y)
        elif kind == "click":
            gui.moveTo(x, y)
            self._click(_BUTTONS[params.text("button", "left")], params.whole("count", 1))
        elif kind == "drag":
            gui.moveTo(x, y)
            gui.dragTo(
                params.whole("to_x"),
                params.whole("to_y"),
                duration=max(0.15, params.number("duration_s", 0.3)),
                button=params.text("button", "left"),
            )
        elif kind == "scroll":
            gui.moveTo(x, y)
            gui.vscroll(-params.whole("dy", 0))
            gui.hscroll(params.whole("dx", 0))
        else:
            raise ProbeError("bad_params", f"unknown input kind {kind!r}")

    def _click(self, button: int, count: int) -> None:
        """Click; the X server itself waits between the events, so that load does not stretch this."""
        from Xlib import X
        from Xlib.ext import xtest

        for index in range(count):
            pause_ms = _BETWEEN_CLICKS_MS if index else 0
            xtest.fake_input(self._display, X.ButtonPress, button, pause_ms)
            xtest.fake_input(self._display, X.ButtonRelease, button, _HELD_MS)
        self._display.sync()


def _deadline_s(params: Params) -> float:
    """Return until when a program in front may take to read its keys."""
    return time.monotonic() + min(_LONGEST_READ_S, params.timeout_s / 2)
