"""Find the program that a window belongs to, from the X server and the kernel.

A window's own properties (title, class, process id) do not count: any program may write them. The
server knows by its socket which process made the window (X-Resource extension), and the kernel
knows which file that process runs.

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
# Parts of names that say nothing about which application it is.
_GENERIC = frozenset({"app", "bin", "com", "desktop", "esr", "gnome", "gtk", "org", "server", "x"})
_OTHERS_MAY_WRITE = 0o022
_LENT = ("/dev/", "/home/", "/media/", "/mnt/", "/run/", "/srv/", "/tmp/", "/var/")  # noqa: S108 - places to look at
"""Where services of root's keep files that the agent gives them, as root's: no code is installed there."""
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
# Programs that are several applications, by the classes of those.
_OFFICE = ("base", "calc", "draw", "impress", "math", "startcenter", "writer")
_SUITES = {"soffice.bin": frozenset({"soffice", *(f"libreoffice-{part}" for part in _OFFICE)})}


class Owner(NamedTuple):
    """The owner of a window.

    Attributes:
        pid: the process; 0 when it is gone or not on this machine.
        program: path of the file that it runs; empty when unknown.
    """

    pid: int
    program: str


class Owners:
    """Owners of windows and the names that those may bear; valid for one wave.

    Args:
        display: an open connection.
    """

    def __init__(self, display: Display) -> None:
        self._display = display
        self._is_pure: dict[int, bool] = {}

    def of(self, window_id: int) -> Owner | None:
        """Return a window's owner; None when the server has no X-Resource extension."""
        pid = _pid_of(self._display, window_id)
        if pid is None:
            return None
        program = program_of(pid) if pid else ""
        return Owner(pid if program else 0, program)

    def is_credible(self, name: str, owner: Owner) -> bool:
        """Return whether a window's class or instance may be that of its program.

        The program's path must fit (`is_credible`), and nothing but root's files must be executed
        in its process: what is preloaded into a program acts as the program. The process must be in
        no user namespace of the agent's.
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
                # A kernel without unix_diag cannot be asked; no agent can cause that.
                return True
            count = (_pids_of(self._display, 0) or []).count(pid)
            if connections.are_own(pid, server, ends, count):
                return True
        return False


def is_terminal(program: str) -> bool:
    """Return whether a program is a terminal emulator, whose titles come from what runs in it."""
    return os.path.basename(program) in _TERMINALS


def is_credible(name: str, program: str) -> bool:
    """Return whether a window's class or instance may be that of a program.

    The longest specific word of the name must be part of the program's path, as ``libreoffice`` in
    ``/usr/lib/libreoffice/program/soffice.bin``, and nobody but root may write to that path.
    """
    specific_words = [word for word in _WORD.findall(name.lower()) if word not in _GENERIC]
    is_named = bool(specific_words) and max(specific_words, key=len) in program.lower()
    return is_named and not program.startswith(_LENT) and _is_roots(program)


def program_of(pid: int) -> str:
    """Return the path of the file that a process runs.

    Returns:
        Empty when the process is gone, or when the path leads to another file here: in a mount
        namespace of its own a process may have any program at any path, and a program may have
        been replaced.
    """
    link = f"/proc/{pid}/exe"
    try:
        path = os.readlink(link)
        return path if os.path.samestat(os.stat(link), os.stat(path)) else ""
    except OSError:
        return ""


def may_bear(name: str, program: str, names: Sequence[str]) -> bool:
    """Return whether a window may be an application's although it bears other names.

    Anybody may write other names there. A program that is several applications has a window under
    each one's name, which is believed.

    Args:
        name: the application's class or instance.
        program: the window's program.
        names: the class and instance that it bears.
    """
    known = _SUITES.get(os.path.basename(program), frozenset())
    return is_credible(name, program) and not known.intersection(label.lower() for label in names)


def runs_roots_code(pid: int) -> bool:
    """Return whether all files that a process executes code of are root's, and only root's to write.

    The kernel gives the very files, whatever their paths lead to by now. Where it does not, as in a
    container, whose root lacks the capability, their paths must lead to root's files only, in the
    file systems that we see. Memory without a file (compilers at run time have it) tells nothing.
    A program that just loads something changes its mappings while they are read: it is looked again.

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
    """Return whether a process is in this one's namespace of a kind.

    In a user namespace that the agent made it may attach to processes and write to their memory.
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
    """Return a window's process; 0 for none on this machine, None where the server cannot say."""
    pids = _pids_of(display, window_id)
    if pids is None:
        return None
    return pids[0] if pids else 0


def _pids_of(display: Display, client: int) -> list[int] | None:
    """Return the processes of clients by an identifier of theirs (0: of all clients)."""
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
