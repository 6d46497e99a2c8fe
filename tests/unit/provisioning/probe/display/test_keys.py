from __future__ import annotations

import pytest

from provisioning.probe.display.keys import canonical, cases, keysym_of_character, keysym_of_name
from provisioning.probe.errors import ProbeError


@pytest.mark.parametrize(
    ("names", "keysym"),
    [
        (["ctrl", "CTRL", "Control_L"], 0xFFE3),
        (["super", "win", "cmd", "meta"], 0xFFEB),
        (["Return", "enter", "RETURN", "\n"], 0xFF0D),
        (["del", "Delete", "delete"], 0xFFFF),
        (["PageUp", "Prior", "page_up"], 0xFF55),
        (["f5", "F5"], 0xFFC2),
        (["F13"], 0xFFCA),
        (["at", "@"], 0x40),
        (["question", "?"], 0x3F),
        (["exclam", "!"], 0x21),
        (["plus", "+"], 0x2B),
        (["colon", ":"], 0x3A),
        (["é", "eacute", "U00E9"], 0xE9),
        (["€", "EuroSign", "U20AC"], 0x10020AC),
        (["ф", "Cyrillic_ef"], 0x1000444),
        (["ё", "Cyrillic_io"], 0x1000451),
        (["ą", "aogonek"], 0x1000105),
        (["XF86AudioMute", "XF86_AudioMute", "xf86audiomute"], 0x1008FF12),
    ],
)
def test_keys_are_known_by_all_their_names(names: list[str], keysym: int) -> None:
    assert [keysym_of_name(name) for name in names] == [keysym] * len(names)


@pytest.mark.parametrize("name", ["", "nokey", "Hyper_Q", "F0", "F36", "ctrl+s", "U00ZZ", "A B"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ProbeError, match="unknown key"):
        keysym_of_name(name)


def test_names_that_differ_by_case_are_two_keys() -> None:
    assert (keysym_of_name("a"), keysym_of_name("A")) == (0x61, 0x41)
    assert (keysym_of_name("adiaeresis"), keysym_of_name("Adiaeresis")) == (0xE4, 0xC4)
    with pytest.raises(ProbeError):
        keysym_of_name("ADIAERESIS")


@pytest.mark.parametrize(
    ("char", "keysym"),
    [("a", 0x61), ("\n", 0xFF0D), ("é", 0xE9), ("€", 0x10020AC), ("😀", 0x101F600)],
)
def test_every_character_has_a_keysym(char: str, keysym: int) -> None:
    assert keysym_of_character(char) == keysym


def test_control_character_has_no_key() -> None:
    with pytest.raises(ProbeError, match="0007"):
        keysym_of_character("\a")


@pytest.mark.parametrize(
    ("keysym", "form"),
    [
        (0x61, 0x61), (0x20AC, 0x10020AC), (0x6C1, 0x1000430), (0x1A1, 0x104 + 0x1000000),
        (0x1000041, 0x41), (0xFF0D, 0xFF0D), (0x1008FF12, 0x1008FF12), (0x6A1, 0x6A1),
    ],
)  # fmt: skip
def test_a_character_has_one_number(keysym: int, form: int) -> None:
    assert canonical(keysym) == form


@pytest.mark.parametrize(
    ("char", "pair"), [("ф", "фФ"), ("Ф", "фФ"), ("ß", "ßß"), ("日", "日日"), ("😀", "😀😀")]
)
def test_cases_of_a_character(char: str, pair: str) -> None:
    lower, upper = list(pair)
    assert cases(keysym_of_character(char)) == (
        keysym_of_character(lower),
        keysym_of_character(upper),
    )


def test_other_keys_have_no_case() -> None:
    assert cases(0xFF0D) == (0xFF0D, 0xFF0D)
