"""What stands in a desktop's file system.

Paths are absolute, or start with ``~/`` for the agent's home folder. Symbolic links do not count,
neither at the end of a path nor below the home folder on the way: a link to the right thing is
not the right thing.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_MAX_BYTES = 1 << 20


@evaluator(on="desktop")
def file_exists(guest: Guest, path: str) -> bool:
    """Tell whether a regular file stands at this path; it may be empty.

    Args:
        guest: the desktop.
        path: of the file.
    """
    found = _look(guest, path)
    return found is not None and stat.S_ISREG(found.st_mode)


@evaluator(on="desktop")
def directory_exists(guest: Guest, path: str) -> bool:
    """Tell whether a folder stands at this path; it may be empty.

    Args:
        guest: the desktop.
        path: of the folder.
    """
    found = _look(guest, path)
    return found is not None and stat.S_ISDIR(found.st_mode)


@evaluator(on="desktop")
def directory_lists(guest: Guest, path: str, names: list[str]) -> bool:
    """Tell whether a folder holds exactly these entries, no fewer and no more.

    Entries whose name begins with a dot do not count. A folder that is missing is unmet.

    Args:
        guest: the desktop.
        path: of the folder.
        names: of files and folders in it, in any order; none for an empty folder.
    """
    if not directory_exists(guest, path):
        return False
    seen = [name for name in guest.list_folder(path) if not name.startswith(".")]
    return sorted(seen) == sorted(names)


@evaluator(on="desktop")
def path_absent(guest: Guest, path: str) -> bool:
    """Tell whether nothing stands at this path: no file, no folder, not even a dangling link.

    Args:
        guest: the desktop.
        path: where nothing should be.
    """
    return not os.path.lexists(guest.path(path))


@evaluator(on="desktop")
def file_text_equals(guest: Guest, path: str, text: str) -> bool:
    """Tell whether a file holds exactly this text, in UTF-8.

    One newline at the end, as editors add it, does not count; nothing else is forgiven. A file
    that is missing, no regular file, not UTF-8 or larger than 1 MiB is unmet.

    Args:
        guest: the desktop.
        path: of the file.
        text: the whole content.
    """
    content = _read(guest, path)
    return content is not None and _without_newline(content) == _without_newline(text)


@evaluator(on="desktop")
def file_has_line(guest: Guest, path: str, line: str) -> bool:
    """Tell whether one line of a file is exactly this, beside any others.

    White space at the ends of lines does not count. A file that is missing, no regular file, not
    UTF-8 or larger than 1 MiB is unmet.

    Args:
        guest: the desktop.
        path: of the file.
        line: the whole line.
    """
    content = _read(guest, path)
    return content is not None and line.strip() in {each.strip() for each in content.split("\n")}


def _look(guest: Guest, path: str) -> os.stat_result | None:
    """Give what stands at a path, not following links; None when nothing or only a link leads."""
    full = guest.path(path)
    home = os.path.normpath(guest.home)
    if os.path.commonpath([home, full]) == home:
        straight = Path(os.path.realpath(home)) / os.path.relpath(full, home)
        if os.path.realpath(full) != str(straight):
            return None
    try:
        return Path(full).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _read(guest: Guest, path: str) -> str | None:
    """Give a file's text; None for what cannot hold a text that a task asks for."""
    found = _look(guest, path)
    if found is None or not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
        return None
    try:
        return guest.read_bytes(path, _MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _without_newline(text: str) -> str:
    return text.removesuffix("\n")
