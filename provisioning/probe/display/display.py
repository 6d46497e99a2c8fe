"""Helper process on the user's X display: screenshots, pointer, keys, windows.

It is started as root, loads everything from the zipapp, which the user cannot read, and then
switches to the user.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.display.pointer import BUTTONS, Pointer
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

        xserver.load()
        keys.load()
        import mss
        import mss.tools

        self._png = mss.tools.to_png
        self._mss = mss.MSS()
        self._mss.grab(self._mss.monitors[0])
        self._windows = windows
        self._display = xserver.open_display()
        self.typist = Typist(self._display)
        self._pointer = Pointer(self._display)
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
        """Perform input of a kind: of the pointer (see `_act`), ``key``, ``key_down`` or ``key_up``, ``text``.

        A text is typed as far as there is time; the result has the number of characters, ``typed``.
        Keys named by ``held`` are held down while the pointer acts.
        """
        kind = params.text("kind")
        if kind == "text":
            deadline_s = time.monotonic() + _TYPING_SHARE * params.timeout_s
            release_s = _READING_SHARE * params.timeout_s
            return {"typed": self.typist.type(params.text("text"), deadline_s, release_s)}
        if kind == "key":
            self.typist.press(params.texts("names"), _deadline_s(params))
        elif kind in {"key_down", "key_up"}:
            down = kind == "key_down"
            self.typist.hold(params.texts("names"), _deadline_s(params), down=down)
        else:
            self._point(kind, params)
        return None

    def prepare_keys(self, params: Params) -> dict[str, Any]:
        """Return which of the keys ``codes`` of another keyboard press ``names``; see `Typist`."""
        codes = frozenset(params.numbers("codes"))
        may_bind = params.flag("may_bind", default=True)
        names, deadline_s = params.texts("names"), _deadline_s(params)
        return self.typist.prepare(names, codes, deadline_s, may_bind=may_bind)

    def finish_keys(self, params: Params) -> bool:
        """Wait until the prepared keys were pressed and read, and release bound keys."""
        return self.typist.finish(_deadline_s(params))

    def _point(self, kind: str, params: Params) -> None:
        held = params.texts("held", least=0) if params.has("held") else []
        if not held:
            self._act(kind, params)
            return
        self.typist.hold(held, _deadline_s(params), down=True)
        try:
            self._act(kind, params)
        finally:
            self.typist.hold(held, _deadline_s(params), down=False)

    def _act(self, kind: str, params: Params) -> None:
        pointer = self._pointer
        button = _button_of(params)
        if kind == "drag":
            pointer.drag(params.places("path"), button, params.number("duration_s", 0.3))
            return
        place = params.whole("x"), params.whole("y")
        if kind == "move":
            pointer.move(place)
        elif kind == "click":
            pointer.click(place, button, params.whole("count", 1))
        elif kind == "press":
            pointer.press(place, button)
        elif kind == "release":
            pointer.release(place, button)
        elif kind == "scroll":
            pointer.scroll(place, params.whole("dx", 0), params.whole("dy", 0))
        else:
            raise ProbeError("bad_params", f"unknown input kind {kind!r}")


def _button_of(params: Params) -> str:
    name = params.text("button", "left")
    if name not in BUTTONS:
        raise ProbeError("bad_params", f"unknown button {name!r}")
    return name


def _deadline_s(params: Params) -> float:
    """Return until when a program in front may take to read its keys."""
    return time.monotonic() + min(_LONGEST_READ_S, params.timeout_s / 2)
