"""Evaluators of single files of a desktop.

Paths are absolute, or start with ``~/`` for the agent's home folder. Symbolic links are not
followed, neither at the end of a path nor within the path below the home folder: a link to the
right file is not the right file. Elsewhere only the system's own links within a path are followed.
"""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.lookalikes import has_lookalike
from evaluators.desktop.reading import (
    is_absent,
    is_file,
    is_folder,
    link_target,
    look,
    sha256_of,
)

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_PERMISSIONS = 0o7777
_MAX_LINKS = 40
"""Maximum number of links that Linux follows in a path."""


@evaluator(on="desktop")
def file_exists(guest: Guest, path: MachinePath) -> bool:
    """Return whether a regular file exists at the given path.

    A path is unmet where another name looks the same, and differs only in invisible characters.
    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: file_exists, with: {path: ~/Documents/report.odt}}``

    Args:
        guest: the desktop.
        path: path of the file.
    """
    return is_file(guest, path) and not has_lookalike(guest, path)


@evaluator(on="desktop")
def path_absent(guest: Guest, path: MachinePath) -> bool:
    """Return whether nothing exists at the given path: no file, folder or link.

    A path through a link is unmet, regardless of its target, except for the system's own links such
    as ``/bin``. So is one where another name looks the same, and differs only in invisible
    characters.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: path_absent, with: {path: ~/Desktop/old.txt}}``

    Args:
        guest: the desktop.
        path: the path.
    """
    return is_absent(guest, path) and not has_lookalike(guest, path)


@evaluator(on="desktop")
def file_moved(guest: Guest, source: str, target: str, sha256: str) -> bool:
    """Return whether a file was moved, unchanged, from one path to another.

    A copy whose original still exists is unmet, as is a different file with the same name, and
    another name that looks like that of the source or the target.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: file_moved, with: {source: ~/a.txt, target: ~/old/a.txt, sha256:
        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}}``

    Args:
        guest: the desktop.
        source: the old path.
        target: the new path.
        sha256: SHA-256 of its content, 64 hex digits.
    """
    return (
        is_absent(guest, source)
        and sha256_of(guest, target) == sha256.lower()
        and not has_lookalike(guest, source)
        and not has_lookalike(guest, target)
    )


@evaluator(on="desktop")
def file_sha256_equals(guest: Guest, path: MachinePath, sha256: str) -> bool:
    """Return whether a file's content has the given SHA-256.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: file_sha256_equals, with: {path: ~/photo.jpg, sha256:
        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}}``

    Args:
        guest: the desktop.
        path: path of the file.
        sha256: 64 hex digits; case-insensitive. A file larger than 256 MiB is unmet.
    """
    return sha256_of(guest, path) == sha256.lower()


@evaluator(on="desktop")
def file_size_between(guest: Guest, path: MachinePath, least_bytes: int, most_bytes: int) -> bool:
    """Return whether a file's size is within the given limits, inclusive.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: file_size_between, with: {path: ~/out.png, least_bytes: 1000,
        most_bytes: 200000}}``

    Args:
        guest: the desktop.
        path: path of the file.
        least_bytes: minimum size.
        most_bytes: maximum size.
    """
    status = look(guest, path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return False
    return least_bytes <= status.st_size <= most_bytes


@evaluator(on="desktop")
def file_mode_equals(guest: Guest, path: MachinePath, mode: str) -> bool:
    """Return whether a file or folder has exactly the given permissions.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: file_mode_equals, with: {path: ~/run.sh, mode: "755"}}``

    Args:
        guest: the desktop.
        path: path of the file or folder; a link is unmet.
        mode: octal digits as for ``chmod``, such as ``644`` or ``4755``.

    Raises:
        ValueError: `mode` is not octal.
    """
    wanted = int(mode, 8)
    status = look(guest, path)
    if status is None or stat.S_ISLNK(status.st_mode):
        return False
    return status.st_mode & _PERMISSIONS == wanted


@evaluator(on="desktop")
def symlink_leads_to(guest: Guest, path: MachinePath, target: str) -> bool:
    """Return whether a symbolic link leads to the given target, which may be missing.

    It may lead there through further links, at the end of the path or within it. If a link goes up
    (``..``), the folder that it leaves must exist.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: symlink_leads_to, with: {path: ~/latest, target: ~/runs/7}}``

    Args:
        guest: the desktop.
        path: path of the link.
        target: the expected target; a relative link is resolved from its folder.
    """
    link = link_target(guest, path)
    folder = guest.path(path).rpartition("/")[0]
    place = None if link is None else _joined(folder, link)
    for _ in range(_MAX_LINKS):
        if place is None:
            return False
        if _without_dots(guest, place) == guest.path(target):
            return True
        place = _behind_link(guest, place)
    return False


def _joined(folder: str, link: str, *rest: str) -> str:
    """Return the path that a link in a folder and further names lead to."""
    return "/".join(["" if link.startswith("/") else folder, link, *rest])


def _without_dots(guest: Guest, path: str) -> str | None:
    """Return a path without ``..``; None if it leaves a folder that does not exist or is a link."""
    way = ""
    for part in path.split("/"):
        if part == "..":
            if not is_folder(guest, way or "/"):
                return None
            way = way.rpartition("/")[0]
        elif part not in {"", "."}:
            way = f"{way}/{part}"
    return guest.path(way or "/")


def _behind_link(guest: Guest, path: str) -> str | None:
    """Return a path with its first link replaced by the link's target; None if it has no link."""
    way, parts = "", path.split("/")
    for number, part in enumerate(parts):
        if part == "..":
            way = way.rpartition("/")[0]
        elif part not in {"", "."}:
            link = link_target(guest, f"{way}/{part}")
            if link is not None:
                return _joined(way, link, *parts[number + 1 :])
            way = f"{way}/{part}"
    return None
