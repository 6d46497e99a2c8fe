"""Which keys to press for characters and key combinations under a layout in its present state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, NamedTuple, Tuple

from provisioning.probe.display.keys import LEVEL_3, SHIFT
from provisioning.probe.display.layout import LOCK_BIT, SHIFT_BIT
from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.probe.display.layout import Layout

_SHIFTS = frozenset({SHIFT, SHIFT + 1})
# Source: X11/keysymdef.h: Shift_L to Hyper_R, ISO_Lock to ISO_Level5_Lock, Mode_switch, Num_Lock.
_MODIFIERS = frozenset({*range(0xFFE1, 0xFFEF), *range(0xFE01, 0xFE14), 0xFF7E, 0xFF7F})
# Keys that make a shortcut of another key, for which programs ignore Caps Lock.
_SHORTCUT = frozenset({0xFFE3, 0xFFE4, *range(0xFFE7, 0xFFEF)})


class Stroke(NamedTuple):
    """A key with the modifier keys that are held while it is pressed."""

    code: int
    held: Tuple[int, ...]


class Chord(NamedTuple):
    """Keys to press one after the other, and to release in reverse."""

    codes: List[int]
    missing: List[int]
    """Keysyms that the layout lacks; the codes are then incomplete."""


def strokes_of(layout: Layout) -> Dict[int, Stroke]:
    """Return how to type each keysym."""
    strokes: Dict[int, Stroke] = {}
    for bits, held in _levels(layout):
        for keysym, code in layout.find(layout.mods | bits).items():
            strokes.setdefault(keysym, Stroke(code, held))
    return strokes


def chord_of(layout: Layout, names: Dict[int, str]) -> Chord:
    """Return how to press keys together.

    Besides the given keys, it may need others: "A" needs Shift. A key that is given together with
    Shift may also be meant by its place: ["shift", "a"]. Modifiers that are held down already count as
    given before.

    Args:
        layout: the layout.
        names: names of the keys by keysym, in order.

    Raises:
        ProbeError: ``unsupported``, if the layout lacks a modifier key.
    """
    modifiers = [keysym for keysym in names if keysym in _MODIFIERS]
    keys = [keysym for keysym in names if keysym not in _MODIFIERS]
    held_codes = {keysym: _modifier_code(layout, keysym, names[keysym]) for keysym in modifiers}
    state = layout.mods & ~layout.held
    if _SHORTCUT.intersection(modifiers):
        state &= ~LOCK_BIT
    given = SHIFT_BIT if _SHIFTS.intersection(modifiers) else 0
    given |= layout.level_3_bit() if LEVEL_3 in modifiers else 0
    best: Chord | None = None
    for bits, held in _levels(layout):
        if bits & given not in {bits, given}:
            continue
        found = layout.find(state | bits)
        missing = [keysym for keysym in keys if keysym not in found]
        if best is None or len(missing) < len(best.missing):
            codes = {**{keysym: found.get(keysym, 0) for keysym in keys}, **held_codes}
            pressed = [codes[keysym] for keysym in names if codes[keysym]]
            extra = held if bits & ~given else ()
            best = Chord(list(dict.fromkeys([*extra, *pressed])), missing)
    assert best is not None  # noqa: S101 - the level without modifiers always exists
    return best


def _levels(layout: Layout) -> Sequence[tuple[int, tuple[int, ...]]]:
    """Return the modifiers that select levels, with the keys to hold for them.

    The third level's comes first: with Shift, its key may mean something else.
    """
    plain = layout.find(layout.mods & ~LOCK_BIT)
    shift, level_3 = plain.get(SHIFT), plain.get(LEVEL_3)
    bit = layout.level_3_bit()
    levels: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    if shift:
        levels.append((SHIFT_BIT, (shift,)))
    if level_3:
        levels.append((bit, (level_3,)))
    if shift and level_3:
        levels.append((SHIFT_BIT | bit, (level_3, shift)))
    return levels


def _modifier_code(layout: Layout, keysym: int, name: str) -> int:
    code = layout.find(layout.mods & ~LOCK_BIT).get(keysym)
    if code is None:
        raise ProbeError("unsupported", f"the present keyboard layout has no key {name}")
    return code
