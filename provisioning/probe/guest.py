"""The evaluators' view of the desktop.

Evaluators run as root in a child of the probe, with programs named by absolute path and an
environment that the agent cannot influence; what they read is cached for the current wave.

What the agent's user can attempt, and why it fails:

* Links on the path to a file are not followed, see `paths`.
* A program run as the user has its own group. The kernel gives a process access to another one
  (its memory, open files, standard output) only if user *and* group are the same, so the agent can
  end or stop such a program, but cannot reply in its place.
* Settings are read with the system's schemas only; schemas in the user's home folder, where another
  default would look like a changed setting, are ignored.
* The list of windows and the front window come from the X server, see `window_tree`; the root
  window's properties about them can be written by anyone.
* A window's class counts only if it is plausible for the program that created the window, see
  `owners`.
* A window's title is what its own program reports over accessibility, see `titles`, never what
  another program wrote there. It only proves what the program shows; also check the file or page.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from provisioning.probe.accessibility import titles
from provisioning.probe.display import owners
from provisioning.probe.errors import ProbeError
from provisioning.probe.system import proc
from provisioning.probe.system.paths import open_trusted
from provisioning.probe.system.run import run_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.probe.system.identity import Identity
    from provisioning.probe.system.proc import Process
    from provisioning.probe.system.session import Sessions

MAX_READ_BYTES = 1 << 20
_GSETTINGS = "/usr/bin/gsettings"
_READ_SETTINGS = frozenset({_GSETTINGS, "/usr/bin/dconf"})
_DCONF_PROFILE = "/etc/dconf/profile/user"
_SHIELD_GID = 64197
"""Group of programs run for evaluators; no user is a member."""


class GuestFileMissingError(Exception):
    """There is no such file."""


class GuestError(Exception):
    """The guest could not be queried; the node becomes inconclusive."""


class _Shown(NamedTuple):
    """A window's displayed title, and its process."""

    pid: int
    ticks: int | None
    title: str


class Guest:
    """The desktop, as evaluators access it.

    Args:
        sessions: provides the user and the graphical session.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._shown: dict[int, _Shown] = {}
        self._reports: dict[int, list[titles.ReportedWindow] | str] = {}
        self._processes: list[Process] | None = None
        self._windows: list[dict[str, Any]] | None = None

    @property
    def user(self) -> str:
        """Login name of the agent's user."""
        return self._sessions.identity.name

    @property
    def home(self) -> str:
        """That user's home folder."""
        return self._sessions.identity.home

    def path(self, path: str) -> str:
        """Return the absolute path; ``~`` and relative paths refer to the user's home folder."""
        if path == "~" or path.startswith("~/"):
            path = path[2:]
        return os.path.normpath(os.path.join(self.home, path))

    def exists(self, path: str) -> bool:
        """Return whether anything exists at a path."""
        return os.path.exists(self.path(path))

    def is_folder(self, path: str) -> bool:
        """Return whether a path refers to a folder."""
        return os.path.isdir(self.path(path))

    def list_folder(self, path: str) -> list[str]:
        """Return the names in a folder, sorted.

        Raises:
            GuestFileMissingError: there is no such folder.
        """
        try:
            return sorted(os.listdir(self.path(path)))
        except (FileNotFoundError, NotADirectoryError) as exc:
            raise GuestFileMissingError(str(exc)) from exc

    def read_bytes(self, path: str, max_bytes: int = MAX_READ_BYTES) -> bytes:
        """Read a regular file; only symbolic links owned by root are followed.

        Raises:
            GuestFileMissingError: there is no such file, or only through a link.
            GuestError: it is not a regular file, larger than `max_bytes`, or unreadable.
        """
        full = self.path(path)
        try:
            with os.fdopen(open_trusted(full), "rb") as file:
                data = file.read(max_bytes + 1)
        except (FileNotFoundError, NotADirectoryError) as exc:
            raise GuestFileMissingError(str(exc)) from exc
        except OSError as exc:
            if exc.errno == errno.ELOOP:
                raise GuestFileMissingError(str(exc)) from exc
            raise GuestError(str(exc)) from exc
        if len(data) > max_bytes:
            raise GuestError(f"{full} is larger than {max_bytes} bytes")
        return data

    def read_text(self, path: str, max_bytes: int = MAX_READ_BYTES) -> str:
        """Read a file as UTF-8 with undecodable bytes replaced; raises like `read_bytes`."""
        return self.read_bytes(path, max_bytes).decode("utf-8", "replace")

    def run_as_user(self, argv: Sequence[str], timeout_s: float = 10.0) -> tuple[int, bytes, bytes]:
        """Run a program as the session's user in a clean environment, and wait for it.

        It has the user's rights, but not the user's primary group.

        Args:
            argv: the program's absolute path and its arguments, without a shell.
            timeout_s: time limit, after which it is killed.

        Returns:
            Exit code, standard output, standard error; the outputs are cut at 1 MiB each.

        Raises:
            GuestError: it could not be started or did not end in time.
        """
        if not argv or not argv[0].startswith("/"):
            raise GuestError("a program must be named by its absolute path")
        try:
            done = run_program(
                argv,
                identity=_shielded(self._sessions.identity),
                env={**self._sessions.clean_environment(), **_settings_environment(argv[0])},
                timeout_s=timeout_s,
                cwd=self.home if os.path.isdir(self.home) else "/",
            )
        except ProbeError as exc:
            raise GuestError(str(exc)) from exc
        return done.exit_code, done.stdout, done.stderr

    def gsettings_get(self, schema: str, key: str) -> str:
        """Read a setting; strings come without quotes, other values as gsettings prints them.

        Raises:
            GuestError: there is no such schema or key.
        """
        code, out, err = self.run_as_user([_GSETTINGS, "get", schema, key])
        if code != 0:
            raise GuestError(err.decode("utf-8", "replace").strip())
        text = out.decode("utf-8", "replace").strip()
        is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
        return text[1:-1] if is_quoted else text

    def processes(self) -> list[Process]:
        """Return the user-space processes (pid, ppid, uid, comm, argv) of all users."""
        if self._processes is None:
            self._processes = proc.list_processes()
        return self._processes

    def windows(self) -> list[dict[str, Any]]:
        """Return the windows of programs: id, wm_class, pid, geometry, active, visible, program.

        The list and the front window come from the X server (`window_tree`). ``program`` is the
        path of the file that the window's process executes, according to server and kernel, empty
        if unknown. Names in ``wm_class`` that are not plausible for that program are empty. ``pid``
        is the window's own property. For titles see `title_of`.

        Raises:
            GuestError: there is no graphical session.
        """
        if self._windows is None:
            self._windows = self._read_windows()
        return self._windows

    def title_of(self, window: dict[str, Any]) -> str:
        """Return the title that a window's own program reports, at most 1000 characters.

        Changes by other programs do not count.

        Args:
            window: one of `windows`.

        Raises:
            GuestError: it is a terminal, whose title is what was printed in it; or its program does
                not report titles, or reports different ones for several windows, or another process
                may have replied.
        """
        if owners.is_terminal(window["program"]):
            raise GuestError("a terminal's title is what was printed in it and proves nothing")
        shown = self._shown[window["id"]]
        reported = self._reported_windows(shown)
        same = {number: peer.title for number, peer in self._shown.items() if peer.pid == shown.pid}
        title = titles.title_of(window["id"], same, reported)
        if title is None:
            raise GuestError("a window shows a different title than its program reports")
        return title

    def may_belong_to(self, window: dict[str, Any], app: str) -> bool:
        """Return whether a window may belong to an application, whatever its ``wm_class`` is.

        Args:
            window: one of `windows`.
            app: an X11 class or instance.
        """
        return owners.may_belong_to(app, str(window.get("program", "")), window["wm_class"])

    def _reported_windows(self, shown: _Shown) -> list[titles.ReportedWindow]:
        """Query a window's process, once per wave."""
        if shown.pid not in self._reports:
            self._reports[shown.pid] = self._ask(shown)
        reported = self._reports[shown.pid]
        if isinstance(reported, str):
            raise GuestError(f"the title of a window is unknown: {reported}")
        return reported

    def _ask(self, shown: _Shown) -> list[titles.ReportedWindow] | str:
        session = self._sessions.find()
        if session is None or not shown.pid:
            return "the owner of the window is unknown"
        try:
            reported = titles.query(session, shown.pid)
        except titles.UnknownTitleError as exc:
            return str(exc)
        is_same = proc.start_ticks(shown.pid) == shown.ticks
        return reported if is_same else "its program ended meanwhile"

    def _read_windows(self) -> list[dict[str, Any]]:
        from Xlib.error import DisplayError

        from provisioning.probe.display import window_tree, xserver

        session = self._sessions.find()
        if session is None:
            raise GuestError("there is no graphical session")
        if "XAUTHORITY" in session.environment:
            os.environ["XAUTHORITY"] = session.environment["XAUTHORITY"]
        try:
            display = xserver.open_display(session.display)
        except (DisplayError, OSError) as exc:
            raise GuestError(str(exc)) from exc
        try:
            owned = owners.Owners(display)
            return [self._checked(owned, row) for row in window_tree.list_windows(display)]
        except window_tree.TooManyWindowsError as exc:
            raise GuestError(str(exc)) from exc
        finally:
            display.close()

    def _checked(self, owned: owners.Owners, row: dict[str, Any]) -> dict[str, Any]:
        """Add a window's program, blank implausible names, and omit the title."""
        owner = owned.of(row["id"])
        if owner is None:
            raise GuestError("the X server cannot report the owners of windows")
        self._shown[row["id"]] = _Shown(owner.pid, proc.start_ticks(owner.pid), row["title"])
        names = [name if owned.is_credible(name, owner) else "" for name in row["wm_class"]]
        fields = {key: value for key, value in row.items() if key != "title"}
        return {**fields, "program": owner.program, "wm_class": names}


def _shielded(identity: Identity) -> Identity:
    """Return the identity with a group that denies access to the user's other processes."""
    return identity if identity.uid == os.getuid() else identity._replace(gid=_SHIELD_GID)


def _settings_environment(program: str) -> dict[str, str]:
    """Return an environment for reading settings without schemas and profiles of user folders."""
    if program not in _READ_SETTINGS:
        return {}
    env = {"XDG_DATA_HOME": "/usr/share", "XDG_DATA_DIRS": "/usr/share"}
    if os.path.exists(_DCONF_PROFILE):
        env["DCONF_PROFILE"] = "user"
    return env
