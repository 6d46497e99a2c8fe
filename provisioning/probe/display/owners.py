"""Determine the program that owns a window, from the X server and the kernel.

A window's own properties (title, class, process ID) do not count, because any program can write
them. The server knows from its socket which process created the window (X-Resource extension), and
the kernel knows which file that process executes.

Source: X Resource Extension 1.2, section QueryClientIds.
"""

from __future__ import annotations

import os
import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from provisioning.probe.system import connections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from Xlib.display import Display

_WORD = re.compile(r"[a-z]+")
# Parts of names that do not identify an application.
_GENERIC = frozenset({"app", "bin", "com", "desktop", "esr", "gnome", "gtk", "org", "server", "x"})
_OTHERS_MAY_WRITE = 0o022
_LENT = ("/dev/", "/home/", "/media/", "/mnt/", "/run/", "/srv/", "/tmp/", "/var/")  # noqa: S108 - prefixes
"""Folders where services store files from the agent as root's; code is not installed there."""
_LOOKS = 3
_TERMINALS = frozenset(
    {
        *("alacritty", "cool-retro-term", "deepin-terminal", "Eterm", "foot", "footclient"),
        *("ghostty", "gnome-terminal", "gnome-terminal-server", "kgx", "kitty", "konsole"),
        *("lxterm", "lxterminal", "mate-terminal", "mlterm", "ptyxis", "ptyxis-agent"),
        *("qterminal", "rxvt", "rxvt-unicode", "rxvt-xterm", "sakura", "st", "stterm"),
        *("terminology", "tilda", "tilix", "urxvt", "urxvtd", "wezterm", "wezterm-gui"),
        *("xfce4-terminal", "xterm", "xvt", "yakuake", "zutty"),
    }
)
# Programs that comprise several applications, by the classes of those.
_OFFICE = ("base", "calc", "draw", "impress", "math", "startcenter", "writer")
_SUITES = {"soffice.bin": frozenset({"soffice", *(f"libreoffice-{part}" for part in _OFFICE)})}


class Owner(NamedTuple):
    """The owner of a window.

    Attributes:
        pid: ID of the process; 0 if it has ended or is not on this machine.
        program: path of the file that it executes; empty if unknown.
    """

    pid: int
    program: str


class Owners:
    """Owners of windows and the class names that windows may have; valid for one wave.

    Args:
        display: open connection to the X server.
    """

    def __init__(self, display: Display) -> None:
        self._display = display
        self._is_pure: dict[int, bool] = {}

    def of(self, window_id: int) -> Owner | None:
        """Return a window's owner; None if the server has no X-Resource extension."""
        pid = _pid_of(self._display, window_id)
        if pid is None:
            return None
        program = program_of(pid) if pid else ""
        return Owner(pid if program else 0, program)

    def is_credible(self, name: str, owner: Owner) -> bool:
        """Return whether a window's class or instance is plausible for its program.

        The program's path must match (`is_credible`), and its process must execute only root's
        files, because code preloaded into a program acts as the program. The process must not be in
        a user namespace of the agent.
        """
        if not is_credible(name, owner.program):
            return False
        if owner.pid not in self._is_pure:
            self._is_pure[owner.pid] = (
                _shares(owner.pid, "user")
                and runs_roots_code(owner.pid)
                and self._connected(owner.pid)
            )
        return self._is_pure[owner.pid]

    def _connected(self, pid: int) -> bool:
        """Return whether the process made its connections itself, as the program it now runs."""
        server = connections.server_pid(self._display.display.socket)
        for _ in range(_LOOKS):
            try:
                ends = connections.peers()
            except OSError:
                # A kernel without unix_diag cannot be queried; an agent cannot cause that.
                return True
            count = (_pids_of(self._display, 0) or []).count(pid)
            if connections.are_own(pid, server, ends, count):
                return True
        return False


def is_terminal(program: str) -> bool:
    """Return whether a program is a terminal emulator, whose titles are set by programs in it."""
    return os.path.basename(program) in _TERMINALS


def is_credible(name: str, program: str) -> bool:
    """Return whether a window's class or instance is plausible for a program.

    The longest specific word of the name must be part of the program's path, as ``libreoffice`` in
    ``/usr/lib/libreoffice/program/soffice.bin``, and only root may have write access to that path.
    """
    specific_words = [word for word in _WORD.findall(name.lower()) if word not in _GENERIC]
    is_named = bool(specific_words) and max(specific_words, key=len) in program.lower()
    return is_named and not program.startswith(_LENT) and _is_roots(program)


def program_of(pid: int) -> str:
    """Return the path of the file that a process executes.

    Returns:
        The path; empty if the process has ended, or if the path refers to another file here: in its
        own mount namespace a process can have any program at any path, and a program can have been
        replaced.
    """
    link = f"/proc/{pid}/exe"
    try:
        path = os.readlink(link)
        return path if os.path.samestat(os.stat(link), os.stat(path)) else ""
    except OSError:
        return ""


def may_belong_to(name: str, program: str, names: Sequence[str]) -> bool:
    """Return whether a window may belong to an application although it has other class names.

    Anyone can write other names there. For a program that comprises several applications, the name
    on the window is trusted.

    Args:
        name: the application's class or instance.
        program: program of the window.
        names: class and instance of the window.
    """
    known = _SUITES.get(os.path.basename(program), frozenset())
    return is_credible(name, program) and not known.intersection(label.lower() for label in names)


def runs_roots_code(pid: int) -> bool:
    """Return whether a process executes only code from files that only root owns and can write.

    The kernel provides the mapped files themselves, whatever their paths refer to now. If it does
    not, as in a container whose root lacks the capability, their paths must refer only to root's
    files in the file systems that we see. Anonymous memory (used by just-in-time compilers) is
    ignored. A program that is loading something changes its mappings while they are read, so the
    check is repeated.

    Source: proc_pid_maps(5), proc_pid_map_files(5).
    """
    return any(_executes_roots_files(pid) for _ in range(_LOOKS))


def _executes_roots_files(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            rows = [line.split(None, 5) for line in file.read().splitlines()]
    except OSError:
        return False
    files = {(row[3], row[4]): row for row in rows if b"x" in row[1] and row[4] != b"0"}
    return all(_is_roots_mapping(pid, row) for row in files.values()) and bool(files)


def _is_roots_mapping(pid: int, row: list[bytes]) -> bool:
    first, last = (int(part, 16) for part in row[0].split(b"-"))
    path = os.fsdecode(row[5]) if len(row) > 5 else ""  # noqa: PLR2004
    if path.startswith(_LENT):
        return False
    try:
        status = os.stat(f"/proc/{pid}/map_files/{first:x}-{last:x}")
    except PermissionError:
        return _shares(pid, "mnt") and _is_roots(path)
    except OSError:
        return False
    return status.st_uid == 0 and not status.st_mode & _OTHERS_MAY_WRITE


def _shares(pid: int, namespace: str) -> bool:
    """Return whether a process shares a namespace with this process.

    In its own user namespace, the agent can attach to processes and write to their memory.
    """
    try:
        return os.readlink(f"/proc/{pid}/ns/{namespace}") == os.readlink(
            f"/proc/self/ns/{namespace}"
        )
    except OSError:
        return False


def _is_roots(program: str) -> bool:
    while True:
        try:
            status = os.stat(program, follow_symlinks=False)
        except OSError:
            return False
        if status.st_uid != 0 or status.st_mode & _OTHERS_MAY_WRITE:
            return False
        if program == "/":
            return True
        program = os.path.dirname(program)


def _pid_of(display: Display, window_id: int) -> int | None:
    """Return a window's process; 0 if none on this machine, None if the server does not know."""
    pids = _pids_of(display, window_id)
    if pids is None:
        return None
    return pids[0] if pids else 0


def _pids_of(display: Display, client: int) -> list[int] | None:
    """Return the processes of clients that match an identifier (0: all clients)."""
    from Xlib.error import XError
    from Xlib.ext import res

    if not display.has_extension(res.extname):
        return None
    spec = {"client": client, "mask": res.LocalClientPIDMask}
    try:
        reply = display.res_query_client_ids([spec])
    except (XError, struct.error):
        return []
    return [int(row.value[0]) for row in reply.ids if row.value]
