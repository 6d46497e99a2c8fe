"""Which program a window belongs to, from the X server and the kernel and not from the window.

What a window says of itself (title, class, process id) is whatever somebody wrote there; any
program may. The server knows by its socket which process made the window (X-Resource extension),
and the kernel knows which file that process runs.

Source: X Resource Extension 1.2, section QueryClientIds.
"""

from __future__ import annotations

import os
import re
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from provisioning.probe import connections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from Xlib.display import Display

_EXTENSION = "X-Resource"
_QUERY_CLIENT_IDS = 4
_LOCAL_CLIENT_PID = 2
_WORD = re.compile(r"[a-z]+")
# Parts of names that say nothing about which application it is.
_GENERIC = frozenset({"app", "bin", "com", "desktop", "esr", "gnome", "gtk", "org", "server", "x"})
_OTHERS_MAY_WRITE = 0o022
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
_SUITES = {"soffice.bin": frozenset({"soffice", *(f"libreoffice-{one}" for one in _OFFICE)})}


class Owner(NamedTuple):
    """Whose a window is.

    Attributes:
        pid: the process; 0 when it is gone or not on this machine.
        program: path of the file that it runs; empty when nobody can tell.
    """

    pid: int
    program: str


class Owners:
    """Whose windows are, and what names those may bear; kept for one wave.

    Args:
        display: an open connection.
    """

    def __init__(self, display: Display) -> None:
        self._display = display
        self._is_pure: dict[int, bool] = {}

    def of(self, window_id: int) -> Owner | None:
        """Give whose a window is; None when the server has no X-Resource extension."""
        pid = _pid_of(self._display, window_id)
        if pid is None:
            return None
        program = program_of(pid) if pid else ""
        return Owner(pid if program else 0, program)

    def is_credible(self, name: str, owner: Owner) -> bool:
        """Tell whether a window's class or instance may be that of its program.

        The program's path must fit (`is_credible`), and nothing but root's files must be executed
        in its process: what is preloaded into a program speaks with the program's voice.
        """
        if not is_credible(name, owner.program):
            return False
        if owner.pid not in self._is_pure:
            self._is_pure[owner.pid] = runs_roots_code(owner.pid) and self._connected(owner.pid)
        return self._is_pure[owner.pid]

    def _connected(self, pid: int) -> bool:
        """Tell whether the process made its connections itself, as the program it now runs."""
        server = connections.server_pid(self._display.display.socket)
        for _ in range(_LOOKS):
            try:
                ends = connections.peers()
            except OSError:
                # A kernel without unix_diag cannot be asked, which no agent brings about.
                return True
            clients = [one for one in _clients(self._display, 0) or () if one[1] == pid]
            if connections.are_own(pid, server, ends, len(clients)):
                return True
        return False


def is_terminal(program: str) -> bool:
    """Tell whether a program is a terminal emulator, whose titles come from what runs in it."""
    return os.path.basename(program) in _TERMINALS


def is_credible(name: str, program: str) -> bool:
    """Tell whether a window's class or instance may be that of a program.

    The word that says most in the name must be part of the program's path, as ``libreoffice`` in
    ``/usr/lib/libreoffice/program/soffice.bin``, and nobody but root may write to that path.
    """
    words = [word for word in _WORD.findall(name.lower()) if word not in _GENERIC]
    return bool(words) and max(words, key=len) in program.lower() and _is_roots(program)


def program_of(pid: int) -> str:
    """Give the path of the file that a process runs.

    Returns:
        Empty when the process is gone, or when the path leads to another file here: in mounts of its
        own a process may have any program at any path, and a program may have been replaced.
    """
    link = f"/proc/{pid}/exe"
    try:
        path = os.readlink(link)
        return path if os.path.samestat(os.stat(link), os.stat(path)) else ""
    except OSError:
        return ""


def may_bear(name: str, program: str, names: Sequence[str]) -> bool:
    """Tell whether a window may be an application's although it bears other names.

    Anybody may write other names there. A program that is several applications has a window under
    each one's name, which is believed.

    Args:
        name: the application's class or instance.
        program: the window's program.
        names: the class and instance that it bears.
    """
    known = _SUITES.get(os.path.basename(program), frozenset())
    return is_credible(name, program) and not known.intersection(one.lower() for one in names)


def runs_roots_code(pid: int) -> bool:
    """Tell whether all files that a process executes code of are root's, and only root's to write.

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
    try:
        found = os.stat(f"/proc/{pid}/map_files/{first:x}-{last:x}")
    except PermissionError:
        path = os.fsdecode(row[5]) if len(row) > 5 else ""  # noqa: PLR2004
        return _shares_mounts(pid) and _is_roots(path)
    except OSError:
        return False
    return found.st_uid == 0 and not found.st_mode & _OTHERS_MAY_WRITE


def _shares_mounts(pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt")
    except OSError:
        return False


def _is_roots(program: str) -> bool:
    while True:
        try:
            found = os.stat(program, follow_symlinks=False)
        except OSError:
            return False
        if found.st_uid != 0 or found.st_mode & _OTHERS_MAY_WRITE:
            return False
        if program == "/":
            return True
        program = os.path.dirname(program)


def _pid_of(display: Display, window_id: int) -> int | None:
    """Ask the server; 0 when it knows no process on this machine, None when it cannot tell."""
    found = _clients(display, window_id)
    if found is None:
        return None
    return found[0][1] if found else 0


def _clients(display: Display, client: int) -> list[tuple[int, int]] | None:
    """Give clients (0: all) by an identifier of theirs, each with its process."""
    from Xlib.error import XError
    from Xlib.protocol import rq

    class QueryClientIds(rq.ReplyRequest):  # type: ignore[misc] # python-xlib is untyped
        _request = rq.Struct(
            rq.Card8("opcode"),
            rq.Opcode(_QUERY_CLIENT_IDS),
            rq.RequestLength(),
            rq.Card32("count"),
            rq.Card32("client"),
            rq.Card32("mask"),
        )
        _reply = rq.Struct(
            rq.ReplyCode(),
            rq.Pad(1),
            rq.Card16("sequence_number"),
            rq.ReplyLength(),
            rq.Card32("count"),
            rq.Pad(20),
            rq.List("words", rq.Card32Obj),
        )

    found = display.query_extension(_EXTENSION)
    if found is None:
        return None
    try:
        reply: Any = QueryClientIds(
            display=display.display,
            opcode=found.major_opcode,
            count=1,
            client=client,
            mask=_LOCAL_CLIENT_PID,
        )
    except (XError, struct.error):
        return []
    # client, mask, length in bytes, values
    words, rows, at = list(reply.words), [], 0
    while at + 2 < len(words):
        size = words[at + 2] // 4
        rows += [(int(words[at]), int(value)) for value in words[at + 3 : at + 3 + min(size, 1)]]
        at += 3 + size
    return rows
