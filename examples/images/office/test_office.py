"""The specification of the image; ``host`` is one of its machines, as root."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("name", ["thunderbird", "chromium", "evince", "eog", "geany"])
def test_a_program_is_installed_and_in_the_menu(host: Any, name: str) -> None:
    assert host.package(name).is_installed
    entries = host.check_output("ls /usr/share/applications").lower()
    assert name in entries
