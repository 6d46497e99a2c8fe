"""The specification of the image; ``host`` is one of its machines, ``desktop`` its running session."""

from __future__ import annotations

from typing import Any


def test_the_program_is_installed(host: Any) -> None:
    assert host.package("mtpaint").is_installed
    assert host.file("/usr/share/applications/mtpaint.desktop").exists


def test_the_sketch_belongs_to_the_user(host: Any) -> None:
    sketch = host.file("/home/user/Pictures/sketch.png")
    assert (sketch.user, sketch.mode) == ("user", 0o644)


def test_the_program_shows_the_sketch(desktop: Any, screen: Any) -> None:
    desktop.check_output("setsid -f mtpaint ~/Pictures/sketch.png > /dev/null 2>&1")
    screen.see("sketch.png", "sketch")
