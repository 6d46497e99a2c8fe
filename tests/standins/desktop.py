"""A minimal real desktop on this host: X server without a screen, session bus, window manager."""

from __future__ import annotations

import contextlib
import os
import pwd
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation import process
from foundation.clock import wait_until
from foundation.errors import ToolMissingError
from foundation.files import FileLock
from provisioning.links.local import connect_local
from provisioning.links.zipapp import build_probe
from provisioning.probe.system.proc import list_processes

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping

    from provisioning.links.client import LinkClient

    Started = subprocess.Popen[bytes]  # noqa: TID251 (a type only)

SIZE = (1024, 768)
# System users without a home folder, which exist on every Debian.
_USERS = ("nobody", "irc", "list", "uucp", "lp", "news", "gnats", "www-data")
_CLAIM_TIMEOUT_S = 240.0
NEEDED = ("Xvfb", "openbox", "xdotool", "xterm", "xev", "dbus-daemon", "setpriv")
SYSTEM_PYTHON = "/usr/bin/python3"


class DesktopStandIn:
    """Minimal desktop for tests.

    It runs as another user if the tests run as root, so that the probe must change its user. Each
    desktop on this host has a different user, because a probe finds its user's session by processes.

    Args:
        folder: folder for sockets, and the home folder; becomes writable for all users.
    """

    def __init__(self, folder: Path) -> None:
        missing = [name for name in NEEDED if process.find_tool(name) is None]
        if missing:
            pytest.skip(f"needs {', '.join(missing)}: apt-get install xvfb openbox xdotool ...")
        self.folder = folder
        folder.chmod(0o777)
        self._claim, self.user = claim_user()
        self._started: list[Started] = []
        width, height = SIZE
        server = ["Xvfb", "-displayfd", "1", "-screen", "0", f"{width}x{height}x24", "-ac"]
        self.display = f":{self._first_line([*server, '-nolisten', 'tcp'], {})}"
        self.env = {
            "DISPLAY": self.display,
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            # Without it a terminal starts the shell of ``nobody``, which exits immediately.
            "SHELL": "/bin/sh",
            "XDG_RUNTIME_DIR": str(folder),
            "NO_AT_BRIDGE": "0",
            "GTK_MODULES": "gail:atk-bridge",
        }
        bus = ["dbus-daemon", "--session", "--nofork", "--print-address=1"]
        bus += [f"--address=unix:path={folder}/bus"]
        self.env["DBUS_SESSION_BUS_ADDRESS"] = self._first_line([*self.as_user(), *bus], self.env)
        self.start("openbox", "--sm-disable")

    def as_user(self) -> list[str]:
        """Return the command prefix that runs a command as the desktop's user."""
        if os.getuid() != 0:
            return []
        entry = pwd.getpwnam(self.user)
        return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]

    def start(self, *argv: str) -> Started:
        """Start a program on the desktop."""
        started = process.start([*self.as_user(), *argv], env=self.env)
        self._started.append(started)
        return started

    def paint(self, rgb: int) -> None:
        """Fill the background with a colour, such as 0x12c456."""
        from Xlib.display import Display

        display = Display(self.display)
        root = display.screen().root
        root.change_attributes(background_pixel=rgb)
        root.clear_area()
        display.sync()
        display.close()

    def connect(self) -> LinkClient:
        """Start a probe for this desktop and wait until it reports that the desktop is ready."""
        archive = build_probe()
        path = self.folder / archive.file_name
        path.write_bytes(archive.data)
        path.chmod(0o700)
        link = connect_local(path, python=self.python, user=self.user, env=clean())
        assert wait_until(lambda: is_ready(link), timeout_s=30), link.call("session")
        return link

    @property
    def python(self) -> str:
        """The interpreter with gi, as in guests; otherwise the interpreter of the tests."""
        return SYSTEM_PYTHON if self.has_tree else sys.executable

    @property
    def has_tree(self) -> bool:
        """Return whether AT-SPI is available on this host."""
        probe = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
        try:
            return process.run([SYSTEM_PYTHON, "-c", probe]).exit_code == 0
        except ToolMissingError:
            return False

    def close(self) -> None:
        """Stop all programs and release the user."""
        self._end_programs()
        self._claim.release()

    def _end_programs(self) -> None:
        for started in reversed(self._started):
            process.kill_group(started)
            for pipe in (started.stdout, started.stderr):
                if pipe is not None:
                    pipe.close()

    def _first_line(self, argv: list[str], env: Mapping[str, str]) -> str:
        started = process.start(argv, env=env)
        self._started.append(started)
        assert started.stdout is not None
        return started.stdout.readline().decode().strip()


def claim_user() -> tuple[FileLock, str]:
    """Return a user that no other simulated desktop uses, with its lock."""
    own = pwd.getpwuid(os.getuid()).pw_name
    homes = {entry.pw_name: Path(entry.pw_dir) for entry in pwd.getpwall()}
    names = [own]
    if os.getuid() == 0:
        names = [name for name in _USERS if name in homes and not homes[name].exists()]

    def claim() -> tuple[FileLock, str] | None:
        for name in names:
            # Processes that a killed test left behind also look like a session.
            if os.getuid() == 0 and list_processes(pwd.getpwnam(name).pw_uid):
                continue
            lock = FileLock(Path(tempfile.gettempdir()) / f"mesocosm-stand-in-{name}.lock")
            if lock.try_acquire():
                return lock, name
        return None

    claimed = wait_until(claim, timeout_s=_CLAIM_TIMEOUT_S)
    assert claimed, f"other stand-ins have all of {', '.join(names)}"
    return claimed


@contextlib.contextmanager
def desktop_on_host() -> Iterator[DesktopStandIn]:
    """Run a desktop during a block, in a folder that its user can access."""
    # Not pytest's folder, which other users cannot access.
    with tempfile.TemporaryDirectory(prefix="mesocosm-desktop-") as name:
        Path(name).chmod(0o755)
        stand_in = DesktopStandIn(Path(name))
        try:
            yield stand_in
        finally:
            stand_in.close()


def clean() -> dict[str, str]:
    """Hide the test's own display from the probe."""
    return {"DISPLAY": "", "XAUTHORITY": ""}


def is_ready(link: LinkClient) -> bool:
    """Return whether the probe reports a ready session."""
    state = link.call("session", timeout_s=20)
    return isinstance(state, dict) and state["ready"] is True
