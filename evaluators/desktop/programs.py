"""Running programs of a desktop."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
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
"""With which variables begin that bring a shell code, or what keeps it from running its script."""
_LENT = ("/dev/", "/home/", "/media/", "/mnt/", "/run/", "/srv/", "/tmp/", "/var/")  # noqa: S108 - places to look at
"""Where services of root's keep what they are given: no code there is root's own (as `owners` in the probe)."""
_GROUPS = "/sys/fs/cgroup"
_CODE = re.compile(r"^0*([0-9a-f]+)-0*([0-9a-f]+) ..x. \S+ (\S+ \S+) +(/.*)", re.MULTILINE)
"""A file's row of a memory map, if its memory may be executed: addresses, device and inode, path."""


@evaluator(on="desktop")
def process_running(guest: Guest, program: str) -> bool:
    """Return whether the agent's user runs a program.

    The file that the process executes must be the one at this path (device and inode), whatever
    name the process gives itself, and whatever is mounted over the path for that process. A copy
    of the program is another program. For a script, it is the interpreter. A process in a user namespace of
    its own does not count: whoever made that may have put other code into it.

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
def script_running(guest: Guest, script: str) -> bool:
    """Return whether the agent's user runs a script: an interpreter that was started with its file.

    The file that the process executes must be an interpreter of the system (below /usr or /bin,
    root's: a shell, Python, Perl, Ruby, PHP, Lua, Tcl, Guile, Node or gjs), and its first argument that is
    no option, nor an option's value, must name the script (device and inode; relative to the folder that the
    process is in). Code given by an option such as ``-c``, or read from standard input, is no script; an
    editor that shows the script does not run it; a check of its syntax, or a process that is stopped, does not
    either. A shell must have the file open as well, and run no other file first (a login or interactive shell,
    ``BASH_ENV``), nor code that its environment brings (functions, ``PS4``) or that is not root's. Of other interpreters the command line alone tells,
    which a process can write over, and code that runs before the script (such as Python's
    ``usercustomize``) is not told from it: check what the script does, too. Proves the state, not
    who made it.

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
def process_absent(guest: Guest, program: str) -> bool:
    """Return whether the agent's user runs no process of a program.

    A process runs a program when it executes the program's file or has the file mapped as code, as the
    dynamic linker (``/lib64/ld-linux-x86-64.so.2``) does with the program that it is given. A copy, under
    whatever name, counts as the program; one with other content does not, nor does code that was read into
    memory and has no file there, nor, in a container, a copy that the linker runs and that was deleted. A
    process whose file root may not read (the user's own FUSE mount has it) may run anything: unmet. A script counts as its interpreter, so name the program that a script
    such as ``/usr/bin/gnome-terminal`` starts. A program that does not exist makes the result inconclusive:
    its path may be misspelt.

    Example:
        ``{on: desktop, check: process_absent, with: {program: /usr/bin/gedit}}``

    Args:
        guest: the desktop.
        program: absolute path of the program's file, such as ``/usr/bin/gedit``.

    Raises:
        ValueError: there is no such program.
    """
    if not Path(program).is_file():
        raise ValueError(f"there is no program {program}")
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
    """Return whether a process runs a program, or an interpreter with it where it is a script.

    Args:
        guest: the desktop.
        pid: of the process.
        path: of the program's file; nothing runs an empty one.
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
    """Return whether a process runs a script; one that ends meanwhile does not."""
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
            and not (keeps_script_open(name) and _is_led_astray(process, argv))
        )
    except OSError:
        return False


def _folder_of(pid: int) -> Path:
    """Return the folder in ``/proc`` of a process' first thread, or of another if that one has ended.

    The kernel knows no program of a thread that has ended; the others go on with it.
    """
    own = Path(f"/proc/{pid}")
    with contextlib.suppress(OSError):
        for folder in itertools.chain((own,), (own / "task").iterdir()):
            with contextlib.suppress(FileNotFoundError):
                (folder / "exe").readlink()
                return folder
    return own


def shares_users(process: Path) -> bool:
    """Return whether a process is in this one's user namespace; False when it is gone.

    In one that the agent made it may attach to processes and write to their memory.

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
    """Return whether the control group of a process is frozen, as ``systemctl freeze`` does.

    Source: the kernel's ``cgroup-v2.rst``, cgroup.events.
    """
    with contextlib.suppress(OSError):
        for row in (process / "cgroup").read_text(encoding="utf-8").splitlines():
            if row.startswith("0::/"):
                events = Path(f"{_GROUPS}{row.removeprefix('0::')}/cgroup.events")
                return "frozen 1" in events.read_text(encoding="utf-8").splitlines()
    return False


def _is_led_astray(process: Path, argv: Sequence[str]) -> bool:
    """Return whether a shell may run other code than its script's: before it, or in its place."""
    variables = (process / "environ").read_bytes().split(b"\0")
    if argv[0].startswith("-") or any(variable.startswith(_ASTRAY) for variable in variables):
        return True
    # What is preloaded, or found on a library path of the user's, acts as the shell.
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

    The path is the kernel's link to the file itself, None stands for one that root may not read; processes
    that are gone are left out.
    """
    own = Path(guest.home).stat().st_uid
    for process in guest.processes():
        if process.uid != own:
            continue
        executable = _folder_of(process.pid) / "exe"
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, ProcessLookupError):
            yield executable, _status(executable)


def _mapped_code(guest: Guest) -> Iterator[tuple[Path, os.stat_result | None]]:
    """Iterate over the files that processes of the agent's user have mapped as code, each once.

    The path is the kernel's link to the file itself; where that is refused, as to root in a container,
    it is the file's path. None stands for one that root may not read.

    Source: proc_pid_maps(5), proc_pid_map_files(5).
    """
    own = Path(guest.home).stat().st_uid
    seen: set[str] = set()
    for process in guest.processes():
        if process.uid == own:
            for _, path, status in _code_files(process.pid, seen):
                yield path, status


def _code_files(pid: int, seen: set[str]) -> Iterator[tuple[str, Path, os.stat_result | None]]:
    """Iterate over the files that a process has mapped as code, but for those seen, which are added to.

    With the path that the kernel tells of each.
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
    """Return the status of a file; None where root may not read it, as in others' FUSE mounts.

    Raises:
        FileNotFoundError, NotADirectoryError, ProcessLookupError: there is none.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError, ProcessLookupError):
        raise
    except OSError:
        return None


def _memory_map(pid: int) -> str:
    """Return the rows of a process' memory map; empty when it is gone."""
    try:
        return (_folder_of(pid) / "maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty when it cannot be read."""
    sha = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                sha.update(chunk)
    except OSError:
        return ""
    return sha.hexdigest()
