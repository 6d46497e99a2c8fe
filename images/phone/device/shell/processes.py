"""Start processes for shells, and end every one of them, however it tried to get away."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Source: linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36
_KILL_TIMEOUT_S = 2.0


class _Row(NamedTuple):
    state: str
    parent: int


class ProcessesLeftError(Exception):
    """Processes did not die."""


def become_subreaper() -> None:
    """Let orphans of this process' children become its own children, not those of init."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Processes:
    """The processes below this one."""

    def __init__(self) -> None:
        # Held while a process is started and while orphans are reaped: a child that is not yet
        # known must not be taken for an orphan. Held through a rewind too: nothing starts then.
        self.lock = threading.RLock()
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        stdin: int | IO[bytes],
        stdout: int | IO[bytes],
        stderr: int | IO[bytes],
    ) -> subprocess.Popen[bytes]:
        """Start a program in a session of its own.

        Raises:
            OSError: it cannot be started.
        """
        with self.lock:
            child = subprocess.Popen(
                argv,
                env=dict(env),
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                start_new_session=True,
            )
            self._children[child.pid] = child
        return child

    def wait(self, child: subprocess.Popen[bytes]) -> int:
        """Wait for the end of a started process and give its code as a shell would, 0 to 255."""
        code = child.wait()
        with self.lock:
            self._children.pop(child.pid, None)
            self.reap_orphans()
        return code if code >= 0 else 128 - code

    def kill_group(self, child: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
        """Signal a started process and what stayed in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)

    def kill_all(self) -> int:
        """Kill every process below this one and give how many there were.

        Raises:
            ProcessesLeftError: some did not die within 2 s.
        """
        killed: set[int] = set()
        deadline_s = time.monotonic() + _KILL_TIMEOUT_S
        with self.lock:
            while alive := [pid for pid, state in self._descendants().items() if state != "Z"]:
                if time.monotonic() > deadline_s:
                    raise ProcessesLeftError(f"{len(alive)} processes did not die")
                for pid in alive:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                killed.update(alive)
                threading.Event().wait(0.002)
            self.reap_orphans()
        return len(killed)

    def reap_orphans(self) -> None:
        """Bury dead processes that nobody here waits for."""
        with self.lock:
            me = os.getpid()
            for pid, (state, parent) in _read_all().items():
                if state == "Z" and parent == me and pid not in self._children:
                    with contextlib.suppress(ChildProcessError):
                        os.waitpid(pid, os.WNOHANG)

    def _descendants(self) -> dict[int, str]:
        everything = _read_all()
        found: dict[int, str] = {}
        parents = {os.getpid()}
        while parents:
            children = {
                pid: row.state
                for pid, row in everything.items()
                if row.parent in parents and pid not in found
            }
            found.update(children)
            parents = set(children)
        return found


def _read_all() -> dict[int, _Row]:
    """Give state and parent of every process of this system."""
    rows: dict[int, _Row] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - twice as fast
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name stands in brackets and may itself hold brackets and blanks.
                words = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                rows[int(name)] = _Row(words[0].decode(), int(words[1]))
    return rows
