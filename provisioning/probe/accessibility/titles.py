"""Window titles as reported by the windows' own programs over accessibility (AT-SPI).

Any client can write to any window, and the X server does not record which client did. A program's
own names of its windows come over a message bus; each hop is verified with the kernel:

* Any process can claim to be the bus. But the daemon must be root's ``dbus-daemon``, executing
  only root's code, and every byte must be written by that process. Such a daemon, whatever its
  configuration, stamps each message with the connection that it came from, and knows the process
  that connected.
* That process must own the window, and its connections to the daemon must be its own: as many as
  the daemon counts, close-on-exec, held by no other process.

Source: AT-SPI 2, org.a11y.atspi.Accessible; unix(7), SO_PEERCRED and SCM_CREDENTIALS.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple

from provisioning.probe.accessibility.bus import Bus, BusError, Call, path_in
from provisioning.probe.display import owners
from provisioning.probe.system import connections, proc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from provisioning.probe.system.session import Session

TIMEOUT_S = 3.0
"""Time limit for a program's replies, including those of the bus."""

_DAEMON = "/usr/bin/dbus-daemon"
_ROOT = "/org/a11y/atspi/accessible/root"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_LAUNCHER = Call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
_MAX_CHILDREN = 200
_MAX_TITLE = 1000
_LOOKS = 3
_PAUSE_S = 0.02
# Roles of windows: colour chooser, dialog, file chooser, font chooser, frame, window.
_WINDOWS = frozenset({9, 16, 19, 21, 23, 69})


class UnknownTitleError(Exception):
    """The titles cannot be determined; the message contains the reason."""


class ReportedWindow(NamedTuple):
    """A program's report about one of its windows.

    Attributes:
        name: the title, for most kinds of windows; for a message box it may be the kind.
        role: AT-SPI number of the role.
    """

    name: str
    role: int


def title_of(
    window: int, shown: Mapping[int, str], reported: Sequence[ReportedWindow]
) -> str | None:
    """Return a window's title; None if its program's report is ambiguous.

    A shown title counts if the program reports it at least as often as it is shown, so that no
    window gets the title of another. If all windows have the same title, each of them has it.

    Args:
        window: identifier of the window.
        shown: titles that the windows of its program show, by identifier.
        reported: the program's report.
    """
    title = shown[window][:_MAX_TITLE]
    is_shown = Counter(text[:_MAX_TITLE] for text in shown.values())[title]
    if is_shown <= Counter(row.name for row in reported)[title]:
        return title
    names = [row.name for row in reported if row.role in _WINDOWS]
    has_one_name = len(set(names)) == 1 and len(shown) == len(reported) == len(names)
    return names[0] if has_one_name else None


def query(session: Session, pid: int) -> list[ReportedWindow]:
    """Return a process's report about its windows.

    Args:
        session: session whose accessibility bus is queried.
        pid: the process.

    Raises:
        UnknownTitleError: it does not report, or another process may have replied instead.
    """
    why = "there is no accessibility bus"
    end_s = time.monotonic() + TIMEOUT_S
    for address in _addresses(session, end_s):
        try:
            return _query_at(address, session.identity.uid, pid, end_s)
        except (BusError, UnknownTitleError) as exc:
            why = str(exc)
    raise UnknownTitleError(why)


def _query_at(path: str, uid: int, pid: int, end_s: float) -> list[ReportedWindow]:
    bus = Bus(path, uid, end_s - time.monotonic())
    try:
        # Checked before a byte is read: a process cannot become another program again unnoticed.
        started = proc.start_ticks(bus.pid)
        if not _is_daemon(bus.pid):
            raise UnknownTitleError("the accessibility bus is not run by the system's daemon")
        bus.log_in(only_from=bus.pid)
        names = _names_of(bus, pid)
        reported = [row for name in names for row in _windows_of(bus, name)]
        _check_connections(bus, pid)
        if proc.start_ticks(bus.pid) != started or not _is_daemon(bus.pid):
            raise UnknownTitleError("the accessibility bus daemon was replaced meanwhile")
        return reported
    finally:
        bus.close()


def _is_daemon(pid: int) -> bool:
    """Return whether a process is root's bus daemon in our own PID namespace.

    In another namespace, root of that namespace could impersonate it.
    """
    try:
        is_here = os.readlink(f"/proc/{pid}/ns/pid") == os.readlink("/proc/self/ns/pid")
    except OSError:
        return False
    return is_here and owners.program_of(pid) == _DAEMON and owners.runs_roots_code(pid)


def _names_of(bus: Bus, pid: int) -> list[str]:
    """Return the names of a process's connections."""
    reply = bus.call_daemon("ListNames")
    names = [name for name in (reply[0] if reply else ()) if name.startswith(":")]
    pids = bus.call_daemon_for_each("GetConnectionUnixProcessID", names)
    own_names = [name for name, reply in zip(names, pids) if reply == [pid]]  # noqa: B905 - Python 3.9
    if not own_names:
        raise UnknownTitleError(
            "its program does not report its windows' titles over accessibility"
        )
    return own_names


def _check_connections(bus: Bus, pid: int) -> None:
    """Verify that a process's connections to the bus are its own."""
    for _ in range(_LOOKS):
        try:
            ends = connections.peers()
        except OSError:
            # A kernel without unix_diag cannot be queried; an agent cannot cause that.
            return
        if connections.are_own(pid, bus.pid, ends, len(_names_of(bus, pid)), alone=True):
            return
        time.sleep(_PAUSE_S)
    raise UnknownTitleError(
        "its program's connection to the accessibility bus may belong to another process"
    )


def _windows_of(bus: Bus, name: str) -> list[ReportedWindow]:
    """Return the children of a connection's application."""
    reply = bus.call([Call(name, _ROOT, _ACCESSIBLE, "GetChildren")])[0]
    rows: List[object] = list(reply[0])[:_MAX_CHILDREN] if reply else []
    own = [row[1] for row in rows if isinstance(row, tuple) and row[0] == name]
    arguments = (_ACCESSIBLE, "Name")
    names = bus.call([Call(name, path, _PROPERTIES, "Get", arguments) for path in own])
    roles = bus.call([Call(name, path, _ACCESSIBLE, "GetRole") for path in own])
    return [
        ReportedWindow(_text_in(name)[:_MAX_TITLE], role[0])
        for name, role in zip(names, roles)  # noqa: B905 - Python 3.9
        if name and role and isinstance(role[0], int) and _is_text(name)
    ]


def _is_text(reply: List[Any]) -> bool:
    """Return whether a reply contains a variant with a string."""
    value = reply[0]
    return isinstance(value, tuple) and value[:1] == ("s",)


def _text_in(reply: List[Any]) -> str:
    return str(reply[0][1])


def _addresses(session: Session, end_s: float) -> Iterator[str]:
    """Yield candidate addresses of the bus in the order programs use; they are not trusted."""
    seen: Dict[str, None] = {}
    for find in (_at_display, _at_session_bus):
        path = path_in(find(session, end_s))
        if path and path not in seen:
            seen[path] = None
            yield path


def _at_display(session: Session, _: float) -> str:
    from Xlib import X
    from Xlib.error import DisplayError, XError

    from provisioning.probe.display import xserver

    try:
        display = xserver.open_display(session.display)
    except (DisplayError, OSError):
        return ""
    try:
        atom = display.intern_atom("AT_SPI_BUS")
        bus_property = display.screen().root.get_full_property(atom, X.AnyPropertyType)
        value = bus_property.value if bus_property is not None else b""
        return value if isinstance(value, str) else bytes(value).decode("utf-8", "replace")
    except (XError, TypeError, ValueError):
        return ""
    finally:
        display.close()


def _at_session_bus(session: Session, end_s: float) -> str:
    path = path_in(session.environment.get("DBUS_SESSION_BUS_ADDRESS", ""))
    if not path:
        return ""
    try:
        bus = Bus(path, session.identity.uid, end_s - time.monotonic())
    except BusError:
        return ""
    try:
        bus.log_in()
        owner = bus.call_daemon("GetNameOwner", _LAUNCHER.target)
        reply = bus.call([_LAUNCHER._replace(target=owner[0])])[0] if owner else None
    except BusError:
        return ""
    finally:
        bus.close()
    return reply[0] if reply and isinstance(reply[0], str) else ""
