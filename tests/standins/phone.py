"""The reference phone's programs in a process on this host, behind a private adb server."""

from __future__ import annotations

import json
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from foundation import process
from foundation.clock import wait_until
from foundation.settings import Settings
from provisioning.phone.adb.device import AdbDevice
from provisioning.phone.adb.server import AdbServer
from provisioning.phone.reference.console import ConsoleClient

if TYPE_CHECKING:
    from pathlib import Path

_TOKEN = "a-token"  # noqa: S105 - of a stand-in


class PhoneStandIn:
    """A phone without its container: real ADB, and a shell that runs this host's programs.

    Args:
        folder: folder for the phone's root and the appliance's state.
    """

    def __init__(self, folder: Path) -> None:
        if process.find_tool("adb") is None:
            pytest.skip("needs adb")
        self.server = AdbServer(Settings(state_dir=folder / "state"))
        ready = folder / "ready.json"
        argv = [sys.executable, "-m", "images.phone.device", "--root", str(folder / "root")]
        argv += ["--adb-port", "0", "--console-port", "0", "--ready", str(ready)]
        (folder / "root").mkdir()
        (folder / "state" / "keys").mkdir(parents=True)
        env = {"MESOCOSM_ADB_KEYS": self.server.public_key(), "MESOCOSM_CONSOLE_TOKEN": _TOKEN}
        self._phone = process.start(argv, env=env)
        try:
            assert wait_until(ready.is_file, timeout_s=30), "the phone does not come up"
            ports = json.loads(ready.read_text())
            self._console = ("127.0.0.1", int(ports["console"]))
            serial = f"127.0.0.1:{ports['adb']}"
            self.server.connect(serial, timeout_s=20)
            self.device = AdbDevice(self.server, serial)
        except BaseException:
            self.close()
            raise

    def console(self) -> ConsoleClient:
        """Open a session with its console."""
        return ConsoleClient(self._console, _TOKEN)

    def close(self) -> None:
        """Stop the phone and the adb server."""
        self.server.stop()
        process.kill_group(self._phone)
        for pipe in (self._phone.stdout, self._phone.stderr):
            if pipe is not None:
                pipe.close()


def free_port() -> int:
    """Return a free loopback port."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
