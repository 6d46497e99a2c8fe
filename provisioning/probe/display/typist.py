"""Type any Unicode text on an X display with any keyboard layout.

Characters that no key has are first assigned to spare keys, different ones to different keys, and
stay there. Tools that reuse one spare key lose characters in slow programs: a program looks up a
key when it processes the event, and by then the key means the next character. Keys with consecutive
codes are used first: they change with one request, and each request makes every program read the
keyboard again. Keys that a program has grabbed, as desktops do with multimedia keys, are not used:
while they are grabbed, their input goes to that program.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Dict, Tuple

from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from Xlib.display import Display

_KEY_PAUSE_S = 0.006
_SETTLE_S = 0.15
# Source: X11/keysymdef.h: Unicode characters above Latin-1 are 0x01000000 plus the code point.
_UNICODE = 0x01000000
_LATIN_1 = 0x100
_CONTROLS = {"\n": 0xFF0D, "\r": 0xFF0D, "\t": 0xFF09, "\b": 0xFF08, "\x1b": 0xFF1B}
_SHIFT_L = 0xFFE1
# Source: X11/XF86keysym.h: keys such as XF86Launch3; X maps many of them that no PC has.
_VENDOR = range(0x10080000, 0x10090000)

Keymap = Dict[int, Tuple[int, bool]]


class Typist:
    """Keyboard input through XTest.

    Args:
        display: connection to the target display.
    """

    def __init__(self, display: Display) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        self._display = display
        self._press, self._release = X.KeyPress, X.KeyRelease
        self._fake_input = xtest.fake_input

    def type(self, text: str, deadline_s: float) -> None:
        """Type a text, key by key.

        Args:
            text: text to type; a newline presses Return.
            deadline_s: on the monotonic clock.

        Raises:
            ProbeError: ``timeout``, or ``unsupported`` for a control character or if the keyboard
                has no spare key.
        """
        keysyms = [keysym_of(char) for char in text]
        done = 0
        for keymap, count in self._stretches(keysyms):
            shift = keymap[_SHIFT_L][0]
            for keysym in keysyms[done : done + count]:
                if time.monotonic() > deadline_s:
                    raise ProbeError("timeout", f"typed {done} of {len(text)} characters")
                self._press_key(*keymap[keysym], shift)
                done += 1

    def _stretches(self, keysyms: list[int]) -> Iterator[tuple[Keymap, int]]:
        """Yield keymaps with the number of next characters that each can type."""
        done = 0
        while done < len(keysyms):
            rows = self._rows()
            keymap = _keymap(rows)
            wanted = _missing(keysyms[done:], keymap)
            spare = self._free([c for c, row in rows.items() if _is_spare(row)]) if wanted else []
            if wanted and not spare and _typeable(keysyms[done:], keymap) == 0:
                # Reuse keys that were assigned earlier, once their input has been read.
                time.sleep(_SETTLE_S * 4)
                spare = self._free([code for code, row in rows.items() if _is_given(row)])
                keymap = _keymap({code: row for code, row in rows.items() if code not in spare})
                wanted = _missing(keysyms[done:], keymap)
            if wanted and spare:
                self._give(_rows_of_keys(spare), wanted)
                keymap = _keymap(self._rows())
            count = _typeable(keysyms[done:], keymap)
            if not count:
                raise ProbeError("unsupported", "the keyboard has no spare key")
            yield keymap, count
            done += count

    def _free(self, codes: list[int]) -> list[int]:
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

    def _give(self, runs: list[list[int]], keysyms: list[int]) -> None:
        """Assign characters to keys, up to the number of keys."""
        left = list(keysyms)
        for run in runs:
            given, left = left[: len(run)], left[len(run) :]
            if given:
                rows = [(keysym, keysym) for keysym in given]
                self._display.change_keyboard_mapping(run[0], rows)
        self._display.sync()
        time.sleep(_SETTLE_S)

    def _rows(self) -> dict[int, tuple[int, ...]]:
        info = self._display.display.info
        first, last = info.min_keycode, info.max_keycode
        rows = self._display.get_keyboard_mapping(first, last - first + 1)
        return {first + index: tuple(row) for index, row in enumerate(rows)}

    def _press_key(self, code: int, is_shifted: bool, shift: int) -> None:  # noqa: FBT001
        if is_shifted:
            self._fake_input(self._display, self._press, shift)
        self._fake_input(self._display, self._press, code)
        self._fake_input(self._display, self._release, code)
        if is_shifted:
            self._fake_input(self._display, self._release, shift)
        self._display.sync()
        time.sleep(_KEY_PAUSE_S)


def keysym_of(char: str) -> int:
    """Return the X keysym of a character.

    Raises:
        ProbeError: ``unsupported``, for a control character that no key types.
    """
    code = ord(char)
    if char in _CONTROLS:
        return _CONTROLS[char]
    if code < 0x20 or 0x7F <= code < 0xA0:  # noqa: PLR2004 - the control characters
        raise ProbeError("unsupported", f"no key types U+{code:04X}")
    return code if code < _LATIN_1 else _UNICODE + code


def _keymap(rows: dict[int, tuple[int, ...]]) -> Keymap:
    keymap: Keymap = {}
    for code, row in sorted(rows.items()):
        for level, keysym in enumerate(row[:2]):
            if keysym:
                keymap.setdefault(keysym, (code, level == 1))
    return keymap


def _is_spare(row: tuple[int, ...]) -> bool:
    """Return whether a key has no character, or only a multimedia function."""
    return all(not keysym or keysym in _VENDOR for keysym in row)


def _is_given(row: tuple[int, ...]) -> bool:
    """Return whether this module assigned the key: one non-ASCII character on both levels."""
    keysym = row[0]
    is_foreign = (keysym > _UNICODE and keysym not in _VENDOR) or 0xA0 <= keysym < _LATIN_1  # noqa: PLR2004
    return is_foreign and set(row[:2]) <= {0, keysym}


def _missing(keysyms: list[int], keymap: Keymap) -> list[int]:
    return list(dict.fromkeys(keysym for keysym in keysyms if keysym not in keymap))


def _rows_of_keys(codes: list[int]) -> list[list[int]]:
    """Return the runs of consecutive codes, longest first."""
    runs: list[list[int]] = []
    for code in sorted(codes):
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return sorted(runs, key=len, reverse=True)


def _typeable(keysyms: list[int], keymap: Keymap) -> int:
    for index, keysym in enumerate(keysyms):
        if keysym not in keymap:
            return index
    return len(keysyms)
