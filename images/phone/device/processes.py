"""Start processes for shells, and end all of them, including escaped ones."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# Source: linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36
_KILL_TIMEOUT_S = 2.0
_HANG_UP_GRACE_S = 2.0
_POLL_S = 0.005

SESSION_VARIABLE = "SHELL_SESSION"
"""Contains the session ID, which identifies processes that left their session and parent."""


class _Row(NamedTuple):
    state: str
    parent: int
    session: int


class ProcessesLeftError(Exception):
    """Processes did not die."""


@dataclass(frozen=True)
class Session:
    """The processes of one shell request.

    Attributes:
        child: first process, the leader of its own session.
        session_id: value of `SESSION_VARIABLE` in all its processes.
    """

    child: subprocess.Popen[bytes]
    session_id: str


def become_subreaper() -> None:
    """Make this process the parent of orphans among its descendants, instead of init."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Processes:
    """The descendants of this process."""

    def __init__(self) -> None:
        # Held while a process is started and while orphans are reaped: a child that is not yet
        # registered must not be mistaken for an orphan. Also held during a rewind, so that nothing
        # starts.
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
    ) -> Session:
        """Start a program in its own session.

        Raises:
            OSError: it cannot be started.
        """
        session_id = secrets.token_hex(8)
        with self.lock:
            child = subprocess.Popen(
                argv,
                env={**env, SESSION_VARIABLE: session_id},
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                start_new_session=True,
            )
            self._children[child.pid] = child
        return Session(child, session_id)

    def wait(self, session: Session) -> int:
        """Wait for a session's first process and return its exit code like a shell, 0 to 255."""
        code = session.child.wait()
        with self.lock:
            self._children.pop(session.child.pid, None)
            self.reap_orphans()
        return code if code >= 0 else 128 - code

    def hang_up(self, session: Session) -> None:
        """Send SIGHUP to the group of a session's first process, which must not be reaped yet."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(session.child.pid, signal.SIGHUP)

    def end(self, session: Session) -> None:
        """End all processes of a session, whose first process must not be reaped yet.

        They receive SIGHUP, as on Android when a host disconnects, and are killed after 2 s.
        """
        members = self._members(session)
        _signal(members, signal.SIGHUP)
        _signal(members, signal.SIGCONT)  # stopped processes cannot handle it
        if _poll_until(lambda: not self._members(session), _HANG_UP_GRACE_S):
            return

        def kill() -> bool:
            alive = self._members(session)
            _signal(alive, signal.SIGKILL)
            return not alive

        _poll_until(kill, _KILL_TIMEOUT_S)

    def kill_all(self) -> int:
        """Kill all descendants of this process and return their number.

        Raises:
            ProcessesLeftError: some did not die within 2 s.
        """
        killed: set[int] = set()

        def kill() -> bool:
            alive = [pid for pid, row in self._descendants().items() if row.state != "Z"]
            _signal(alive, signal.SIGKILL)
            killed.update(alive)
            return not alive

        with self.lock:
            if not _poll_until(kill, _KILL_TIMEOUT_S):
                raise ProcessesLeftError("some processes did not die")
            self.reap_orphans()
        return len(killed)

    def reap_orphans(self) -> None:
        """Reap dead processes that have no waiter here."""
        with self.lock:
            me = os.getpid()
            for pid, row in _read_all().items():
                if row.state == "Z" and row.parent == me and pid not in self._children:
                    with contextlib.suppress(ChildProcessError):
                        os.waitpid(pid, os.WNOHANG)

    def _members(self, session: Session) -> list[int]:
        """Return the running processes of a session, including those that left it with setsid."""
        below = self._descendants()
        mark = f"{SESSION_VARIABLE}={session.session_id}".encode()
        own = _below(session.child.pid, below).keys() | {session.child.pid}
        return [
            pid
            for pid, row in below.items()
            if row.state != "Z"
            and (pid in own or row.session == session.child.pid or _has_variable(pid, mark))
        ]

    def _descendants(self) -> dict[int, _Row]:
        return _below(os.getpid(), _read_all())


def _below(ancestor: int, rows: Mapping[int, _Row]) -> dict[int, _Row]:
    """Return the processes that descend from an ancestor."""
    below: dict[int, _Row] = {}
    parents = {ancestor}
    while parents:
        children = {
            pid: row for pid, row in rows.items() if row.parent in parents and pid not in below
        }
        below.update(children)
        parents = set(children)
    return below


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _poll_until(is_done: Callable[[], bool], timeout_s: float) -> bool:
    """Poll until a condition is true; return False on timeout."""
    deadline_s = time.monotonic() + timeout_s
    while not is_done():
        if time.monotonic() > deadline_s:
            return False
        threading.Event().wait(_POLL_S)
    return True


def _has_variable(pid: int, assignment: bytes) -> bool:
    try:
        return assignment in Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _read_all() -> dict[int, _Row]:
    """Return state, parent and session of every process of this system."""
    rows: dict[int, _Row] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - twice as fast
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name is in parentheses and may itself contain parentheses and spaces.
                fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                rows[int(name)] = _Row(fields[0].decode(), int(fields[1]), int(fields[3]))
    return rows
