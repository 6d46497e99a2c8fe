"""Tests of the review of a real desktop: fresh, with an open dialog, without picture loaders and fonts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from PIL import Image

from controller.observation.settle import DEFAULT_RULE, settle_machine
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import DesktopFaultyError
from foundation.settings import get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.reset.digests import take_digest
from provisioning.resource import DESKTOP, ResourceSpec
from provisioning.review.desktop import review_desktop
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.protocols import Machine

pytestmark = [pytest.mark.vm, pytest.mark.slow, NEEDS_APPLIANCE]

DIALOG = """
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
Gtk.MessageDialog(message_type=Gtk.MessageType.ERROR, text="The panel encountered a problem").run()
"""
WINDOW_S = 60.0
QUOTES = "'"
DARK = 100


@pytest.fixture
def desktop() -> Iterator[Machine]:
    """Lease a desktop at its snapshot."""
    with LocalFleet(get_settings()).acquire({"desktop": ResourceSpec(DESKTOP)}) as lease:
        yield lease.environment.machines["desktop"]


def as_root(desktop: Machine, script: str) -> str:
    done = desktop.run(["/bin/sh", "-c", script], user="root", timeout_s=60.0)
    assert done.exit_code == 0, done.stderr
    return done.stdout.decode()


def list_windows(desktop: Machine) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", desktop.link.call("windows", timeout_s=30.0))


def count_dialogs(desktop: Machine) -> int:
    return sum(window.kind == "dialog" for window in take_digest(desktop.link).windows)


def test_fresh_desktop_is_as_reviewed(desktop: Machine) -> None:
    review = review_desktop(desktop)
    assert (review.faults, review.warnings) == ((), ())


def test_desktop_with_an_open_dialog_is_rejected(desktop: Machine, tmp_path: Path) -> None:
    desktop.link.call("launch", {"argv": ["python3", "-c", DIALOG]}, timeout_s=30.0)
    assert wait_until(lambda: count_dialogs(desktop) > 0, timeout_s=WINDOW_S, every_s=0.5)
    review = review_desktop(desktop)
    with pytest.raises(DesktopFaultyError, match="a dialog is open") as caught:
        review.require_faultless("desktop-1", tmp_path / "refused.png")
    assert "the accessibility tree has the" in caught.value.details
    assert (tmp_path / "refused.png").is_file()


def test_desktop_without_librsvg2_common_is_rejected(desktop: Machine, tmp_path: Path) -> None:
    as_root(desktop, "dpkg --remove --force-depends librsvg2-common")
    review = review_desktop(desktop)
    with pytest.raises(DesktopFaultyError, match="check that librsvg2-common is installed"):
        review.require_faultless("desktop-1", tmp_path / "refused.png")


def test_proportional_monospace_is_rejected(desktop: Machine, tmp_path: Path) -> None:
    set_font = ["gsettings", "set", "org.gnome.desktop.interface", "monospace-font-name"]
    done = desktop.run([*set_font, "DejaVu Sans 12"], timeout_s=30.0)
    assert done.exit_code == 0, done.stderr
    review = review_desktop(desktop)
    with pytest.raises(DesktopFaultyError, match="font not monospaced: DejaVu Sans 12"):
        review.require_faultless("desktop-1", tmp_path / "refused.png")


def test_typed_text_arrives(desktop: Machine, tmp_path: Path) -> None:
    desktop.link.call("launch", {"argv": ["gnome-terminal"]}, timeout_s=30.0)
    assert wait_until(
        lambda: any(
            window.active and window.kind == "normal"
            for window in take_digest(desktop.link).windows
        ),
        timeout_s=WINDOW_S,
        every_s=0.5,
    )
    # As after each action of an agent: an active window may not accept keys yet.
    settle_machine(desktop, DEFAULT_RULE, SYSTEM_CLOCK)
    desktop.input.text("echo typed > typed.txt\n")
    path = f"{desktop.info.home}/typed.txt"

    def is_written() -> bool:
        return desktop.files.stat(path) is not None and desktop.files.get(path) == b"typed\n"

    if not wait_until(is_written, timeout_s=WINDOW_S, every_s=0.5):
        picture = tmp_path / "typed.png"
        Image.fromarray(desktop.screen.capture()).save(picture)
        there = desktop.run(["grep", "-r", "", path], timeout_s=30.0).text
        pytest.fail(f"{path} holds {there!r}; the terminal looks like this: {picture}")


@nightly("GTK 4 programs are on the distributions that `make test` does not run on")
def test_programs_follow_the_dark_style(desktop: Machine) -> None:
    interface = "org.gnome.desktop.interface"
    theme = desktop.run(["gsettings", "get", interface, "gtk-theme"], timeout_s=30.0).text
    dark = {"gtk-theme": f"{theme.strip(QUOTES)}-dark", "color-scheme": "prefer-dark"}
    for key, value in dark.items():
        assert (
            desktop.run(["gsettings", "set", interface, key, value], timeout_s=30.0).exit_code == 0
        )
    desktop.link.call("launch", {"argv": ["gnome-calculator"]}, timeout_s=30.0)

    def is_dark() -> bool:
        shown = [window for window in list_windows(desktop) if window["title"] == "Calculator"]
        if not shown:
            return False
        left, top, width, height = shown[0]["geometry"]
        middle = desktop.screen.capture()[top : top + height, left : left + width]
        return bool(np.median(middle) < DARK)

    assert wait_until(is_dark, timeout_s=2 * WINDOW_S, every_s=1.0)
