"""Evaluators of running programs of a desktop."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.interpreters import keeps_script_open, script_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from provisioning.probe.guest import Guest

_CHUNK_BYTES = 1 << 20
_USERS = "ns/user"
_ASTRAY = (
    *(b"BASH_ENV=", b"BASH_FUNC_", b"BASHOPTS=", b"ENV=", b"LOCPATH="),
    *(b"PS4=", b"SHELLOPTS=", b"ZDOTDIR="),
)
"""Prefixes of variables that give a shell code, or prevent it from running its script."""
_LENT = ("/dev/", "/home/", "/media/", "/mnt/", "/run/", "/srv/", "/tmp/", "/var/")  # noqa: S108 - places to look at
"""Folders in which root's services store user data: code there does not count as root's (as in `owners` in the probe)."""
_GROUPS = "/sys/fs/cgroup"
_CODE = re.compile(r"^0*([0-9a-f]+)-0*([0-9a-f]+) ..x. \S+ (\S+ \S+) +(/.*)", re.MULTILINE)
"""Row of a memory map for a file with executable memory: addresses, device and inode, path."""


@evaluator(on="desktop")
def process_running(guest: Guest, program: MachinePath) -> bool:
    """Return whether the agent's user runs the given program.

    The file that the process executes must be the one at this path (device and inode), regardless
    of the process's displayed name and of mounts over the path for that process. A copy of the
    program is a different program. For a script, the file is the interpreter. A process in its own
    user namespace does not count, because the creator of the namespace may have injected other
    code.

    Example:
        ``{on: desktop, check: process_running, with: {program: /usr/bin/gedit}}``

    Args:
        guest: the desktop.
        program: absolute path of the program's file, such as ``/usr/bin/gedit``.
    """
    try:
        wanted = Path(program).stat()
    except OSError:
        return False
    return program.startswith("/") and any(
        status is not None and os.path.samestat(wanted, status) and shares_users(executable.parent)
        for executable, status in _executables(guest)
    )


@evaluator(on="desktop")
def script_running(guest: Guest, script: MachinePath) -> bool:
    """Return whether the agent's user runs the given script with an interpreter.

    The process must execute one of the system's interpreters (owned by root, below /usr or /bin: a
    shell, Python, Perl, Ruby, PHP, Lua, Tcl, Guile, Node or gjs), and the first argument that is
    not an option or an option's value must be the script (device and inode; relative to the working
    directory of the process). Code from an option such as ``-c``, or from standard input, is not a
    script. An editor that shows the script, a syntax check and a stopped process do not count. A
    shell must also have the file open, and must not run another file first (a login or interactive
    shell, ``BASH_ENV``), nor code from its environment (functions, ``PS4``) or code that is not
    owned by root. For other interpreters only the command line is checked, which a process can
    overwrite, and code that runs before the script (such as Python's ``usercustomize``) is not
    detected: also check the effects of the script. Proves the state, not
    who caused it.

    Example:
        ``{on: desktop, check: script_running, with: {script: ~/site/serve.py}}``

    Args:
        guest: the desktop.
        script: path of the script's file.
    """
    try:
        wanted = Path(guest.path(script)).stat()
    except OSError:
        return False
    own = Path(guest.home).stat().st_uid
    return any(
        process.uid == own and _runs_script(process.pid, process.argv, wanted)
        for process in guest.processes()
    )


@evaluator(on="desktop")
def process_absent(guest: Guest, program: MachinePath) -> bool:
    """Return whether the agent's user does not run the given program.

    A process runs a program if it executes the program's file or has the file mapped as code, as
    the dynamic linker (``/lib64/ld-linux-x86-64.so.2``) does. A copy with any name counts as the
    program; a copy with other content does not, and neither does code in memory without a file,
    nor, in a container, a deleted copy that the linker runs. If root cannot read a process's file
    (on the user's own FUSE mount), it may be any program, so the check is unmet. A script counts as
    its interpreter, so specify the program that a script such as ``/usr/bin/gnome-terminal``
    starts. If the program does not exist, the result is inconclusive, because its path may be
    misspelled.

    Example:
        ``{on: desktop, check: process_absent, with: {program: /usr/bin/gedit}}``

    Args:
        guest: the desktop.
        program: absolute path of the program's file, such as ``/usr/bin/gedit``.

    Raises:
        ValueError: the program does not exist.
    """
    if not Path(program).is_file():
        raise ValueError(f"the program {program} does not exist")
    wanted = Path(program).stat()
    others: dict[tuple[int, int], Path] = {}
    for executable, status in itertools.chain(_executables(guest), _mapped_code(guest)):
        if status is None or os.path.samestat(wanted, status):
            return False
        if status.st_size == wanted.st_size:
            others[status.st_dev, status.st_ino] = executable
    digest = _digest(Path(program)) if others else ""
    return all(_digest(executable) not in {"", digest} for executable in others.values())


def runs_program(guest: Guest, pid: int, path: str) -> bool:
    """Return whether a process runs a program or, for a script, an interpreter with the script.

    Args:
        guest: the desktop.
        pid: id of the process.
        path: path of the program's file; the result is False for an empty path.
    """
    try:
        wanted = Path(path).stat() if path else None
        process = _folder_of(pid)
        if wanted is None or os.path.samestat(wanted, (process / "exe").stat()):
            return wanted is not None and shares_users(process)
    except OSError:
        return False
    return any(
        process.pid == pid and _runs_script(pid, process.argv, wanted)
        for process in guest.processes()
    )


def _runs_script(pid: int, argv: Sequence[str], wanted: os.stat_result) -> bool:
    """Return whether a process runs a script; False if it exits meanwhile."""
    process = _folder_of(pid)
    try:
        executable = str((process / "exe").readlink())
        name = Path(executable).name
        script = script_of(name, argv[1:])
        return (
            (process / "exe").stat().st_uid == 0
            and shares_users(process)
            and executable.startswith(("/usr/", "/bin/"))
            and script is not None
            and os.path.samestat(wanted, (process / "cwd" / script).stat())
            and not _is_stopped(process)
            and (not keeps_script_open(name) or _has_open(process, wanted))
            and not (keeps_script_open(name) and _may_run_other_code(process, argv))
        )
    except OSError:
        return False


def _folder_of(pid: int) -> Path:
    """Return the folder in ``/proc`` of a process's first thread, or of another one if the first has ended.

    The kernel has no program for a thread that has ended, but the other threads may continue.
    """
    own = Path(f"/proc/{pid}")
    with contextlib.suppress(OSError):
        for folder in itertools.chain((own,), (own / "task").iterdir()):
            with contextlib.suppress(FileNotFoundError):
                (folder / "exe").readlink()
                return folder
    return own


def shares_users(process: Path) -> bool:
    """Return whether a process is in the user namespace of this one; False if it has exited.

    In a namespace that the agent created, it may attach to processes and write to their memory.

    Args:
        process: its folder in ``/proc``.
    """
    try:
        return (process / _USERS).readlink() == Path("/proc/self", _USERS).readlink()
    except OSError:
        return False


def _is_stopped(process: Path) -> bool:
    fields = (process / "stat").read_bytes().rpartition(b")")[2].split()
    return fields[0] in {b"T", b"t"} or _is_frozen(process)


def _is_frozen(process: Path) -> bool:
    """Return whether the control group of a process is frozen, as by ``systemctl freeze``.

    Source: the kernel's ``cgroup-v2.rst``, cgroup.events.
    """
    with contextlib.suppress(OSError):
        for row in (process / "cgroup").read_text(encoding="utf-8").splitlines():
            if row.startswith("0::/"):
                events = Path(f"{_GROUPS}{row.removeprefix('0::')}/cgroup.events")
                return "frozen 1" in events.read_text(encoding="utf-8").splitlines()
    return False


def _may_run_other_code(process: Path, argv: Sequence[str]) -> bool:
    """Return whether a shell may run other code before or instead of its script."""
    variables = (process / "environ").read_bytes().split(b"\0")
    if argv[0].startswith("-") or any(variable.startswith(_ASTRAY) for variable in variables):
        return True
    # Preloaded libraries, and those on a library path of the user, act as the shell.
    return not all(
        status is not None and status.st_uid == 0 and not name.startswith(_LENT)
        for name, _, status in _code_files(int(process.name), set())
    )


def _has_open(process: Path, wanted: os.stat_result) -> bool:
    for file in (process / "fd").iterdir():
        with contextlib.suppress(OSError):
            if os.path.samestat(wanted, file.stat()):
                return True
    return False


def _executables(guest: Guest) -> Iterator[tuple[Path, os.stat_result | None]]:
    """Iterate over the files that processes of the agent's user execute.

    The path is the kernel's link to the file itself; the status is None if root cannot read the
    file. Processes that have exited are left out.
    """
    own = Path(guest.home).stat().st_uid
    for process in guest.processes():
        if process.uid != own:
            continue
        executable = _folder_of(process.pid) / "exe"
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, ProcessLookupError):
            yield executable, _status(executable)


def _mapped_code(guest: Guest) -> Iterator[tuple[Path, os.stat_result | None]]:
    """Iterate once over each file that processes of the agent's user have mapped as code.

    The path is the kernel's link to the file itself or, if access to it is denied, as to root in a
    container, the file's path. The status is None if root cannot read the file.

    Source: proc_pid_maps(5), proc_pid_map_files(5).
    """
    own = Path(guest.home).stat().st_uid
    seen: set[str] = set()
    for process in guest.processes():
        if process.uid == own:
            for _, path, status in _code_files(process.pid, seen):
                yield path, status


def _code_files(pid: int, seen: set[str]) -> Iterator[tuple[str, Path, os.stat_result | None]]:
    """Iterate over the files that a process has mapped as code, except those in `seen`, and add them to `seen`.

    Each item includes the path that the kernel reports.
    """
    for first, last, file, name in _CODE.findall(_memory_map(pid)):
        if file in seen:
            continue
        seen.add(file)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, ProcessLookupError):
            path = Path(f"/proc/{pid}/map_files/{first}-{last}")
            status = _status(path)
            if status is None:
                path = Path(name)
                status = _status(path)
            yield name, path, status


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file; None if root cannot read it, as in other users' FUSE mounts.

    Raises:
        FileNotFoundError, NotADirectoryError, ProcessLookupError: the file does not exist.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError, ProcessLookupError):
        raise
    except OSError:
        return None


def _memory_map(pid: int) -> str:
    """Return the rows of a process's memory map; empty if it has exited."""
    try:
        return (_folder_of(pid) / "maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read."""
    sha = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                sha.update(chunk)
    except OSError:
        return ""
    return sha.hexdigest()
