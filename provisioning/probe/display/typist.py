"""Type any Unicode text, and press any keys, on an X display with any keyboard layout.

What the layout has in its present state is typed with the layout's own keys, the rest with spare
keys, which are bound for a moment.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.display.extensions import IdleTime
from provisioning.probe.display.keys import keysym_of_character, keysym_of_name
from provisioning.probe.display.layout import Keyboard
from provisioning.probe.display.spare_keys import SpareKeys
from provisioning.probe.display.strokes import chord_of, strokes_of
from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from Xlib.display import Display

    from provisioning.probe.display.layout import Layout
    from provisioning.probe.display.strokes import Stroke

_KEY_PAUSE_S = 0.006
_ARRIVAL_EVERY_S = 0.01


class Typist:
    """The keyboard of a display.

    Args:
        display: connection to the target display.
    """

    def __init__(self, display: Display) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        self._display = display
        self._press, self._release = X.KeyPress, X.KeyRelease
        self._fake_input = xtest.fake_input
        self._keyboard = Keyboard(display)
        self._spare = SpareKeys(display, self._keyboard)
        self._prepared: list[int] = []
        self._prepared_at_s = 0.0

    @property
    def has_bound_keys(self) -> bool:
        """Return whether keys are bound; `tidy` releases them."""
        return self._spare.is_bound

    def type(self, text: str, deadline_s: float, release_s: float) -> int:
        """Type a text, key by key, as far as there is time.

        Args:
            text: text to type; a newline presses Return.
            deadline_s: on the monotonic clock.
            release_s: time after the deadline that the program in front has to read its input.

        Returns:
            The number of characters typed.

        Raises:
            ProbeError: ``unsupported`` for a control character, before anything is typed; or if the
                keyboard lacks a character and has no spare key.
        """
        keysyms = [keysym_of_character(char) for char in text]
        done = 0
        try:
            while done < len(keysyms) and time.monotonic() < deadline_s:
                strokes = self._strokes(keysyms[done:], deadline_s)
                if strokes is None:
                    break
                done += self._type(keysyms[done:], strokes, deadline_s)
        finally:
            self._spare.release(max(time.monotonic(), deadline_s) + release_s)
        return done

    def press(self, names: Sequence[str], deadline_s: float) -> None:
        """Press keys together and release them.

        Raises:
            ProbeError: ``unknown_key``; ``unsupported`` if the keyboard lacks one of the keys and has
                no spare one; ``timeout``.
        """
        codes = self._chord(names, None, deadline_s)
        try:
            for code in codes:
                self._fake_input(self._display, self._press, code)
            for code in reversed(codes):
                self._fake_input(self._display, self._release, code)
            self._display.sync()
        finally:
            self._spare.release(deadline_s)

    def hold(self, names: Sequence[str], deadline_s: float, *, down: bool) -> None:
        """Press keys and keep them pressed, or release them.

        Raises:
            ProbeError: ``unknown_key``; ``unsupported`` if the present layout lacks one of the keys;
                ``timeout``.
        """
        codes = self._chord(names, None, deadline_s, may_bind=False)
        for code in codes if down else reversed(codes):
            self._fake_input(self._display, self._press if down else self._release, code)
        self._display.sync()

    def prepare(
        self,
        names: Sequence[str],
        codes: frozenset[int],
        deadline_s: float,
        *,
        may_bind: bool = True,
    ) -> dict[str, Any]:
        """Return which keys another keyboard must press; what the layout lacks is bound first.

        Args:
            names: names of the keys.
            codes: the keys that this keyboard has.
            deadline_s: on the monotonic clock.
            may_bind: whether keys that the layout lacks may be bound.

        Returns:
            ``codes``, to press in this order and to release in reverse, and ``is_bound``: whether
            `finish` must be called afterwards.

        Raises:
            ProbeError: as for `press`.
        """
        self._prepared = self._chord(names, codes, deadline_s, may_bind=may_bind)
        self._prepared_at_s = time.monotonic()
        return {"codes": self._prepared, "is_bound": self._spare.is_bound}

    def finish(self, deadline_s: float) -> bool:
        """Wait until the prepared keys were pressed and read, and release bound keys.

        Returns:
            Whether they were; if not, `tidy` continues.
        """
        return self._have_arrived(deadline_s) and self._spare.release(deadline_s)

    def tidy(self) -> None:
        """Release bound keys that could not be released in time; called while there are any."""
        self._spare.release(time.monotonic() + _ARRIVAL_EVERY_S)

    def _strokes(self, keysyms: list[int], deadline_s: float) -> dict[int, Stroke] | None:
        """Return strokes for the next characters; None if bound keys are not read in time."""
        strokes = strokes_of(self._layout())
        missing = [keysym for keysym in dict.fromkeys(keysyms) if keysym not in strokes]
        if missing and (keysyms[0] in missing or not self._spare.is_bound):
            if not self._spare.release(deadline_s):
                return None
            used = {strokes[keysym].code for keysym in keysyms if keysym in strokes}
            self._spare.bind(missing, self._layout(), used)
            strokes = strokes_of(self._layout())
            if keysyms[0] not in strokes:
                raise ProbeError("unsupported", f"no key can be bound to {keysyms[0]:#x}")
        return strokes

    def _type(self, keysyms: list[int], strokes: dict[int, Stroke], deadline_s: float) -> int:
        """Type up to the first character without a stroke; return the number typed."""
        for done, keysym in enumerate(keysyms):
            if keysym not in strokes or time.monotonic() > deadline_s:
                return done
            stroke = strokes[keysym]
            codes = [*stroke.held, stroke.code]
            for code in codes:
                self._fake_input(self._display, self._press, code)
            for code in reversed(codes):
                self._fake_input(self._display, self._release, code)
            self._display.sync()
            time.sleep(_KEY_PAUSE_S)
        return len(keysyms)

    def _chord(
        self,
        names: Sequence[str],
        codes: frozenset[int] | None,
        deadline_s: float,
        *,
        may_bind: bool = True,
    ) -> list[int]:
        keysyms = {keysym_of_name(name): name for name in names}
        if self._spare.is_bound and not self._spare.release(deadline_s):
            raise ProbeError("timeout", "the program in front does not read its input")
        chord = chord_of(self._layout(codes), keysyms)
        if not chord.missing:
            return chord.codes
        if may_bind:
            self._spare.bind(chord.missing, self._layout(codes), chord.codes)
            chord = chord_of(self._layout(codes), keysyms)
        if chord.missing:
            self._spare.restore()
            lacking = ", ".join(keysyms[keysym] for keysym in chord.missing)
            raise ProbeError("unsupported", f"the keyboard has no key for {lacking}")
        return chord.codes

    def _layout(self, codes: frozenset[int] | None = None) -> Layout:
        """Return the present layout of all keys, or of some."""
        layout = self._keyboard.read()
        return layout if codes is None else layout.only(codes)

    def _have_arrived(self, deadline_s: float) -> bool:
        """Wait until the server has got presses and releases of the prepared keys."""
        idle = IdleTime(self._display)
        while True:
            since_s = time.monotonic() - self._prepared_at_s
            keymap = self._display.query_keymap()
            is_down = any(keymap[code // 8] >> code % 8 & 1 for code in self._prepared)
            if idle.read_s() < since_s and not is_down:
                return True
            if time.monotonic() > deadline_s:
                return False
            time.sleep(_ARRIVAL_EVERY_S)
