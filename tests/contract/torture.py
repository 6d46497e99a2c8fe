"""Destructive acts of an agent or of root on a desktop, which a reset must revert.

Each act is a shell command in the guest, and each round of acts shares one reset. To test another
kind of reset, add a function that yields a `Tortured` to `SUBJECTS`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from foundation.settings import get_settings
from provisioning.protocols import READY
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.container import desktop_container_settings

if TYPE_CHECKING:
    from provisioning.protocols import Machine, ResetReport

USER, ROOT = "user", "root"


@dataclass(frozen=True)
class Act:
    """One modification of a desktop.

    Attributes:
        name: name of the act.
        command: shell command, run by /bin/sh.
        trace: shell command that succeeds while the modification exists; run as the same user.
        user: user that runs both commands.
        breaks: whether the machine may be unresponsive afterwards, which counts as the trace.
        differs: pattern of a line that the comparison must return while the trace exists; empty
            if the modification is outside the scope of the comparison.
    """

    name: str
    command: str
    trace: str
    user: str = USER
    breaks: bool = False
    differs: str = ""


@dataclass
class Tortured:
    """A desktop and its reset.

    Attributes:
        machine: machine in its initial state; replaced by a reset that destroys it.
        take_back: resets the machine; returns the machine to continue with, and the report.
        refuses: names of acts that the machine prevents.
        limits: shell prefix that stops a fork bomb from exhausting the guest if the machine has no
            limit of processes.
    """

    machine: Machine
    take_back: Callable[[Machine], tuple[Machine, ResetReport]]
    refuses: frozenset[str] = frozenset()
    limits: str = ""

    def reset(self) -> ResetReport:
        """Reset the desktop."""
        self.machine, report = self.take_back(self.machine)
        return report


_PACKAGE = """
set -e; cd /tmp; rm -rf torture; mkdir -p torture/DEBIAN torture/usr/bin
printf 'Package: torture\\nVersion: 1\\nArchitecture: all\\nMaintainer: x <x@example.org>\\nDescription: x\\n' > torture/DEBIAN/control
echo 'echo here' > torture/usr/bin/torture; chmod 755 torture/usr/bin/torture torture torture/DEBIAN
dpkg-deb -b torture torture.deb > /dev/null; dpkg -i torture.deb > /dev/null
"""
_FILL = """
free=$(df --output=avail -k "$HOME" | tail -1)
fallocate -l "${free}K" "$HOME/fill" 2> /dev/null
dd if=/dev/zero of="$HOME/rest" bs=64k 2> /dev/null
true
"""
_KILL = """
pgrep -x gnome-session-b > /tmp/killed-session
pkill -KILL -x gnome-session-b; pkill -KILL -x gnome-panel; pkill -KILL -x metacity; sleep 1
"""
# It grows to the limit and stays there, without using the host's processors.
_BOMB = """
setsid -f python3 -c 'import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(1)' > /dev/null 2>&1
sleep 3
"""
_AUTOSTART = """
mkdir -p ~/.config/autostart
printf '[Desktop Entry]\\nType=Application\\nName=x\\nExec=sleep 9\\n' > ~/.config/autostart/x.desktop
"""

_COPY = """
for name in clipboard primary; do
    printf 'left behind' | xclip -selection $name > /dev/null 2>&1
done
"""
_WINDOW = """
setsid -f zenity --info --title 'Left open' --text x > /dev/null 2>&1
for try in $(seq 100); do xdotool search --name 'Left open' > /dev/null && exit 0; sleep 0.1; done
exit 1
"""
_BACKGROUND = "org.gnome.desktop.background"
_WALLPAPER = f"""
gsettings set {_BACKGROUND} picture-options none
gsettings set {_BACKGROUND} primary-color '#aa0000'
"""
# Like programs that open a file.
_RECENT = """
touch ~/Documents/seen.txt
python3 -c 'import gi, os; gi.require_version("Gtk", "3.0"); from gi.repository import Gtk, GLib
Gtk.RecentManager.get_default().add_item("file://" + os.path.expanduser("~/Documents/seen.txt"))
GLib.timeout_add(1500, Gtk.main_quit); Gtk.main()'
"""

ACTS: Sequence[Act] = (
    Act("files", "echo x > ~/Documents/left; rm ~/.bashrc; chmod 700 ~/Music", "test -e ~/Documents/left", differs="^file Documents/left: absent"),
    Act("an autostart entry", _AUTOSTART, "test -e ~/.config/autostart/x.desktop", differs="^file .config/autostart/x.desktop"),
    Act(
        "settings",
        "gsettings set org.gnome.desktop.interface color-scheme prefer-dark",
        "gsettings get org.gnome.desktop.interface color-scheme | grep -q dark",
        differs="^setting /.* differs$",
    ),
    Act(
        "a background process",
        "setsid -f sleep 4321 > /dev/null 2>&1",
        "pgrep -f 'sleep 432[1]'",
        differs="^process new: sleep",
    ),
    Act("clipboards", _COPY, "xclip -selection primary -o | grep -q 'left behind'", differs="^clipboard CLIPBOARD: nothing -> text"),
    Act("an extra window", _WINDOW, "xdotool search --name 'Left open'", differs="^window new: .*'Left open'"),
    Act(
        "a changed wallpaper",
        _WALLPAPER,
        f"gsettings get {_BACKGROUND} primary-color | grep -q aa0000",
        differs=r"^screen: \d{5,} px differ within",
    ),
    Act(
        "a recent file",
        _RECENT,
        "grep -q seen.txt ~/.local/share/recently-used.xbel",
        differs="^file .local/share/recently-used.xbel",
    ),
    Act("an installed package", _PACKAGE, "dpkg -s torture", ROOT),
    Act("system files", "echo 192.0.2.9 evil >> /etc/hosts; rm -f /usr/bin/gedit", "test ! -e /usr/bin/gedit", ROOT),
    Act(
        "a process of root",
        "setsid -f sleep 5432 > /dev/null 2>&1",
        "pgrep -f 'sleep 543[2]'",
        ROOT,
    ),
    Act("a changed clock", "date -s '2001-02-03 04:05:06'", "test $(date +%Y) = 2001", ROOT),
    Act(
        "a filled disk",
        _FILL,
        'test "$(df --output=avail -k "$HOME" | tail -1)" -lt 1024',
    ),
    Act("a killed session", _KILL, "test -s /tmp/killed-session && ! kill -0 $(cat /tmp/killed-session)", breaks=True),
    Act(
        "a fork bomb",
_BOMB,
        "set -- /proc/[0-9]*; test $# -gt 300",
        breaks=True,
    ),
)  # fmt: skip

# Acts whose traces do not hide each other share one reset; acts that break a machine do not.
_VISIBLE = (
    "files",
    "an autostart entry",
    "settings",
    "an extra window",
    "an installed package",
    "system files",
    "a process of root",
)
_HIDDEN = ("a background process", "clipboards", "a changed wallpaper", "a recent file")
_TOGETHER = {"things of every kind": _VISIBLE, "things beside a wallpaper": _HIDDEN}
ROUNDS: dict[str, tuple[Act, ...]] = {
    **{title: tuple(act for act in ACTS if act.name in names) for title, names in _TOGETHER.items()},
    **{act.name: (act,) for act in ACTS if act.name not in (*_VISIBLE, *_HIDDEN)},
}  # fmt: skip


CONTAINER_REFUSES = frozenset({"a changed clock"})
VM_LIMITS = "ulimit -p 600 2> /dev/null || ulimit -u 600;"
"""Limit of processes: dash has `-p`, bash `-u`."""


def rewind(machine: Machine) -> tuple[Machine, ResetReport]:
    return machine, machine.snapshots.rewind(READY)


@contextlib.contextmanager
def container() -> Iterator[Tortured]:
    """Yield a container, recreated from its image."""
    from provisioning.desktop.container.backend import ContainerBackend

    machine_handle = ContainerBackend(desktop_container_settings()).make(lambda _message: None)
    machine = machine_handle.machine
    try:
        yield Tortured(machine, rewind, refuses=CONTAINER_REFUSES)
    finally:
        machine_handle.delete()


@contextlib.contextmanager
def vm_rewind() -> Iterator[Tortured]:
    """Yield a VM, rewound inside its running QEMU."""
    from tests.standins.saved_desktop import lease_saved_desktop

    with lease_saved_desktop(get_settings()) as machine:
        yield Tortured(machine, rewind, limits=VM_LIMITS)


@contextlib.contextmanager
def vm_fork() -> Iterator[Tortured]:
    """Yield a fork of a VM, destroyed and replaced by another."""
    from provisioning.fleet.local import LocalFleet

    settings = get_settings().model_copy(update={"desktop": "vm", "desktop_reset": "fork"})
    fleet = LocalFleet(settings, say=print)
    with contextlib.ExitStack() as held:

        def take() -> tuple[Machine, ResetReport]:
            environment = held.enter_context(
                fleet.acquire({"it": ResourceSpec(DESKTOP)})
            ).environment
            assert environment.resets["it"].path == "fork"
            return environment.machines["it"], environment.resets["it"]

        def replace(_: Machine) -> tuple[Machine, ResetReport]:
            held.pop_all().close()
            return take()

        yield Tortured(take()[0], replace, limits=VM_LIMITS)


Make = Callable[[], AbstractContextManager[Tortured]]
SUBJECTS: dict[str, tuple[Make, Sequence[pytest.MarkDecorator]]] = {
    "container": (container, (pytest.mark.docker,)),
    "vm-fork": (vm_fork, (pytest.mark.vm, NEEDS_APPLIANCE)),
    "vm-rewind": (vm_rewind, (pytest.mark.vm, NEEDS_APPLIANCE)),
}
