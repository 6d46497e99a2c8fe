"""Helper process on the user's X display: screenshots, pointer, keys, windows.

It is started as root, loads everything from the zipapp, which the user cannot read, and then
switches to the user.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.display.keys import chord
from provisioning.probe.display.typist import Typist
from provisioning.probe.errors import ProbeError
from provisioning.probe.serving import worker
from provisioning.probe.serving.params import Params, to_base64
from provisioning.probe.system.run import run_program

if TYPE_CHECKING:
    from provisioning.probe.system.identity import Identity

_PNG_LEVEL = 1
_MARGIN_S = 0.2
_CLICK_PAUSE_S = 0.06


def main(identity: Identity) -> None:
    """Serve until the probe exits."""
    in_fd, out_fd = worker.claim_streams()
    display = Display(identity)
    identity.become()
    ops = {
        "input": display.input,
        "screenshot": display.screenshot,
        "windows": display.windows,
        "shown": display.shown,
        "saved": display.saved,
        "raw_requests": display.raw_requests,
    }
    worker.serve(ops, in_fd, out_fd)


class Display:
    """The display named by the environment.

    Args:
        identity: owner of the display.
    """

    def __init__(self, identity: Identity) -> None:
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
        self._identity = identity
        self._pyautogui = pyautogui
        self._png = mss.tools.to_png
        self._mss = mss.MSS()
        self._mss.grab(self._mss.monitors[0])
        self._windows = windows
        self._display = xserver.open_display()
        self._typist = Typist(self._display)
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

    def input(self, params: Params) -> None:
        """Perform input of one of the kinds move, click, drag, scroll, key, text."""
        kind = params.text("kind")
        if kind == "key":
            self._xdotool(["key", "--clearmodifiers", chord(params.texts("names"))], params)
        elif kind == "text":
            deadline_s = time.monotonic() + params.timeout_s - _MARGIN_S
            self._typist.type(params.text("text"), deadline_s)
        else:
            self._point(kind, params)

    def _point(self, kind: str, params: Params) -> None:
        gui = self._pyautogui
        x, y = params.whole("x"), params.whole("y")
        if kind == "move":
            gui.moveTo(x, y)
        elif kind == "click":
            clicks, button = params.whole("count", 1), params.text("button", "left")
            gui.click(x, y, clicks=clicks, interval=_CLICK_PAUSE_S, button=button)
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

    def _xdotool(self, arguments: list[str], params: Params) -> None:
        done = run_program(
            ["/usr/bin/xdotool", *arguments],
            identity=self._identity,
            env=os.environ,
            timeout_s=params.timeout_s,
        )
        words_back = (done.stderr + done.stdout).decode("utf-8", "replace").strip()
        if done.exit_code != 0 or "No such key" in words_back:
            raise ProbeError("failed", f"xdotool: {words_back}")
