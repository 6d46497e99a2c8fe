"""The specification of the image; ``host`` is one of its machines, ``desktop`` its running session."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

PAGE = "<title>It draws</title><h1>A page in Chromium</h1><p>Its text is here.</p>"
PDF = """%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 66>>stream
BT /F 32 Tf 60 740 Td (A page in a PDF) Tj ET 60 700 300 8 re f
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
"""
SOURCE = 'def greet(name: str) -> str:\n    """Return a greeting."""\n    return f"Hello, {name}"\n'
_STARTS_S = 900.0
"""Thunderbird takes minutes under emulation on a busy host."""
OPENED = {
    "evince": (PDF, "/var/tmp/page.pdf", "page.pdf"),  # noqa: S108
    "geany": (SOURCE, "/var/tmp/greet.py", "greet.py"),  # noqa: S108
    "chromium": (PAGE, "/var/tmp/page.html", "It draws"),  # noqa: S108
    "eog": ("", "/usr/share/pixmaps/ubuntu-logo-icon.png", "Image Viewer"),
    "thunderbird": ("", "", "Mozilla Thunderbird"),
}
"""By program: content and path of what it opens, and the title of its window."""


@pytest.mark.parametrize("name", ["thunderbird", "evince", "eog", "geany", "chromium"])
def test_programs_are_in_the_menu(host: Any, name: str) -> None:
    assert host.package(name).is_installed
    found = host.check_output(f"ls /usr/share/applications | grep -i '{name}.*desktop$'")
    assert found


def test_chromium_has_all_its_libraries(host: Any) -> None:
    missing = host.run("ldd /usr/lib/chromium/chromium | grep 'not found'")
    assert missing.stdout == ""


def test_links_open_in_firefox(desktop: Any) -> None:
    assert "firefox" in desktop.check_output("xdg-mime query default x-scheme-handler/https")


@pytest.mark.parametrize("program", OPENED)
def test_a_program_shows_its_window(desktop: Any, screen: Any, program: str) -> None:
    content, path, title = OPENED[program]
    if content:
        desktop.check_output(f"printf %s {shlex.quote(content)} > {path}")
    desktop.check_output(f"setsid -f {program} {path} > /dev/null 2>&1")
    try:
        window = screen.see(title, program, timeout_s=_STARTS_S)
    finally:
        desktop.run(f"pkill -f '/{program}( |$)' || pkill -x {program}")
    assert program in window.wm_class.lower()
