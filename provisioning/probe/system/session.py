"""Find the graphical session of the user by looking at its processes."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from provisioning.probe.errors import ProbeError
from provisioning.probe.system import proc
from provisioning.probe.system.identity import Identity

if TYPE_CHECKING:
    from collections.abc import Sequence

# Short names (15 characters at most) of who carries a session, the best source first.
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
        identity: whose it is.
        leader_pid: the process whose environment was taken.
        leader_ticks: when that process started, in clock ticks since boot.
        environment: all of that process' environment.
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
        """Return a minimal environment that reaches display and bus and holds no setting."""
        env = self.identity.environment()
        env.update(
            {name: self.environment[name] for name in _CONNECTIONS if name in self.environment}
        )
        return env

    def app_environment(self) -> dict[str, str]:
        """Return the environment an application gets that the user starts from a menu."""
        return {**self.identity.environment(), **self.environment}


class Sessions:
    """Know the session of one user; looked for again when its leader has gone.

    The display and bus of the first session found stay the only ones: the agent may start
    processes that look like a session on a display of its own, and end the real leader.

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
        """Return the session; None while there is none."""
        with self._lock:
            if not self._is_adopted and (self._found is None or not _is_alive(self._found)):
                session = find_session(self.identity, self._place)
                if session is not None:
                    self._place = _place(session.environment)
                self._found = session
            return self._found

    def adopt(self, session: Sequence[Any] | None) -> None:
        """Believe from now on what the probe itself has found, and look no more."""
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
        """Return the user's minimal environment, with display and bus while there is a session."""
        session = self.find()
        if session is not None:
            return session.clean_environment()
        env = self.identity.environment()
        runtime_dir = f"/run/user/{self.identity.uid}"
        if os.path.isdir(runtime_dir):
            env["XDG_RUNTIME_DIR"] = runtime_dir
        return env


def find_session(identity: Identity, place: tuple[str | None, ...] | None = None) -> Session | None:
    """Look through the user's processes for the best one that has a display.

    Args:
        identity: whose session.
        place: display and bus that it must have; any when None.
    """
    rank = {comm: index for index, comm in enumerate(LEADERS)}
    candidates = []
    for process in proc.list_processes(identity.uid):
        ticks = proc.start_ticks(process.pid)
        if process.pid != os.getpid() and ticks is not None:
            # The oldest first: numbers come round again, and what the agent starts is younger.
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
        # python-xlib wants a file, an empty one where the server asks for no cookie.
        cookie = f"{identity.home}/.Xauthority"
        environment["XAUTHORITY"] = cookie if os.path.exists(cookie) else os.devnull
    return environment


def _is_alive(session: Session) -> bool:
    return proc.start_ticks(session.leader_pid) == session.leader_ticks
