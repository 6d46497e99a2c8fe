"""Names of files that a person cannot tell apart."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.desktop.reading import is_folder, look, names_in
from evaluators.desktop.visible import look_of

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_OTHERS_MAY_WRITE = 0o022


def has_lookalike(guest: Guest, path: str) -> bool:
    """Return whether, next to a path or one of its folders, another name looks the same.

    Folders to which only root can write are not searched. A folder with more than 10 000 entries
    may have such a name.
    """
    full, home = guest.path(path), os.path.normpath(guest.home)
    start = home if os.path.commonpath([home, full]) == home else "/"
    place = start
    for part in os.path.relpath(full, start).split("/"):
        if _is_the_agents(guest, place):
            names = names_in(guest, place)
            if names is None and is_folder(guest, place):
                return True
            if any(name != part and look_of(name) == look_of(part) for name in names or ()):
                return True
        place = f"{place.rstrip('/')}/{part}"
    return False


def _is_the_agents(guest: Guest, folder: str) -> bool:
    """Return whether a folder is one in which others than root may create files."""
    status = look(guest, folder)
    if status is None or not stat.S_ISDIR(status.st_mode):
        return False
    is_roots = status.st_uid == 0 != Path(guest.home).stat().st_uid
    return not is_roots or status.st_mode & _OTHERS_MAY_WRITE != 0
