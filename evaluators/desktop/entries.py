"""Desktop entries: the file of an application's id, and the program that an entry starts.

Source: freedesktop.org's Desktop Entry Specification 1.5.
"""

from __future__ import annotations

import itertools
import operator
import os
import re
import shlex
import stat
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from evaluators.desktop.ini import parse_ini
from evaluators.desktop.reading import link_target, look, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from provisioning.probe.guest import Guest

USER_APPLICATIONS = "~/.local/share/applications"
SYSTEM_APPLICATIONS = (
    "/usr/local/share/applications",
    "/usr/share/applications",
    "/var/lib/snapd/desktop/applications",
    "/var/lib/flatpak/exports/share/applications",
)
_PROGRAM_FOLDERS = (
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/usr/games",
    "/snap/bin",
)
_MULTI_CALL = ("busybox", "coreutils", "snap", "toybox")
_SECTION = "Desktop Entry"
_TRUE = ("true", "1")
_HARMLESS = re.compile(
    r"(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|GTK_THEME|G[DT]K_[A-Z_]*SCALE|BAMF_DESKTOP_FILE_HINT)=.*"
)
"""Variable assignments that do not change the program, its code or its screen."""
_MAX_DASHES = 6
_NUMBER = r"-?\d+"
_STARTERS = {
    "nice": (rf"-n?{_NUMBER}|--adjustment={_NUMBER}", ("-n", "--adjustment")),
    "ionice": (r"-[cn]\d|--class(?:data)?=\w+|-t|--ignore", ("-c", "-n", "--class", "--classdata")),
    "nohup": (r"(?!)", ()),
    "setsid": (r"-[cfw]+|--(?:ctty|fork|wait)", ()),
}
"""Programs that only start another one: pattern of options of one argument, and options with a value."""
_LAUNCHERS = {
    ("gtk-launch",): False,
    ("/usr/bin/gtk-launch",): False,
    ("gio", "launch"): True,
    ("/usr/bin/gio", "launch"): True,
}
"""Commands that launch a desktop file, and whether the next argument is its path instead of its id."""
_SHELLS = ("sh", "bash", "dash")
_SLEEP = re.compile(r"\s*sleep [0-9]{1,3}\s*")
_FOREIGN = re.compile(r"[|<>$`(){}*?!#\n]")
_WRONG_CODE = re.compile(r"%(?![%fFuUdDnNickvm])")
_FILE_CODE = re.compile(r"%[fFuU]")
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
"""White space that GLib ignores, but Python's parser treats as a continuation line."""
_USER_PROGRAMS = ("~/.local/bin", "~/bin")
"""Folders that the desktop's shells search for programs before the system's folders."""
_ENDING = ("--help", "--help-all", "--version", "-h")


class Entry(NamedTuple):
    """The values of a desktop entry.

    Attributes:
        values: values by key, without those of other sections.
    """

    values: Mapping[str, str]

    def text(self, key: str) -> str:
        """Return a value; empty if it is missing."""
        return self.values.get(key, "")

    def items(self, key: str) -> set[str]:
        """Return the items of a list."""
        return {item for item in self.text(key).split(";") if item}

    def is_true(self, key: str, *, default: bool = False) -> bool:
        """Return the value of a boolean key."""
        return self.text(key) in _TRUE if self.text(key) else default

    @property
    def arguments(self) -> list[str]:
        """The command line, without ``env`` and its variables, a shell that waits, ``nice`` and the like."""
        try:
            argv = _behind_env(_behind_shell(_behind_env(shlex.split(self.text("Exec")))))
        except ValueError:
            return []
        return _behind_starter(argv)

    @property
    def program(self) -> str:
        """The first of `arguments`; empty if there are none."""
        return next(iter(self.arguments), "")

    @property
    def launched(self) -> str:
        """The id or absolute path of the desktop file that the command launches; empty if it launches none."""
        argv = self.arguments
        for launcher, takes_path in _LAUNCHERS.items():
            if argv[: len(launcher)] == [*launcher] and len(argv) > len(launcher):
                name = argv[len(launcher)]
                return name if name.startswith("/") == takes_path else ""
        return ""

    @property
    def takes_files(self) -> bool:
        """Return whether the command gets files or URLs to open."""
        return _FILE_CODE.search(self.text("Exec").replace("%%", "")) is not None


def _behind_env(argv: list[str]) -> list[str]:
    """Return the command after ``env``; the unchanged arguments if it sets more than language and appearance."""
    if argv and PurePath(argv[0]).name == "env":
        return [*itertools.dropwhile(_HARMLESS.fullmatch, argv[1:])]
    return argv


def _behind_shell(argv: list[str]) -> list[str]:
    """Return the command that a shell runs after waits of less than 1000 s; the unchanged arguments if it does more."""
    if len(argv) != 3 or PurePath(argv[0]).name not in _SHELLS or argv[1] != "-c":  # noqa: PLR2004
        return argv
    *waits, last = re.split(r";|&&", argv[2].strip().removesuffix("&"))
    if _FOREIGN.search(last) or not all(map(_SLEEP.fullmatch, waits)):
        return argv
    return shlex.split(last.strip().removeprefix("exec "))


def _behind_starter(argv: list[str]) -> list[str]:
    """Return the command that a starter program runs; the unchanged arguments if there is none."""
    name = PurePath(argv[0]).name if argv else ""
    if name not in _STARTERS or argv[0] not in {name, f"/usr/bin/{name}", f"/bin/{name}"}:
        return argv
    option, pairs = _STARTERS[name]
    rest = argv[1:]
    while rest and (rest[0] in pairs or re.fullmatch(option, rest[0])):
        rest = rest[2 if rest[0] in pairs else 1 :]
    return rest if rest and not rest[0].startswith("-") else argv


def can_start(guest: Guest, entry: Entry) -> bool:
    """Return whether nothing in an entry prevents its program from starting and continuing to run.

    Its folder (``Path``) and required program (``TryExec``) exist, its command has only known field
    codes, and no option with which programs print something and exit.
    """
    folder, needed = entry.text("Path"), entry.text("TryExec")
    is_there = not folder or (folder.startswith("/") and os.path.isdir(guest.path(folder)))  # noqa: PTH112
    return (
        is_there
        and (not needed or find_program(guest, needed) != "")
        and _WRONG_CODE.search(entry.text("Exec").replace("%%", "")) is None
        and not any(word in _ENDING for word in entry.arguments[1:])
    )


def read_entry(guest: Guest, path: str) -> Entry | None:
    """Read an application's desktop entry, or the system's entry that a link leads to.

    Returns:
        The entry; None if there is none, or it is not an application's.
    """
    folder, target = guest.path(path).rpartition("/")[0], link_target(guest, path)
    if target is not None:
        target = guest.path(target if target.startswith("/") else f"{folder}/{target}")
        is_system = target.rpartition("/")[0] in {
            guest.path(system_application) for system_application in SYSTEM_APPLICATIONS
        }
        path = target if is_system else path
    status = look(guest, path)
    if status is None or not _may_read(guest, status):
        return None
    parser = parse_ini(_INDENT.sub("", read_text(guest, path) or ""))
    is_first = parser.sections()[:1] == [_SECTION]
    entry = Entry(dict(parser.items(_SECTION)) if is_first else {})
    return entry if entry.text("Type") == "Application" else None


def _may_read(guest: Guest, status: os.stat_result) -> bool:
    """Return whether the user's session may read a file."""
    own = os.stat(guest.home).st_uid  # noqa: PTH116
    return bool(status.st_mode & (stat.S_IRUSR if status.st_uid == own else stat.S_IROTH))


def system_entry(guest: Guest, app: str) -> Entry | None:
    """Return the system's entry of an id, such as ``org.gnome.gedit.desktop``; None if there is none."""
    for folder, place in itertools.product(SYSTEM_APPLICATIONS, _places(app)):
        entry = read_entry(guest, f"{folder}/{place}")
        if entry is not None:
            return entry
    return None


def user_entries(guest: Guest, app: str) -> list[Entry | None]:
    """Return the entries of an id in the user's folder; None for those that are not an application's."""
    paths = [f"{USER_APPLICATIONS}/{place}" for place in _places(app)]
    return [read_entry(guest, path) for path in paths if look(guest, path) is not None]


def find_program(guest: Guest, name: str) -> str:
    """Return the path of the file of a program's name or path; empty if there is none.

    A link to a multi-call binary is not followed.
    """
    is_path = "/" in name
    if is_path and not name.startswith("/"):
        return ""
    for place in (
        (name,)
        if is_path
        else (f"{folder}/{name}" for folder in (*_USER_PROGRAMS, *_PROGRAM_FOLDERS))
    ):
        path = Path(guest.path(place))
        real = path.resolve()
        if real.is_file() and os.access(real, os.X_OK):
            return str(path.parent.resolve() / path.name if real.name in _MULTI_CALL else real)
    return ""


def is_same_program(guest: Guest, name: str, other: str) -> bool:
    """Return whether two names or paths lead to the same program."""
    return bool(name) and (
        name == other or find_program(guest, name) == find_program(guest, other) != ""
    )


def _places(app: str) -> Iterator[str]:
    """Iterate over the possible relative paths of an id; each dash may represent a slash."""
    first, *parts = app.split("-")
    marks = itertools.product("-/", repeat=len(parts)) if len(parts) <= _MAX_DASHES else ()
    for choice in marks:
        yield first + "".join(map(operator.add, choice, parts))
