"""Characters that keys type."""

from __future__ import annotations

import pytest

from provisioning.probe.display.typist import keysym_of


@pytest.mark.parametrize(
    ("char", "keysym"),
    [("a", 0x61), ("\n", 0xFF0D), ("é", 0xE9), ("€", 0x10020AC), ("😀", 0x101F600)],
)
def test_every_character_has_a_keysym(char: str, keysym: int) -> None:
    assert keysym_of(char) == keysym
