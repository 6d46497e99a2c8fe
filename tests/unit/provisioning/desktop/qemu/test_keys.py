from __future__ import annotations

import pytest

from appliance.base.errors import InvalidActionError
from provisioning.desktop.qemu.keys import qcode_of_key


@pytest.mark.parametrize(
    ("name", "qcode"),
    [
        ("ctrl", "ctrl"),
        ("Return", "ret"),
        ("a", "a"),
        ("A", "a"),
        ("F12", "f12"),
        ("Page_Up", "pgup"),
    ],
)
def test_keys_are_known_by_their_x_names(name: str, qcode: str) -> None:
    assert qcode_of_key(name) == qcode


@pytest.mark.parametrize("name", ["F13", "F0", "NoSuchKey", "", "é"])
def test_other_key_names_are_rejected(name: str) -> None:
    with pytest.raises(InvalidActionError):
        qcode_of_key(name)
