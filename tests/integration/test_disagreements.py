"""Tests that a window which the guest reports but the screen does not show is detected.

On a VM, QEMU captures the picture. The simulated desktop uses the picture of its X server, which does not
contain windows that programs only claim to have.
"""

from __future__ import annotations

import base64
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from controller.episode.disagreements import ScreenWatch
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.settings import get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.protocols import OutsideScreen
from provisioning.resource import DESKTOP, ResourceSpec
from tests.attacks.arenas import stand_in
from tests.attacks.windows.wire import WIRE
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import STAND_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from provisioning.protocols import Frame, Link, Machine, Screen

START = """
rm -f ready
setsid python3 {name}.py > {name}.log 2>&1 < /dev/null &
echo $! > {name}.pid
n=0; until [ -e ready ] || [ $n -gt 300 ]; do sleep 0.1; n=$((n + 1)); done
[ -e ready ] || cat {name}.log
"""
# A program that forges a window manager's properties; the window itself is never shown.
FORGED = (
    WIRE
    + r"""
cat > forged.py << 'END'
from wire import *
wire = Wire()
window = wire.base | 1
wire.send(1, 0, struct.pack("<IIhhHHHHII", window, wire.root, 300, 200, 400, 300, 0, 1, 0, 0))
wire.write(window, "", b"Letter")
names = [wire.atom(name) for name in ("_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW")]
while True:
    for name in names:
        wire.send(18, 0, struct.pack("<IIIB3xII", wire.root, name, 33, 32, 1, window))
    wire.sync()
    open("ready", "w").close()
    time.sleep(0.05)
END
"""
    + START.format(name="forged")
)
# With a white background (CWBackPixel), which the server paints.
SHOWN = (
    WIRE
    + r"""
cat > shown.py << 'END'
from wire import *
wire = Wire()
window = wire.base | 1
wire.send(1, 0, struct.pack("<IIhhHHHHIII", window, wire.root, 300, 200, 400, 300, 0, 1, 0, 2, 0xFFFFFF))
wire.write(window, "", b"Note")
wire.send(8, 0, struct.pack("<I", window))
wire.sync()
open("ready", "w").close()
# SetInputFocus: refused until the window is viewable, and again where somebody else takes it.
while True:
    wire.send(42, 1, struct.pack("<II", window, 0))
    wire.sync()
    time.sleep(0.2)
END
"""
    + START.format(name="shown")
)


@dataclass(frozen=True)
class HostScreen:
    """The screen of a simulated desktop, as if it were captured outside the guest."""

    screen_of: Screen
    captured_by: str = "the X server"

    def capture(self) -> Frame:
        return self.screen_of.capture()

    def size(self) -> tuple[int, int]:
        return self.screen_of.size()


@dataclass(frozen=True)
class Place:
    """A desktop, with a shell for its user."""

    machine: Machine
    link: Link
    screen: Screen

    def shell(self, script: str) -> str:
        params: dict[str, Any] = {
            "argv": ["/bin/sh", "-c", f"cd ~ || exit 1; {script}"],
            "user": self.machine.info.user,
            "timeout_s": 60.0,
        }
        reply = cast("dict[str, str]", self.link.call("exec", params, timeout_s=90))
        return base64.b64decode(reply["stdout_b64"]).decode(errors="replace")

    def in_front(self) -> list[str]:
        rows = cast("list[dict[str, Any]]", self.link.call("windows", {}, timeout_s=30))
        return [row["title"] for row in rows if row["active"]]


@contextlib.contextmanager
def vm() -> Iterator[Place]:
    with LocalFleet(get_settings()).acquire({"desktop": ResourceSpec(DESKTOP)}) as lease:
        machine = lease.environment.machines["desktop"]
        yield Place(machine, machine.link, machine.screen)


@contextlib.contextmanager
def on_this_host() -> Iterator[Place]:
    with stand_in() as arena:
        machine = arena.machine
        yield Place(machine, machine.link, HostScreen(machine.screen))


@pytest.mark.parametrize(
    ("place", "shows"),
    [
        # Its screen is empty.
        pytest.param(
            on_this_host, "of the whole screen has a single colour", id="stand-in", marks=STAND_IN
        ),
        pytest.param(
            vm,
            "shows no change there since before the window existed",
            id="vm",
            marks=[pytest.mark.vm, pytest.mark.slow, NEEDS_APPLIANCE],
        ),
    ],
)
def test_window_missing_in_the_picture_is_reported(
    place: Callable[[], AbstractContextManager[Place]], shows: str
) -> None:
    with place() as desktop:
        assert isinstance(desktop.screen, OutsideScreen)
        watch = ScreenWatch({"desktop": desktop}, SYSTEM_CLOCK)
        watch.begin()
        assert watch.disagreements() == ()
        output = desktop.shell(FORGED)
        try:
            assert wait_until(lambda: desktop.in_front() == ["Letter"], timeout_s=60), output
            disagreements = watch.disagreements()
        finally:
            desktop.shell("kill $(cat forged.pid); rm -f ready wire.py forged.*")
        assert [row.role for row in disagreements] == ["desktop"]
        assert disagreements[0].guest == "the window 'Letter' is in front, 400x300 px at 300,200"
        assert disagreements[0].appliance == f"{desktop.screen.captured_by}'s screenshot {shows}"
        output = desktop.shell(SHOWN)
        try:
            assert wait_until(lambda: desktop.in_front() == ["Note"], timeout_s=60), output
            assert watch.disagreements() == ()
        finally:
            desktop.shell("kill $(cat shown.pid); rm -f ready wire.py shown.*")
