from __future__ import annotations

from provisioning.desktop.qemu.keys import QCODES


def test_keys_have_the_codes_of_x() -> None:
    # Source: xkeyboard-config, keycodes/evdev: AC01, RTRN, LCTL, RALT, LVL3 (which no PC has).
    assert [QCODES.get(code) for code in (38, 36, 37, 108, 92)] == [
        "a",
        "ret",
        "ctrl",
        "alt_r",
        None,
    ]


def test_no_two_keys_are_the_same() -> None:
    assert len(set(QCODES.values())) == len(QCODES)


def test_keys_that_end_a_machine_are_left_out() -> None:
    assert not {"power", "sleep", "wake"} & set(QCODES.values())
