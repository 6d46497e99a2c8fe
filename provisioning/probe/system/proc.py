"""Processes of this guest, read from /proc."""

from __future__ import annotations

import contextlib
import os
import pwd
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_ARGS_BYTES = 4096
_MAX_ENVIRON_BYTES = 1 << 20
_CAT_TIMEOUT_S = 5.0


class Process(NamedTuple):
    """One process.

    Attributes:
        pid: process ID.
        ppid: process ID of the parent.
        uid: user ID.
        comm: short name, at most 15 characters.
        argv: arguments, cut at 4 KiB; empty for kernel threads and zombies.
    """

    pid: int
    ppid: int
    uid: int
    comm: str
    argv: tuple[str, ...]


def list_processes(uid: int | None = None) -> list[Process]:
    """Return the user-space processes by PID, of one user or of all, without zombies.

    A process whose first thread has ended while others run is not a zombie.
    """
    processes = []
    for pid in _pids():
        process = _read(pid, uid)
        if process is not None and process.argv:
            processes.append(process)
    return processes


def raw_rows(uid: int) -> list[bytes]:
    """Return PID, name, parent and arguments of each of a user's processes, in the kernel's order.

    Equal rows mean equal processes of `list_processes`; they are read in less time.
    """
    rows = []
    for name in os.listdir("/proc"):
        try:
            if not name.isdigit() or os.stat(f"/proc/{name}").st_uid != uid:
                continue
        except OSError:
            continue
        head, _, tail = _slurp(f"/proc/{name}/stat", 4096).rpartition(b")")
        fields = tail.split(None, 2)
        if fields[:1] == [b"Z"]:
            arguments = b"Z" + _arguments_from_threads(int(name))
        else:
            arguments = _slurp(f"/proc/{name}/cmdline", _MAX_ARGS_BYTES)
        parent = b"".join(fields[1:2])
        rows.append(b"%d %s %s %s" % (len(head), head, parent, arguments))
    return rows


def environment_of(pid: int) -> dict[str, str]:
    """Return the environment with which a process was started; empty if it has ended."""
    path = f"/proc/{pid}/environ"
    try:
        with open(path, "rb") as file:
            raw = file.read(_MAX_ENVIRON_BYTES)
    except PermissionError:
        raw = _slurp_as_owner(path)
    except OSError:
        raw = b""
    pairs = (item.partition(b"=") for item in raw.split(b"\0") if b"=" in item)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def start_ticks(pid: int) -> int | None:
    """Return a process's start time in clock ticks since boot; with the PID it identifies it."""
    raw = _slurp(f"/proc/{pid}/stat", 4096)
    fields = raw.rpartition(b")")[2].split()
    return int(fields[19]) if len(fields) > 19 else None  # noqa: PLR2004 - field 22 of proc(5)


def cpu_ticks(pid: int) -> int:
    """Return the processor time of a process in clock ticks; 0 if it has ended.

    Source: proc(5), /proc/pid/stat, fields 14 and 15.
    """
    fields = _slurp(f"/proc/{pid}/stat", 4096).rpartition(b")")[2].split()
    return int(fields[11]) + int(fields[12]) if len(fields) > 12 else 0  # noqa: PLR2004


def user_name(uid: int) -> str:
    """Return a login name, or the number if there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def children_of(pid: int) -> set[int]:
    """Return the process IDs of a process's children."""
    return {process.pid for process in list_processes() if process.ppid == pid}


def descendants(processes: list[Process], roots: set[int]) -> set[int]:
    """Return `roots` and all their descendants."""
    pids = set(roots)
    grew = True
    while grew:
        more = {process.pid for process in processes if process.ppid in pids} - pids
        pids |= more
        grew = bool(more)
    return pids


def _pids() -> Iterator[int]:
    return iter(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()))


def _read(pid: int, uid: int | None) -> Process | None:
    try:
        owner = os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None
    if uid is not None and owner != uid:
        return None
    stat = _slurp(f"/proc/{pid}/stat", 4096)
    head, _, tail = stat.rpartition(b")")
    fields = tail.split()
    if len(fields) < 2:  # noqa: PLR2004 - state and ppid
        return None
    if fields[0] == b"Z":
        command_line = _arguments_from_threads(pid)
    else:
        command_line = _slurp(f"/proc/{pid}/cmdline", _MAX_ARGS_BYTES).rstrip(b"\0")
    argv = (
        tuple(part.decode("utf-8", "replace") for part in command_line.split(b"\0"))
        if command_line
        else ()
    )
    comm = head.partition(b"(")[2].decode("utf-8", "replace")
    return Process(pid, int(fields[1]), owner, comm, argv)


def _arguments_from_threads(pid: int) -> bytes:
    """Return the arguments of a process whose first thread has ended; empty if all threads have."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return b""
    rows = (_slurp(f"/proc/{pid}/task/{thread}/cmdline", _MAX_ARGS_BYTES) for thread in threads)
    return next((row.rstrip(b"\0") for row in rows if row), b"")


def _slurp_as_owner(path: str) -> bytes:
    """Read a file as its owner: root without CAP_SYS_PTRACE cannot read others' environments."""
    with contextlib.suppress(OSError, KeyError, subprocess.SubprocessError):
        owner = pwd.getpwuid(os.stat(path).st_uid)
        done = subprocess.run(
            ["/bin/cat", path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_CAT_TIMEOUT_S,
            user=owner.pw_uid,
            group=owner.pw_gid,
            extra_groups=[],
            check=False,
        )
        return done.stdout[:_MAX_ENVIRON_BYTES]
    return b""


def _slurp(path: str, most_bytes: int) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(handle, most_bytes)
    except OSError:
        return b""
    finally:
        os.close(handle)
