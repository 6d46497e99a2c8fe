"""Titles of windows as the windows' own programs tell them, over accessibility (AT-SPI).

Anybody may write to any window, and the X server keeps no account of who did. A program's own word
of its windows' names goes over a message bus, of which each hop is asked of the kernel:

* The bus is whatever somebody says it is. But its daemon must be root's ``dbus-daemon``, running
  nothing but root's code, and every byte must be written by that very process. Such a daemon, under
  whatever configuration, stamps each message with the connection that it came from, and knows the
  process that connected.
* That process must be the one that owns the window, and its connections to the daemon its own: as
  many as the daemon counts, to be closed on execution, held by nobody else.

Source: AT-SPI 2, org.a11y.atspi.Accessible; unix(7), SO_PEERCRED and SCM_CREDENTIALS.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Dict, List, NamedTuple
from urllib.parse import unquote

from provisioning.probe import connections, owners, proc
from provisioning.probe.bus import Bus, BusError, Call

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from provisioning.probe.session import Session

PATIENCE_S = 3.0
"""How long a program, with the bus on the way to it, may take."""

_DAEMON = "/usr/bin/dbus-daemon"
_ROOT = "/org/a11y/atspi/accessible/root"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_LAUNCHER = Call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
_MOST_CHILDREN = 200
_MAX_TITLE = 1000
_LOOKS = 3
_PAUSE_S = 0.02
# Roles of what is a window: colour chooser, dialog, file chooser, font chooser, frame, window.
_WINDOWS = frozenset({9, 16, 19, 21, 23, 69})


class UntoldError(Exception):
    """Nobody can say what the titles are; the message tells why."""


class Told(NamedTuple):
    """What a program says of one of its windows.

    Attributes:
        name: its title, for most kinds of windows; a message box may say what kind it is.
        role: AT-SPI's number of what it is.
    """

    name: str
    role: int


def title_of(window: int, shown: Mapping[int, str], told: Sequence[Told]) -> str | None:
    """Give a window's title; None when its program's word does not tell.

    A title that shows counts when the program tells it at least as often as it shows, so that one
    window does not get another one's title. Where all windows have one title, that is each one's.

    Args:
        window: its identifier.
        shown: what the windows of its program show, by identifier.
        told: what the program tells.
    """
    title = shown[window][:_MAX_TITLE]
    is_shown = Counter(one[:_MAX_TITLE] for one in shown.values())[title]
    if is_shown <= Counter(one.name for one in told)[title]:
        return title
    names = [one.name for one in told if one.role in _WINDOWS]
    is_one = len(set(names)) == 1 and len(shown) == len(told) == len(names)
    return names[0] if is_one else None


def ask(session: Session, pid: int) -> list[Told]:
    """Have a process tell of its windows.

    Args:
        session: whose accessibility bus is asked.
        pid: the process.

    Raises:
        UntoldError: it does not, or somebody else may have spoken for it.
    """
    why = "there is no accessibility bus"
    end_s = time.monotonic() + PATIENCE_S
    for address in _addresses(session, end_s):
        try:
            return _ask_at(address, session.identity.uid, pid, end_s)
        except (BusError, UntoldError) as exc:
            why = str(exc)
    raise UntoldError(why)


def _ask_at(path: str, uid: int, pid: int, end_s: float) -> list[Told]:
    bus = Bus(path, uid, end_s - time.monotonic())
    try:
        # Before a byte is read: a process does not become another's program again unnoticed.
        started = proc.start_ticks(bus.pid)
        if not _is_daemon(bus.pid):
            raise UntoldError("the accessibility bus is not run by the system's daemon")
        bus.log_in(only_from=bus.pid)
        names = _names_of(bus, pid)
        told = [row for name in names for row in _windows_of(bus, name)]
        _check_connections(bus, pid)
        if proc.start_ticks(bus.pid) != started or not _is_daemon(bus.pid):
            raise UntoldError("the accessibility bus' daemon is another one by now")
        return told
    finally:
        bus.close()


def _is_daemon(pid: int) -> bool:
    """Tell whether a process is root's bus daemon, among the processes that we see.

    One in a table of processes of its own could be spoken for by who is root there.
    """
    try:
        is_here = os.readlink(f"/proc/{pid}/ns/pid") == os.readlink("/proc/self/ns/pid")
    except OSError:
        return False
    return is_here and owners.program_of(pid) == _DAEMON and owners.runs_roots_code(pid)


def _names_of(bus: Bus, pid: int) -> list[str]:
    """Give the names of a process' connections, having made sure that they are its own."""
    reply = bus.ask_daemon("ListNames")
    names = [name for name in (reply[0] if reply else ()) if name.startswith(":")]
    pids = bus.ask_daemon_each("GetConnectionUnixProcessID", names)
    found = [name for name, told in zip(names, pids) if told == [pid]]  # noqa: B905 - Python 3.9
    if not found:
        raise UntoldError("its program does not tell its windows' titles over accessibility")
    return found


def _check_connections(bus: Bus, pid: int) -> None:
    """Make sure that a process' connections to the bus are its own."""
    for _ in range(_LOOKS):
        try:
            ends = connections.peers()
        except OSError:
            # A kernel without unix_diag cannot be asked, which no agent brings about.
            return
        if connections.are_own(pid, bus.pid, ends, len(_names_of(bus, pid)), alone=True):
            return
        time.sleep(_PAUSE_S)
    raise UntoldError("its program's connection to the accessibility bus may be another's")


def _windows_of(bus: Bus, name: str) -> list[Told]:
    """Ask a connection for what is right below its application."""
    reply = bus.ask([Call(name, _ROOT, _ACCESSIBLE, "GetChildren")])[0]
    rows: List[object] = list(reply[0])[:_MOST_CHILDREN] if reply else []
    own = [row[1] for row in rows if isinstance(row, tuple) and row[0] == name]
    words = (_ACCESSIBLE, "Name")
    names = bus.ask([Call(name, path, _PROPERTIES, "Get", words) for path in own])
    roles = bus.ask([Call(name, path, _ACCESSIBLE, "GetRole") for path in own])
    return [
        Told(text[0][:_MAX_TITLE], role[0])
        for text, role in zip(names, roles)  # noqa: B905 - Python 3.9
        if text and role and isinstance(text[0], str) and isinstance(role[0], int)
    ]


def _addresses(session: Session, end_s: float) -> Iterator[str]:
    """Give where the bus may be, as programs look for it; none of it needs to be true."""
    seen: Dict[str, None] = {}
    for find in (_at_display, _at_session_bus):
        path = _path_in(find(session, end_s))
        if path and path not in seen:
            seen[path] = None
            yield path


def _at_display(session: Session, _: float) -> str:
    from Xlib import X
    from Xlib.error import DisplayError, XError

    from provisioning.probe import windows

    try:
        display = windows.open_display(session.display)
    except (DisplayError, OSError):
        return ""
    try:
        atom = display.intern_atom("AT_SPI_BUS")
        found = display.screen().root.get_full_property(atom, X.AnyPropertyType)
        value = found.value if found is not None else b""
        return value if isinstance(value, str) else bytes(value).decode("utf-8", "replace")
    except (XError, TypeError, ValueError):
        return ""
    finally:
        display.close()


def _at_session_bus(session: Session, end_s: float) -> str:
    path = _path_in(session.environment.get("DBUS_SESSION_BUS_ADDRESS", ""))
    if not path:
        return ""
    try:
        bus = Bus(path, session.identity.uid, end_s - time.monotonic())
    except BusError:
        return ""
    try:
        bus.log_in()
        owner = bus.ask_daemon("GetNameOwner", _LAUNCHER.target)
        reply = bus.ask([_LAUNCHER._replace(target=owner[0])])[0] if owner else None
    except BusError:
        return ""
    finally:
        bus.close()
    return reply[0] if reply and isinstance(reply[0], str) else ""


def _path_in(address: str) -> str:
    """Give the path of the first Unix socket in an address; NUL begins an abstract one."""
    for one in address.split(";"):
        kind, _, rest = one.partition(":")
        parts = dict(part.partition("=")[::2] for part in rest.split(","))
        if kind == "unix" and parts.get("path"):
            return unquote(parts["path"])
        if kind == "unix" and parts.get("abstract"):
            return "\0" + unquote(parts["abstract"])
    return ""
