"""Which keys are pressed, for a small keyboard with two layout groups."""

from __future__ import annotations

import struct

import pytest

from provisioning.probe.display.keys import keysym_of_name
from provisioning.probe.display.layout import LOCK_BIT, SHIFT_BIT, Layout
from provisioning.probe.display.strokes import chord_of, strokes_of
from provisioning.probe.errors import ProbeError

ALTGR_BIT = 0x80
CTRL, SHIFT, ALTGR, KEYPAD, A, PLUS, Q, RARE, SPARE, VENDOR = range(8, 18)
ONE, TWO, LETTER, FOUR = range(4)
TYPES = [
    (0, []),
    (SHIFT_BIT, [(SHIFT_BIT, 1)]),
    (SHIFT_BIT | LOCK_BIT, [(SHIFT_BIT, 1), (LOCK_BIT, 1)]),
    (SHIFT_BIT | ALTGR_BIT, [(SHIFT_BIT, 1), (ALTGR_BIT, 2), (SHIFT_BIT | ALTGR_BIT, 3)]),
]
US = {
    CTRL: [(ONE, ["ctrl"])],
    SHIFT: [(ONE, ["shift"])],
    ALTGR: [(ONE, ["altgr"])],
    A: [(LETTER, ["a", "A"]), (LETTER, ["ф", "Ф"])],
    PLUS: [(TWO, ["=", "+"])],
    Q: [(FOUR, ["q", "Q", "@", "Greek_OMEGA"])],
    KEYPAD: [(TWO, ["KP_Home", "KP_7"])],
    RARE: [(ONE, ["Muhenkan"])],
    SPARE: [],
    VENDOR: [(ONE, ["XF86Mail"])],
}
MODIFIERS = {CTRL: 0x04, SHIFT: SHIFT_BIT, ALTGR: ALTGR_BIT}


def describe(keys: dict[int, list[tuple[int, list[str]]]], out_of_range: int = 0) -> bytes:
    """Return a layout as an X server describes it."""
    header = bytearray(32)
    header[7], header[9], header[12], header[25] = len(TYPES), min(keys), len(keys), len(MODIFIERS)
    body = b""
    for mask, levels in TYPES:
        body += struct.pack("=BBHBBBB", mask, mask, 0, 4, len(levels), 0, 0)
        for mods, level in levels:
            body += struct.pack("=BBBBHH", 1, mods, level, mods, 0, 0)
    for _, groups in sorted(keys.items()):
        width = max((len(names) for _, names in groups), default=0)
        types = [group[0] for group in groups] + [0] * (4 - len(groups))
        count = width * len(groups)
        body += struct.pack("=BBBBBBH", *types, len(groups) | out_of_range, width, count)
        for _, names in groups:
            row = [keysym_of_name(name) for name in names]
            body += struct.pack(f"={width}I", *row, *[0] * (width - len(row)))
    for code, mods in MODIFIERS.items():
        body += bytes((code, mods))
    return bytes(header) + body


def layout(group: int = 0, mods: int = 0) -> Layout:
    return Layout(describe(US), group, mods)


def typed(present: Layout, char: str) -> list[int]:
    code, held = strokes_of(present)[keysym_of_name(char)]
    return [*held, code]


def chord(present: Layout, *names: str) -> list[int]:
    pressed, missing = chord_of(present, {keysym_of_name(name): name for name in names})
    assert not missing
    return pressed


def lacking(present: Layout, *names: str) -> list[int]:
    return chord_of(present, {keysym_of_name(name): name for name in names}).missing


@pytest.mark.parametrize(
    ("char", "codes"),
    [
        ("a", [A]),
        ("A", [SHIFT, A]),
        ("=", [PLUS]),
        ("+", [SHIFT, PLUS]),
        ("@", [ALTGR, Q]),
        ("Greek_OMEGA", [ALTGR, SHIFT, Q]),
    ],
)
def test_characters_are_typed_with_the_modifiers_of_their_level(
    char: str, codes: list[int]
) -> None:
    assert typed(layout(), char) == codes


def test_only_the_active_group_types() -> None:
    assert typed(layout(group=1), "ф") == [A]
    assert keysym_of_name("a") not in strokes_of(layout(group=1))
    # Keys without a second group mean the same in it.
    assert typed(layout(group=1), "+") == [SHIFT, PLUS]


@pytest.mark.parametrize(("out_of_range", "char"), [(0x00, "a"), (0x40, "ф"), (0x90, "ф")])
def test_missing_groups_wrap_are_clamped_or_redirected(out_of_range: int, char: str) -> None:
    present = Layout(describe(US, out_of_range), 2, 0)
    assert typed(present, char) == [A]


def test_caps_lock_turns_shift_around() -> None:
    present = layout(mods=LOCK_BIT)
    assert (typed(present, "a"), typed(present, "A")) == ([SHIFT, A], [A])
    assert typed(present, "=") == [PLUS]


@pytest.mark.parametrize(
    ("names", "codes"),
    [
        (["a"], [A]),
        (["A"], [SHIFT, A]),
        (["plus"], [SHIFT, PLUS]),
        (["ctrl", "a"], [CTRL, A]),
        (["ctrl", "plus"], [SHIFT, CTRL, PLUS]),
        (["shift", "a"], [SHIFT, A]),
        (["shift", "A"], [SHIFT, A]),
        (["shift", "="], [SHIFT, PLUS]),
        (["altgr", "q"], [ALTGR, Q]),
        (["altgr", "@"], [ALTGR, Q]),
        (["ctrl"], [CTRL]),
    ],
)
def test_combinations_press_what_was_named(names: list[str], codes: list[int]) -> None:
    assert chord(layout(), *names) == codes


def test_shortcut_ignores_caps_lock() -> None:
    assert chord(layout(mods=LOCK_BIT), "ctrl", "a") == [CTRL, A]
    assert chord(layout(mods=LOCK_BIT), "a") == [SHIFT, A]


def test_keys_that_do_not_go_together_need_another_key() -> None:
    assert lacking(layout(), "a", "plus") == [keysym_of_name("plus")]
    assert lacking(layout(), "shift", "@") == [keysym_of_name("@")]


def test_missing_modifier_is_refused() -> None:
    with pytest.raises(ProbeError, match="no key super"):
        chord(layout(), "super", "a")


def test_other_keyboard_has_some_of_the_keys() -> None:
    part = layout().only(frozenset({CTRL, A, SPARE}))
    assert lacking(part, "ctrl", "+") == [keysym_of_name("+")]
    assert part.spare_codes() == [SPARE]


def test_unused_keys_are_spared_first_and_multimedia_keys_never() -> None:
    assert layout().spare_codes() == [SPARE, RARE, KEYPAD]
