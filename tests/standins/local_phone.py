"""The reference phone's daemon as a process on this host, with real adb clients."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from foundation import process
from foundation.clock import wait_until
from provisioning.phone.reference.console import ConsoleClient
from tests.standins.phone import free_port

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from foundation.process import CommandResult

TOKEN = "a-token"  # noqa: S105
# As in the image: with one heap per thread, memory grows with ended threads, although nothing leaks.
HEAP = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    "MALLOC_TRIM_THRESHOLD_": "33554432",
}


class LocalPhone:
    """A phone without a container.

    Its shell is this host's, so paths below /sdcard exist only for ADB's file transfers and Android's
    commands, not for programs such as ``ls``.

    Args:
        folder: folder for the phone's root, its state and the keys.
    """

    def __init__(self, folder: Path) -> None:
        if process.find_tool("adb") is None:
            pytest.skip("needs adb")
        self.folder = folder
        self.root = folder / "root"
        self.key = folder / "adbkey"
        self.root.mkdir()
        make_key(self.key)
        self.start()

    def start(self, adb_port: int = 0) -> None:
        """Start the daemon, on free ports unless the ADB port is given."""
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        argv = [sys.executable, "-m", "images.phone.device", "--root", str(self.root)]
        argv += ["--keys", str(self.key.with_suffix(".pub")), "--ready", str(ready)]
        argv += ["--adb-port", str(adb_port), "--console-port", "0"]
        self.process = process.start(argv, env={"MESOCOSM_CONSOLE_TOKEN": TOKEN, **HEAP})
        assert wait_until(lambda: ready.is_file() or self.process.poll() is not None, timeout_s=30)
        assert self.process.poll() is None, "the phone does not come up"
        ports = json.loads(ready.read_text())
        self.adb_port, self.console_port = int(ports["adb"]), int(ports["console"])
        self.serial = f"127.0.0.1:{self.adb_port}"

    def stop(self) -> int:
        """Terminate the daemon and return its exit code."""
        os.kill(self.process.pid, signal.SIGTERM)
        code = self.process.wait(10)
        self.close()
        return code

    def close(self) -> None:
        """Kill the daemon."""
        process.kill_group(self.process)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def console(self) -> ConsoleClient:
        """Authenticate at its console."""
        return ConsoleClient(("127.0.0.1", self.console_port), TOKEN)


class Adb:
    """A real adb with a separate server, key and home folder.

    Args:
        home: home folder of the server.
        key: private key.
        program: name or path of the adb program; the default is Debian's.
        env: additional variables for client and server.
    """

    def __init__(
        self,
        home: Path,
        key: Path,
        *,
        program: str = "adb",
        env: Mapping[str, str] | None = None,
    ) -> None:
        home.mkdir(exist_ok=True)
        self.port = free_port()
        self.argv = [program, "-P", str(self.port)]
        self.env = {"HOME": str(home), "TMPDIR": str(home), "ADB_VENDOR_KEYS": str(key)}
        self.env.update(env or {})
        self.run("start-server")

    def run(self, *args: str, stdin: bytes | None = None) -> CommandResult:
        """Run one adb command."""
        return process.run([*self.argv, *args], timeout_s=30, env=self.env, stdin=stdin)

    def close(self) -> None:
        """Stop the server."""
        self.run("kill-server")


def make_key(path: Path) -> None:
    """Create an ADB key pair."""
    env = {"HOME": str(path.parent)}
    process.run(["adb", "keygen", str(path)], timeout_s=30, env=env).require()


def center_of(xml: str, name: str) -> tuple[int, int]:
    """Return the centre of the first node with this text, description or short resource ID."""
    for node in re.findall(r"<node [^>]*>", xml):
        shown = (f' text="{name}"', f'content-desc="{name}"', f':id/{name}"', f'id="{name}"')
        if any(part in node for part in shown):
            match = re.search(r'bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', node)
            assert match is not None
            left, top, right, bottom = (int(number) for number in match.groups())
            return (left + right) // 2, (top + bottom) // 2
    raise AssertionError(f"nothing on the screen is called {name!r}:\n{xml}")
