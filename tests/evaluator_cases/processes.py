"""Test fixture of a desktop on which real programs run."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.testing.desktop import DesktopFixture
from foundation.clock import wait_until
from foundation.process import kill_group, start
from provisioning.probe.system.proc import Process

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Json

    Started = subprocess.Popen[bytes]  # noqa: TID251 (a type only)

_ROOT = "{root}"
_EXIT = 60 if platform.machine() == "x86_64" else 93
"""Number of the system call that ends one thread, for which Python has no name."""
WITHOUT_FIRST_THREAD = f"""
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).syscall({_EXIT}, 0)
"""
"""Python code whose first thread ends while another one goes on."""


class ProgramsFixture(DesktopFixture):
    """A desktop whose programs are copies of ``cat``; its root replaces ``{root}`` in arguments."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._started: list[Started] = []
        self.processes = []

    def arguments(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        """Fill in the root."""
        return {
            name: value.replace(_ROOT, str(self.folder)) if isinstance(value, str) else value
            for name, value in args.items()
        }

    def program(self, path: str, trailer: bytes = b"") -> Path:
        """Install a program; different trailers are different programs."""
        full = self.at(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy("/bin/cat", full)
        with full.open("ab") as file:
            file.write(trailer)
        return full

    def start(self, path: str, *, named: str = "", by: str = "") -> Started:
        """Start a program as the agent and wait until it runs.

        Args:
            path: path of the program.
            named: displayed name of the process.
            by: a dynamic linker of this host that loads the program; empty for the kernel's choice.
        """
        full = str(self.at(path))
        if by:
            return self._run([by, full])
        return self._run(["/bin/bash", "-c", 'exec -a "$1" "$2"', "bash", named or path, full])

    def start_mounted(self, path: str, over: str) -> None:
        """Start a program in a mount namespace in which it is mounted over another path."""
        own = "-m" if os.getuid() == 0 else "-Urm"
        script = 'mount --bind "$1" "$2" && exec "$2"'
        files = [str(self.at(path)), str(self.at(over))]
        self._run(["unshare", own, "/bin/sh", "-c", script, "sh", *files])

    def start_apart(self, path: str) -> None:
        """Start a program in its own user namespace, in which its creator may write to its memory."""
        self._run(["unshare", "--user", str(self.at(path))])

    def run(self, argv: list[str], cwd: Path) -> None:
        """Start any program as the agent, in a folder."""
        process = start(argv, cwd=cwd)
        self._started.append(process)
        row = Process(process.pid, 1, os.getuid(), "x", tuple(argv))
        self.processes = [*(self.processes or ()), row]

    def run_beyond_first_thread(self, argv: list[str]) -> None:
        """Start a program like `run`, and wait until its first thread has ended while others continue."""
        self.run(argv, cwd=self.home)
        status = Path(f"/proc/{self._started[-1].pid}/stat")
        assert wait_until(lambda: ") Z " in status.read_text(), timeout_s=20)

    def end(self, process: Started, *, reap: bool = True) -> None:
        """End a program; a zombie stays unless it is reaped."""
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | (0 if reap else os.WNOWAIT))

    def close(self) -> None:
        """End all programs."""
        for process in self._started:
            kill_group(process)
            process.communicate()

    def _run(self, argv: list[str]) -> Started:
        process = start(argv, stdin=subprocess.PIPE)
        self._started.append(process)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"ready\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"ready\n", f"{argv} does not run"
        row = Process(process.pid, 1, os.getuid(), "x", tuple(argv))
        self.processes = [*(self.processes or ()), row]
        return process
