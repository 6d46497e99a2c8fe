"""Find the user's graphical session from its processes."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from provisioning.probe.errors import ProbeError
from provisioning.probe.system import proc
from provisioning.probe.system.identity import Identity

if TYPE_CHECKING:
    from collections.abc import Sequence

# Short names (at most 15 characters) of session processes, best source first.
LEADERS = (
    "gnome-session-b",
    "gnome-flashback",
    "gnome-panel",
    "metacity",
    "gnome-shell",
    "xfce4-session",
    "mate-session",
    "openbox",
    "fluxbox",
)
_CONNECTIONS = (
    "DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
)


class Session(NamedTuple):
    """A graphical session.

    Attributes:
        identity: user of the session.
        leader_pid: process whose environment was read.
        leader_ticks: start time of that process, in clock ticks since boot.
        environment: complete environment of that process.
    """

    identity: Identity
    leader_pid: int
    leader_ticks: int
    environment: dict[str, str]

    @property
    def display(self) -> str:
        """Name of the X display, such as ``:0``."""
        return self.environment["DISPLAY"]

    def clean_environment(self) -> dict[str, str]:
        """Return a minimal environment with display and bus, and without settings."""
        env = self.identity.environment()
        env.update(
            {name: self.environment[name] for name in _CONNECTIONS if name in self.environment}
        )
        return env

    def app_environment(self) -> dict[str, str]:
        """Return the environment of an application that the user starts from a menu."""
        return {**self.identity.environment(), **self.environment}


class Sessions:
    """The session of one user; searched again when its leader has ended.

    Only the display and bus of the first session are accepted, because the agent can start
    processes that look like a session on its own display, and end the real leader.

    Args:
        user: login name.
    """

    def __init__(self, user: str) -> None:
        self.identity = Identity.of(user)
        self._found: Session | None = None
        self._place: tuple[str | None, ...] | None = None
        self._is_adopted = False
        self._lock = threading.Lock()

    def find(self) -> Session | None:
        """Return the session, or None."""
        with self._lock:
            if not self._is_adopted and (self._found is None or not _is_alive(self._found)):
                session = find_session(self.identity, self._place)
                if session is not None:
                    self._place = _place(session.environment)
                self._found = session
            return self._found

    def adopt(self, session: Sequence[Any] | None) -> None:
        """Use the session that the probe found, and stop searching."""
        with self._lock:
            self._is_adopted = True
            if session is None:
                self._found = None
            else:
                pid, ticks, environment = session
                self._found = Session(self.identity, int(pid), int(ticks), dict(environment))

    def require(self) -> Session:
        """Return the session.

        Raises:
            ProbeError: ``no_session``.
        """
        session = self.find()
        if session is None:
            raise ProbeError("no_session", f"{self.identity.name} has no graphical session")
        return session

    def clean_environment(self) -> dict[str, str]:
        """Return the user's minimal environment, with display and bus if there is a session."""
        session = self.find()
        if session is not None:
            return session.clean_environment()
        env = self.identity.environment()
        runtime_dir = f"/run/user/{self.identity.uid}"
        if os.path.isdir(runtime_dir):
            env["XDG_RUNTIME_DIR"] = runtime_dir
        return env


def find_session(identity: Identity, place: tuple[str | None, ...] | None = None) -> Session | None:
    """Find the best of the user's processes that have a display.

    Args:
        identity: user of the session.
        place: display and bus that it must have; None for any.
    """
    rank = {comm: index for index, comm in enumerate(LEADERS)}
    candidates = []
    for process in proc.list_processes(identity.uid):
        ticks = proc.start_ticks(process.pid)
        if process.pid != os.getpid() and ticks is not None:
            # Oldest first: PIDs wrap around, and processes of the agent are younger.
            candidates.append((rank.get(process.comm, len(rank)), ticks, process.pid))
    for _, ticks, pid in sorted(candidates):
        environment = proc.environment_of(pid)
        if environment.get("DISPLAY"):
            completed = _completed(identity, environment)
            if place is None or _place(completed) == place:
                return Session(identity, pid, ticks, completed)
    return None


def _place(environment: dict[str, str]) -> tuple[str | None, ...]:
    return tuple(environment.get(name) for name in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS"))


def _completed(identity: Identity, environment: dict[str, str]) -> dict[str, str]:
    runtime_dir = environment.setdefault("XDG_RUNTIME_DIR", f"/run/user/{identity.uid}")
    bus = f"{runtime_dir}/bus"
    if "DBUS_SESSION_BUS_ADDRESS" not in environment and os.path.exists(bus):
        environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={bus}"
    if "XAUTHORITY" not in environment:
        # python-xlib requires a file, even an empty one if the server needs no cookie.
        cookie = f"{identity.home}/.Xauthority"
        environment["XAUTHORITY"] = cookie if os.path.exists(cookie) else os.devnull
    return environment


def _is_alive(session: Session) -> bool:
    return proc.start_ticks(session.leader_pid) == session.leader_ticks
