"""Keys that are bound, for a moment, to what the keyboard layout lacks.

Different characters get different keys, which are bound before the first is pressed and released
after the program in front has read them. A program looks up a key when it processes the event, in
the layout that the server has by then: with one key for all characters, or with a release too early,
slow programs lose input. Keys that a program has grabbed are not used: while they are grabbed, their
input goes to that program.
"""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.display.layout import key_for
from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from Xlib.display import Display

    from provisioning.probe.display.layout import Key, Keyboard, Layout

_SETTLE_S = 0.15
# For programs that do not answer pings, such as xterm.
_SILENT_PROGRAM_S = 0.6
# A program that has not read its input for so long does not get it any more.
_LONGEST_S = 120.0


class SpareKeys:
    """Binds spare keys and releases them.

    Args:
        display: connection to the display.
        keyboard: its layout.
    """

    def __init__(self, display: Display, keyboard: Keyboard) -> None:
        self._display = display
        self._keyboard = keyboard
        self._had: dict[int, Key] = {}
        self._given: dict[int, Key] = {}
        self._bound_at_s = 0.0

    @property
    def is_bound(self) -> bool:
        """Return whether keys are bound."""
        return bool(self._given)

    def bind(self, keysyms: Sequence[int], layout: Layout, used: Collection[int] = ()) -> None:
        """Bind keys to keysyms, in order, as far as there are keys.

        Args:
            keysyms: what the layout lacks; upper and lower case of a character share a key.
            layout: the present layout, restricted to the keys to use.
            used: keys that the same input needs with their own meaning.

        Raises:
            ProbeError: ``unsupported``, if no key is free.
        """
        keys = list(dict.fromkeys(key_for(keysym) for keysym in keysyms))
        spare = [code for code in layout.spare_codes() if code not in used]
        codes = self._free(spare, len(keys))
        if not codes:
            raise ProbeError("unsupported", "the keyboard has no spare key")
        self._given = dict(zip(codes, keys))  # noqa: B905 - Python 3.9
        self._had = {code: layout.keys[code] for code in self._given}
        self._bound_at_s = time.monotonic()
        self._keyboard.write(self._given)
        self._display.sync()
        time.sleep(_SETTLE_S)

    def release(self, deadline_s: float) -> bool:
        """Give the bound keys back once the program in front has read its input.

        Args:
            deadline_s: on the monotonic clock; until then, the program is waited for.

        Returns:
            Whether no key is bound any more. If the program is not reading, call it again later.
        """
        if not self._given:
            return True
        is_old = time.monotonic() - self._bound_at_s > _LONGEST_S
        if not self._wait_for_reader(deadline_s) and not is_old:
            return False
        self.restore()
        return True

    def restore(self) -> None:
        """Give the bound keys back at once; those that got another layout meanwhile keep it."""
        present = self._keyboard.read().keys
        bound = {code for code, key in self._given.items() if present[code] == key}
        if bound:
            self._keyboard.write({code: self._had[code] for code in bound})
        self._given = {}
        self._display.sync()

    def _free(self, codes: Sequence[int], wanted: int) -> list[int]:
        """Return the first keys, up to a number, that no program has grabbed."""
        free: list[int] = []
        left = list(codes)
        while left and len(free) < wanted:
            count = wanted - len(free)
            free += self._not_grabbed(left[:count])
            left = left[count:]
        return free

    def _not_grabbed(self, codes: Sequence[int]) -> list[int]:
        """Return the keys that no program has grabbed.

        Source: X11, XGrabKey: it fails if another client has grabbed the key, whatever the
            modifiers.
        """
        from Xlib import X
        from Xlib.error import BadAccess, CatchError

        root = self._display.screen().root
        refusals = {code: CatchError(BadAccess) for code in codes}
        for code, refusal in refusals.items():
            root.grab_key(code, X.AnyModifier, 0, X.GrabModeAsync, X.GrabModeAsync, onerror=refusal)
        self._display.sync()
        free = [code for code, refusal in refusals.items() if refusal.get_error() is None]
        for code in free:
            root.ungrab_key(code, X.AnyModifier)
        self._display.sync()
        return free

    def _wait_for_reader(self, deadline_s: float) -> bool:
        """Wait until the program in front has processed all its input; return whether it has.

        It answers a ping after what arrived before.

        Source: Extended Window Manager Hints 1.5, ``_NET_WM_PING``.
        """
        from Xlib import X

        window = self._active_window()
        if window is None:
            time.sleep(max(0.0, min(_SILENT_PROGRAM_S, deadline_s - time.monotonic())))
            return True
        root = self._display.screen().root
        root.change_attributes(event_mask=X.SubstructureNotifyMask)
        try:
            serial = self._ping(window)
            while time.monotonic() < deadline_s:
                while self._display.pending_events():
                    event = self._display.next_event()
                    if event.type == X.ClientMessage and _is_pong(event, serial):
                        return True
                left_s = max(0.0, deadline_s - time.monotonic())
                select.select([self._display.fileno()], [], [], left_s)
            return False
        finally:
            root.change_attributes(event_mask=X.NoEventMask)
            self._display.sync()

    def _active_window(self) -> Any:  # noqa: ANN401 - python-xlib is untyped
        """Return the window in front if its program answers pings."""
        from Xlib.error import XError

        atom = self._display.get_atom
        root = self._display.screen().root
        try:
            found = root.get_full_property(atom("_NET_ACTIVE_WINDOW"), 0)
            if found is None or not len(found.value) or not found.value[0]:
                return None
            window = self._display.create_resource_object("window", found.value[0])
            known = window.get_wm_protocols()
        except XError:
            return None
        return window if atom("_NET_WM_PING") in known else None

    def _ping(self, window: Any) -> int:  # noqa: ANN401 - python-xlib is untyped
        """Send a ping and return its serial number, which stands for a time of the server."""
        from Xlib.protocol import event

        atom = self._display.get_atom
        serial = int.from_bytes(os.urandom(4), "little")
        message = event.ClientMessage(
            window=window,
            client_type=atom("WM_PROTOCOLS"),
            data=(32, [atom("_NET_WM_PING"), serial, window.id, 0, 0]),
        )
        window.send_event(message, onerror=lambda *_: 1)
        self._display.flush()
        return serial


def _is_pong(event: Any, serial: int) -> bool:  # noqa: ANN401 - python-xlib is untyped
    form, values = event.data
    return bool(form == 32 and values[1] == serial)  # noqa: PLR2004 - bits of each value
