"""The keyboard layout of an X display: what each key means in the keyboard's present state.

python-xlib does not have the X Keyboard Extension. Without it, keyboards look like those of X before
1996: without the active layout group, and without keys of more than two levels.

Source: The X Keyboard Extension: Protocol Specification, X.Org, and X11/extensions/XKBproto.h.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Dict, NamedTuple, Tuple

from provisioning.probe.display.extensions import Extension
from provisioning.probe.display.keys import LEVEL_3, canonical, cases

if TYPE_CHECKING:
    from Xlib.display import Display

SHIFT_BIT, LOCK_BIT = 0x01, 0x02
_MOD_5_BIT = 0x80
_USE_EXTENSION, _GET_STATE, _GET_MAP, _SET_MAP = 0, 4, 8, 9
_CORE_KEYBOARD = 0x100
_KEYSYMS = 0x02
_WANTED = 0x01 | _KEYSYMS | 0x04  # key types, keysyms, modifiers
# Types that every keyboard has: one level, and lower and upper case.
_ONE_LEVEL, _ALPHABETIC = 0, 2
_HEADER_BYTES = 32
# Source: X11/keysymdef.h, X11/Sunkeysym.h: keys that hardly any keyboard or program has, and the keypad.
_RARE = frozenset(
    {0xFF0A, *range(0xFF21, 0xFF40), 0xFF60, 0xFF62, *range(0xFF65, 0xFF67), 0xFF69, 0xFF6B}
    | {0x1005FF70, 0x1005FF71}
)
_KEYPAD = range(0xFF80, 0xFFBE)
_CLAMP, _REDIRECT = 0x40, 0x80

Found = Dict[int, int]
"""Keycode by keysym."""


class _Type(NamedTuple):
    """A key type: which modifiers it looks at, and the level for each combination of them."""

    mask: int
    levels: Dict[int, int]


class Key(NamedTuple):
    """A key: types by group, number of groups and how others are mapped to these, and keysyms."""

    types: Tuple[int, ...]
    groups: int
    width: int
    keysyms: Tuple[int, ...]

    def encoded(self) -> bytes:
        """Return the key as the protocol has it."""
        count = len(self.keysyms)
        return struct.pack(
            f"=BBBBBBH{count}I", *self.types, self.groups, self.width, count, *self.keysyms
        )


class Layout:
    """A keyboard layout with its state.

    Args:
        description: the server's reply to GetMap, from its ninth byte on.
        group: effective layout group.
        mods: effective modifiers, locked ones such as Caps Lock included.
        held: modifiers whose keys are down.

    Attributes:
        codes: first and last code of a key.
        keys: the keys by code.
    """

    def __init__(self, description: bytes, group: int, mods: int, held: int = 0) -> None:
        self.group = group
        self.mods = mods
        self.held = held
        self._types: list[_Type] = []
        self.keys: dict[int, Key] = {}
        self._mods_of_keys: dict[int, int] = {}
        self._found: dict[int, Found] = {}
        self._parse(description)

    def keysym(self, code: int, mods: int) -> int:
        """Return what a key means with modifiers, as programs do; 0 for nothing."""
        key = self.keys.get(code)
        if key is None or not key.keysyms:
            return 0
        group = self._group_of(key)
        key_type = self._types[key.types[group]]
        level = key_type.levels.get(mods & key_type.mask, 0)
        keysym = canonical(key.keysyms[group * key.width + level])
        if mods & LOCK_BIT and not key_type.mask & LOCK_BIT:
            return cases(keysym)[1]
        return keysym

    def find(self, mods: int) -> Found:
        """Return the first key of each keysym that one key types with these modifiers."""
        found = self._found.get(mods)
        if found is None:
            found = self._found[mods] = {}
            for code in self.keys:
                found.setdefault(self.keysym(code, mods), code)
            found.pop(0, None)
        return found

    def level_3_bit(self) -> int:
        """Return the modifier that selects the third level, as AltGr does."""
        bits = 0
        for code, mods in self._mods_of_keys.items():
            if self.keysym(code, 0) == LEVEL_3:
                bits |= mods
        return bits or _MOD_5_BIT

    def spare_codes(self) -> list[int]:
        """Return the keys that can be spared: unused ones, then rare ones, then the keypad.

        Multimedia keys cannot: as soon as the keyboard changes, desktops grab them anew.
        """
        ranks = {code: _rank(key) for code, key in self.keys.items()}
        spare = [code for code in ranks if ranks[code] and code not in self._mods_of_keys]
        return sorted(spare, key=lambda code: ranks[code])

    def only(self, codes: frozenset[int]) -> Layout:
        """Return the part of the layout that some keys have."""
        part = object.__new__(Layout)
        part.group, part.mods, part._types = self.group, self.mods, self._types
        part.held = self.held
        part.keys = {code: key for code, key in self.keys.items() if code in codes}
        part._mods_of_keys, part._found = self._mods_of_keys, {}
        return part

    def _group_of(self, key: Key) -> int:
        """Return the group of a key that has fewer groups than the keyboard."""
        count = key.groups & 0xF
        if self.group < count:
            return self.group
        if key.groups & _REDIRECT:
            target = key.groups >> 4 & 0x3
            return target if target < count else 0
        return count - 1 if key.groups & _CLAMP else self.group % count

    def _parse(self, data: bytes) -> None:
        self.codes = data[2], data[3]
        type_count, first_code, key_count, modifier_count = data[7], data[9], data[12], data[25]
        rest = _Reader(data[_HEADER_BYTES:])
        self._types = [rest.key_type() for _ in range(type_count)]
        self.keys = {first_code + index: rest.key() for index in range(key_count)}
        for _ in range(modifier_count):
            code, mods = rest.take("BB")
            self._mods_of_keys[code] = mods


class _Reader:
    """Reads the parts of a reply to GetMap in their order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def take(self, form: str) -> tuple[int, ...]:
        """Read numbers in native byte order, as the connection was opened with."""
        values = struct.unpack_from(f"={form}", self._data, self._position)
        self._position += struct.calcsize(f"={form}")
        return values

    def key_type(self) -> _Type:
        mask, _mods, _virtual, _levels, count, preserves, _pad = self.take("BBHBBBB")
        entries = [self.take("BBBBHH") for _ in range(count)]
        self._position += 4 * count if preserves else 0
        return _Type(mask, {entry[1]: entry[2] for entry in entries if entry[0]})

    def key(self) -> Key:
        *types, groups, width, count = self.take("BBBBBBH")
        return Key(tuple(types), groups, width, self.take(f"{count}I"))


def _rank(key: Key) -> int:
    """Return which keys to spare first, from 1 on; 0 for keys that are needed."""
    keysyms = set(key.keysyms) - {0}
    if not keysyms:
        return 1
    if keysyms <= _RARE:
        return 2
    return 3 if all(keysym in _KEYPAD for keysym in keysyms) else 0


def key_for(keysym: int) -> Key:
    """Return a key that means one keysym, and its other case with Shift."""
    lower, upper = cases(keysym)
    if lower == upper:
        return Key((_ONE_LEVEL, 0, 0, 0), 1, 1, (keysym,))
    return Key((_ALPHABETIC, 0, 0, 0), 1, 2, (lower, upper))


class Keyboard:
    """Reads the layout of a display, and changes keys; parses a layout only if it has changed.

    Args:
        display: connection to the display.

    """

    def __init__(self, display: Display) -> None:
        self._display = display
        self._extension: Extension | None = None
        self._kept: tuple[bytes, int, int, int] | None = None
        self._layout: Layout | None = None

    def write(self, keys: dict[int, Key]) -> None:
        """Change keys with one request: each makes every program read the keyboard again.

        Args:
            keys: keys by code; those between them are written as they are.
        """
        first, last = min(keys), max(keys)
        present = self.read()
        merged = [keys.get(code) or present.keys[code] for code in range(first, last + 1)]
        count, total = len(merged), sum(len(key.keysyms) for key in merged)
        head = struct.pack("=HHH", _CORE_KEYBOARD, _KEYSYMS, 0)
        head += struct.pack("=BBBBBBH18x", *present.codes, 0, 0, first, count, total)
        body = b"".join(key.encoded() for key in merged)
        self._xkb().send(_SET_MAP, head + body)

    def read(self) -> Layout:
        """Return the present layout.

        Raises:
            ProbeError: ``unsupported``, if the server does not have the X Keyboard Extension.
        """
        asked = self._xkb().ask(_GET_STATE, struct.pack("=HH", _CORE_KEYBOARD, 0))
        described = self._xkb().ask(_GET_MAP, struct.pack("=HH20x", _CORE_KEYBOARD, _WANTED))
        asked.reply()
        described.reply()
        mods, held, group = asked.rest[0], asked.rest[1], asked.rest[4]
        key = described.rest, group, mods, held
        if self._layout is None or self._kept != key:
            self._layout, self._kept = Layout(*key), key
        return self._layout

    def _xkb(self) -> Extension:
        if self._extension is None:
            self._extension = Extension(self._display, "XKEYBOARD")
            self._extension.ask(_USE_EXTENSION, struct.pack("=HH", 1, 0)).reply()
        return self._extension
