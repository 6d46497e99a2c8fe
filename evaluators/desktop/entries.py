"""Desktop entries: which file an application's id names, and which program an entry starts.

Source: freedesktop.org's Desktop Entry Specification 1.5.
"""

from __future__ import annotations

import itertools
import os
import shlex
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
_MAX_DASHES = 6


class Entry(NamedTuple):
    """The values of a desktop entry.

    Attributes:
        values: by key, without those of other sections.
    """

    values: Mapping[str, str]

    def text(self, key: str) -> str:
        """Return a value; empty when it is missing."""
        return self.values.get(key, "").strip()

    def items(self, key: str) -> set[str]:
        """Return the items of a list."""
        return {item for item in self.text(key).split(";") if item}

    def is_true(self, key: str, *, default: bool = False) -> bool:
        """Return the value of a switch."""
        return self.text(key) in _TRUE if self.text(key) else default

    @property
    def program(self) -> str:
        """The first word of the command, behind ``env`` and its variables; empty without one."""
        try:
            words = shlex.split(self.text("Exec"))
        except ValueError:
            return ""
        if words and PurePath(words[0]).name == "env":
            words = [*itertools.dropwhile(lambda word: "=" in word, words[1:])]
        return words[0] if words else ""


def read_entry(guest: Guest, path: str) -> Entry | None:
    """Read a desktop entry of an application, or one of the system's that a link leads to.

    Returns:
        None when there is none, or one that is not an application's.
    """
    folder, target = guest.path(path).rpartition("/")[0], link_target(guest, path)
    if target is not None:
        target = guest.path(target if target.startswith("/") else f"{folder}/{target}")
        is_system = target.rpartition("/")[0] in {guest.path(each) for each in SYSTEM_APPLICATIONS}
        path = target if is_system else path
    parser = parse_ini(read_text(guest, path))
    entry = Entry(dict(parser.items(_SECTION)) if parser.has_section(_SECTION) else {})
    return entry if entry.text("Type") == "Application" else None


def system_entry(guest: Guest, app: str) -> Entry | None:
    """Return the system's entry of an id, such as ``org.gnome.gedit.desktop``; None without one."""
    for folder, place in itertools.product(SYSTEM_APPLICATIONS, _places(app)):
        entry = read_entry(guest, f"{folder}/{place}")
        if entry is not None:
            return entry
    return None


def user_entries(guest: Guest, app: str) -> list[Entry | None]:
    """Return what the user's folder holds for an id; None for what is not an application's."""
    paths = [f"{USER_APPLICATIONS}/{place}" for place in _places(app)]
    return [read_entry(guest, path) for path in paths if look(guest, path) is not None]


def find_program(guest: Guest, name: str) -> str:
    """Return the path of the file that a program's name or path leads to; empty without one.

    A link to a file that is many programs is not followed.
    """
    if "/" in name and not name.startswith("/"):
        return ""
    for folder in ("",) if "/" in name else _PROGRAM_FOLDERS:
        path = Path(guest.path(f"{folder}/{name.lstrip('/')}"))
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
    """Iterate over the relative paths of an id: each dash may stand for a slash."""
    parts = app.split("-")
    marks = itertools.product("-/", repeat=len(parts) - 1) if len(parts) <= _MAX_DASHES + 1 else ()
    for choice in marks:
        yield "".join(itertools.chain(*itertools.zip_longest(parts, choice, fillvalue="")))
