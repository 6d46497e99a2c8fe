"""Tests that resets detect and name each visible change: windows, clipboard, picture.

A container represents all desktops: they have the same session and the same probe.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from foundation.clock import wait_until
from provisioning.desktop.container.backend import ContainerBackend
from provisioning.protocols import READY
from provisioning.reset.digests import take_digest
from tests.standins.container import desktop_container_settings
from tests.tiers import IS_NIGHTLY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.desktop.container.machine import DesktopContainer
    from provisioning.reset.digests import StateDigest
    from provisioning.reset.saved_state import SavedState

pytestmark = [pytest.mark.docker]

# The torture test resets after each of its rounds.
RESETS = 20 if IS_NIGHTLY else 1
TIMEOUT_S = 20.0
SHADOW_PX = 24
DIALOG = "setsid -f zenity --info --title '{}' --text x > /dev/null 2>&1"
# A dialog of GTK 4 is a normal window.
DIALOG_KIND = "(dialog|normal)"
# A window that is not managed by the window manager, like menus and notifications.
POPUP = """setsid -f python3 -c '
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window = Gtk.Window(type=Gtk.WindowType.POPUP)
window.add(Gtk.Label(label="over all"))
window.move(300, 200)
window.resize(200, 100)
window.show_all()
Gtk.main()' > /dev/null 2>&1"""
REGION = re.compile(r"screen: \d+ px differ within x (\d+)-(\d+), y (\d+)-(\d+)")


@pytest.fixture(scope="module")
def machine() -> Iterator[DesktopContainer]:
    made_handle = ContainerBackend(desktop_container_settings()).make(lambda _message: None)
    made = made_handle.machine
    yield made
    made_handle.delete()


@pytest.fixture(scope="module")
def saved(machine: DesktopContainer) -> SavedState:
    """Return the expected state of the desktop."""
    saved_state = machine._baseline.read()
    assert saved_state is not None
    return saved_state


def sh(machine: DesktopContainer, command: str) -> str:
    params: dict[str, Any] = {"argv": ["/bin/sh", "-c", command], "user": "user"}
    reply = cast("dict[str, Any]", machine.link.call("exec", params, timeout_s=30.0))
    assert reply["exit_code"] == 0, base64.b64decode(reply["stderr_b64"])
    return base64.b64decode(reply["stdout_b64"]).decode()


def named(machine: DesktopContainer, before: StateDigest, pattern: str) -> str:
    """Wait until a difference is reported, and return its line."""
    differences: list[str] = []

    def is_told() -> str | None:
        differences[:] = before.differences(take_digest(machine.link))
        return next((line for line in differences if re.search(pattern, line)), None)

    line = wait_until(is_told, timeout_s=TIMEOUT_S)
    assert line, differences
    return line


def region(machine: DesktopContainer, saved: SavedState) -> tuple[int, int, int, int]:
    """Wait until the picture differs, and return the first region: left, top, right, bottom."""

    def is_told() -> re.Match[str] | None:
        (line, *_) = (*saved.picture.differences(machine.screen.capture()), "")
        return REGION.search(line)

    match = wait_until(is_told, timeout_s=TIMEOUT_S)
    assert match
    left, right, top, bottom = map(int, match.groups())
    return left, top, right, bottom


def open_dialog(machine: DesktopContainer, title: str) -> StateDigest:
    """Open a dialog and return the state once it has the focus."""
    sh(machine, DIALOG.format(title))

    def is_there() -> StateDigest | None:
        digest = take_digest(machine.link)
        return (
            digest
            if any(window.title == title and window.active for window in digest.windows)
            else None
        )

    state = wait_until(is_there, timeout_s=TIMEOUT_S)
    assert state, title
    return state


@pytest.fixture(autouse=True)
def _end_all(machine: DesktopContainer, saved: SavedState) -> Iterator[None]:
    """End all programs, so that each test starts with an empty screen."""
    yield
    sh(machine, "pkill -KILL -x zenity; pkill -KILL -x xclip; pkill -KILL -f 'Gtk.Windo[w]'; true")
    settled = wait_until(
        lambda: not saved.picture.differences(machine.screen.capture()), timeout_s=TIMEOUT_S
    )
    assert settled


def test_panel_clock_is_found_and_little_else_is_masked(
    machine: DesktopContainer, saved: SavedState
) -> None:
    (clock,) = (
        element
        for element in machine.tree.elements()
        if element.role == "toggle button" and not element.name
    )
    box = clock.bounds
    assert not saved.picture.mask[box.top : box.bottom, box.left : box.right].any()
    assert 0 < saved.picture.masked_ratio < 0.01


def test_dialog_and_its_region_are_named(machine: DesktopContainer, saved: SavedState) -> None:
    state = open_dialog(machine, "Surprise")
    lines = saved.digest.differences(state)
    dialog = next(window for window in state.windows if window.title == "Surprise")
    description = f"{dialog.kind} 'Surprise'"
    assert f"window new: {description} ({'.'.join(dialog.wm_class)})" in lines
    assert any(line.startswith(f"active window: none -> {description}") for line in lines)
    x, y, width, height = dialog.geometry
    left, top, right, bottom = region(machine, saved)
    assert left <= x + width // 2 <= right
    assert top <= y + height // 2 <= bottom


def test_unmanaged_popup_is_seen_in_the_picture(
    machine: DesktopContainer, saved: SavedState
) -> None:
    sh(machine, POPUP)
    left, top, right, bottom = region(machine, saved)
    # Metacity's compositor draws a shadow around the window.
    assert 300 - SHADOW_PX <= left <= 300
    assert 200 - SHADOW_PX <= top <= 200
    assert 499 <= right <= 499 + SHADOW_PX
    assert 299 <= bottom <= 299 + SHADOW_PX


def test_moved_window_is_named(machine: DesktopContainer) -> None:
    before = open_dialog(machine, "Moved")
    sh(machine, "xdotool search --name '^Moved$' windowmove 70 90")
    assert named(machine, before, f"^window moved: {DIALOG_KIND} 'Moved'").count(" at ") == 2


def test_retitled_window_is_named(machine: DesktopContainer) -> None:
    before = open_dialog(machine, "First")
    sh(machine, "xdotool search --name '^First$' set_window --name Second")
    assert named(machine, before, "^window retitled").endswith("-> 'Second'")


def test_restacked_windows_are_named(machine: DesktopContainer) -> None:
    open_dialog(machine, "Lower")
    before = open_dialog(machine, "Upper")
    sh(machine, "wmctrl -a Lower")
    assert "-> 'Desktop', 'Upper', 'Lower'," in named(machine, before, "^windows restacked")
    assert named(machine, before, f"^active window: {DIALOG_KIND} 'Upper'")


def test_closed_window_is_named(machine: DesktopContainer) -> None:
    before = open_dialog(machine, "Closed")
    sh(machine, "wmctrl -c Closed")
    named(machine, before, f"^window gone: {DIALOG_KIND} 'Closed'")


@pytest.mark.parametrize(("option", "name"), [("clipboard", "CLIPBOARD"), ("primary", "PRIMARY")])
def test_clipboard_text_and_unresponsive_owner_are_named(
    machine: DesktopContainer, option: str, name: str
) -> None:
    before = take_digest(machine.link)
    sh(machine, f"printf secret | xclip -selection {option} > /dev/null 2>&1")
    line = named(machine, before, f"^clipboard {name}: nothing -> text [0-9a-f]{{12}}, as")
    assert "secret" not in line
    sh(machine, "pkill -STOP -x xclip")
    named(machine, before, f"^clipboard {name}: its owner does not answer$")


def test_advancing_clock_is_no_difference_of_the_picture(
    machine: DesktopContainer, saved: SavedState
) -> None:
    frame = machine.screen.capture()
    sh(machine, "gsettings set org.gnome.desktop.interface clock-show-seconds true")
    # Wait until the clock is repainted.
    assert wait_until(
        lambda: not np.array_equal(machine.screen.capture(), frame), timeout_s=TIMEOUT_S
    )
    assert saved.picture.differences(machine.screen.capture()) == ()
    named(machine, saved.digest, "^setting /.* differs$")


def test_consecutive_resets_have_no_differences(machine: DesktopContainer) -> None:
    for _ in range(RESETS):
        machine.files.put("/home/user/mine", b"x")
        assert machine.snapshots.rewind(READY).differences == ()
