"""The specification of the image; ``host`` is one of its machines, ``desktop`` its running session."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("name", ["thunderbird", "evince", "eog", "geany", "chromium"])
def test_programs_are_in_the_menu(host: Any, name: str) -> None:
    assert host.package(name).is_installed
    found = host.check_output(f"ls /usr/share/applications | grep -i '{name}.*desktop$'")
    assert found


def test_chromium_has_all_its_libraries(host: Any) -> None:
    missing = host.run("ldd /usr/lib/chromium/chromium | grep 'not found'")
    assert missing.stdout == ""


def test_chromium_draws_a_page(desktop: Any) -> None:
    page = "data:text/html,<title>it draws</title>"
    shown = desktop.check_output(
        f"timeout 200 chromium --headless --disable-gpu --dump-dom '{page}'"
    )
    assert "it draws" in shown


def test_links_open_in_firefox(desktop: Any) -> None:
    assert "firefox" in desktop.check_output("xdg-mime query default x-scheme-handler/https")
