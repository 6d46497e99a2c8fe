"""Read files of a desktop safely: without following links, with limits, without blocking.

Below the agent's home folder no symbolic links are followed, neither at the end of a path nor
within it; elsewhere only links of root within the path are followed. Each folder in a path is
opened relative to its parent, so that a link created between two accesses has no effect. All reads
have limits.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import re
import stat
import tempfile
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.guest import Guest

MAX_BYTES = 1 << 20
"""Maximum size of a text file."""

MAX_HASHED_BYTES = 1 << 28
"""Maximum size of a file, or of all files of a tree together, for comparison by digest."""

MAX_ENTRIES = 10_000
"""Maximum number of entries of a folder, or of a tree."""

MAX_LEVELS = 100
"""Maximum depth of a tree; paths of Linux programs are not as deep."""

_HANDLE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_LINKS = 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO}


def look(guest: Guest, path: str) -> os.stat_result | None:
    """Return the status of a path without following links; None if nothing exists there.

    Raises:
        OSError: the status cannot be read.
    """
    with _Absence(), _parent(guest, path) as (folder, name):
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    return None


def is_absent(guest: Guest, path: str) -> bool:
    """Return whether nothing exists at a path, and the path has no link that `look` does not follow.

    Such a link might lead to an existing file.

    Raises:
        OSError: the status cannot be read.
    """
    if look(guest, path) is not None:
        return False
    last, place = None, ""
    for slash in re.finditer(r"(?<=[^/])/", path):  # from the top, because few folders may exist
        end = slash.start()
        status = look(guest, path[:end])
        if status is None:
            break
        last, place = status, path[:end]
    if last is None or not stat.S_ISLNK(last.st_mode):
        return True
    return _is_followed(last) and not _is_at_home(guest, place)


def is_file(guest: Guest, path: str) -> bool:
    """Return whether a regular file exists at a path."""
    status = look(guest, path)
    return status is not None and stat.S_ISREG(status.st_mode)


def is_folder(guest: Guest, path: str) -> bool:
    """Return whether a folder exists at a path."""
    status = look(guest, path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def link_target(guest: Guest, path: str) -> str | None:
    """Return the target text of a symbolic link; None for anything else."""
    status = look(guest, path)
    if status is None or not stat.S_ISLNK(status.st_mode):
        return None
    with _Absence(), _parent(guest, path) as (folder, name):
        return os.readlink(name, dir_fd=folder)
    return None


@contextlib.contextmanager
def opened(guest: Guest, path: str) -> Iterator[BinaryIO | None]:
    """Open a regular file; None if it does not exist, or is a pipe, device or link.

    Raises:
        OSError: the file cannot be opened.
    """
    fd = -1
    with _Absence(), _parent(guest, path) as (folder, name):
        fd = os.open(name, _FILE, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            fd = -1
    if fd < 0:
        yield None
        return
    with os.fdopen(fd, "rb") as file:
        yield file


def read_bytes(guest: Guest, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
    """Return a file's content; None if it is not a regular file, or is larger than `max_bytes`.

    Raises:
        OSError: it cannot be read.
    """
    with opened(guest, path) as file:
        data = None if file is None else file.read(max_bytes + 1)
    return data if data is not None and len(data) <= max_bytes else None


def read_text(guest: Guest, path: str, max_bytes: int = MAX_BYTES) -> str | None:
    """Return a file's text; None for the reasons of `read_bytes`, or if it is not UTF-8."""
    data = read_bytes(guest, path, max_bytes)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def read_plain_text(guest: Guest, path: str, max_bytes: int = MAX_BYTES) -> str | None:
    """Return a file's text like `read_text`, without byte order mark and with CRLF replaced by newlines.

    For users' files, whose editors write either; the system's own programs accept neither.
    """
    text = read_text(guest, path, max_bytes)
    return None if text is None else text.removeprefix("\ufeff").replace("\r\n", "\n")


def lines_of(guest: Guest, path: str, max_bytes: int = MAX_BYTES) -> list[str]:
    """Return the lines of a file read by `read_text`; an empty list if it returns None.

    Only a newline ends a line, as for the system's own programs: Python's `str.splitlines` also
    treats characters as line ends that other programs treat as part of a comment.
    """
    text = read_text(guest, path, max_bytes)
    return text.removesuffix("\n").split("\n") if text else []


def words_of(line: str) -> list[str]:
    """Return the words of a line, separated only by ASCII white space, like the C library."""
    return [word.decode() for word in line.encode().split()]


def sha256_of(guest: Guest, path: str) -> str | None:
    """Return the SHA-256 of a file, 64 hex digits; None if it is missing or larger than 256 MiB."""
    with opened(guest, path) as file:
        digest_and_size = None if file is None else _digest(file, MAX_HASHED_BYTES)
    return None if digest_and_size is None else digest_and_size[0]


def names_in(guest: Guest, path: str) -> list[str] | None:
    """Return the names in a folder, sorted; None if it is missing or has more than 10 000 entries."""
    with _Absence(), _folder(guest, path) as folder, os.scandir(folder) as entries:
        names = sorted(entry.name for entry in itertools.islice(entries, MAX_ENTRIES + 1))
        return names if len(names) <= MAX_ENTRIES else None
    return None


def tree_of(guest: Guest, path: str) -> dict[str, str] | None:
    """Return everything below a folder, by relative path.

    Values are the SHA-256 of a file, ``folder``, ``link TARGET``, or ``other``. The result is None
    if the folder is missing, or has more than 10 000 entries, 256 MiB or 100 levels of folders.

    Raises:
        OSError: something in it cannot be read.
    """
    with _Absence(), _folder(guest, path) as top:
        tree: dict[str, str] = {}
        left = MAX_HASHED_BYTES
        for fd, name, below in _entries(top, ""):
            what, size = _describe(fd, name, left)
            tree[below] = what
            left -= size
            if left < 0 or len(tree) > MAX_ENTRIES or below.count("/") >= MAX_LEVELS:
                return None
        return tree
    return None


def _entries(folder: int, above: str) -> Iterator[tuple[int, str, str]]:
    """Iterate over the folder, name and relative path of all entries; folders precede their content.

    Each level uses a file descriptor and a stack frame, so the caller must limit the depth.
    """
    with os.scandir(folder) as rows:
        some = itertools.islice(rows, MAX_ENTRIES + 1)
        entries = sorted((row.name, row.is_dir(follow_symlinks=False)) for row in some)
    for name, is_dir in entries:
        yield folder, name, above + name
        if not is_dir:
            continue
        fd = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        try:
            yield from _entries(fd, f"{above}{name}/")
        finally:
            os.close(fd)


def _describe(folder: int, name: str, max_bytes: int) -> tuple[str, int]:
    """Return the description of an entry, and the number of bytes read; if above `max_bytes`, it is too large."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return f"link {os.readlink(name, dir_fd=folder)}", 0
    if stat.S_ISDIR(mode):
        return "folder", 0
    if not stat.S_ISREG(mode):
        return f"other {stat.S_IFMT(mode):o}", 0
    with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as file:
        return _digest(file, max_bytes) or ("", max_bytes + 1)


def _digest(file: BinaryIO, max_bytes: int) -> tuple[str, int] | None:
    if os.fstat(file.fileno()).st_size > max_bytes:
        return None
    sha, size = hashlib.sha256(), 0
    while chunk := file.read(MAX_BYTES):
        sha.update(chunk)
        size += len(chunk)
        if size > max_bytes:
            return None
    return sha.hexdigest(), size


def private_folder() -> tempfile.TemporaryDirectory[str]:
    """Create a folder for copies that the agent cannot write to and whose disk it cannot fill.

    As root, it is in ``/run``, which belongs to root and is in memory; otherwise in the default
    location.
    """
    own = "/run" if os.getuid() == 0 and os.access("/run", os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="mesocosm-", dir=own)


class _Absence:
    """Context that suppresses errors of paths that do not exist or have the wrong kind of file."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, exc: object, trace: object) -> bool:
        return isinstance(exc, OSError) and exc.errno in _NOT_THERE


@contextlib.contextmanager
def _folder(guest: Guest, path: str) -> Iterator[int]:
    with _parent(guest, path) as (above, name):
        fd = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
    try:
        yield fd
    finally:
        os.close(fd)


def _open_outside(path: str) -> int:
    """Open a folder outside the home folder, following only links of the system.

    Raises:
        OSError: the path contains a link of another user (ELOOP), or cannot be opened.
    """
    left, links = _parts(path), 0
    fd = os.open("/", _HANDLE)
    try:
        while left:
            part = left.pop()
            below = os.open(part, _HANDLE, dir_fd=fd)
            status = os.fstat(below)
            if not stat.S_ISLNK(status.st_mode):
                os.close(fd)
                fd = below
                continue
            target = os.readlink("", dir_fd=below)
            os.close(below)
            links += 1
            if not _is_followed(status) or links > _MAX_LINKS:
                raise OSError(errno.ELOOP, "the path contains a symbolic link", path)
            if target.startswith("/"):
                os.close(fd)
                fd = os.open("/", _HANDLE)
            left += _parts(target)
        return os.open(f"/proc/self/fd/{fd}", _FOLDER)
    finally:
        os.close(fd)


def _is_followed(link: os.stat_result) -> bool:
    """Return whether a link outside the home folder belongs to the system."""
    return link.st_uid in {0, os.geteuid()}


def _is_at_home(guest: Guest, path: str) -> bool:
    home = os.path.normpath(guest.home)
    return os.path.commonpath([home, guest.path(path)]) == home


def _parts(path: str) -> list[str]:
    """Return the names in a path, the last one first."""
    return [part for part in path.split("/") if part not in {"", "."}][::-1]


@contextlib.contextmanager
def _parent(guest: Guest, path: str) -> Iterator[tuple[int, str]]:
    """Open the parent folder of an entry and yield the folder and the entry's name."""
    full = guest.path(path)
    home = os.path.normpath(guest.home)
    is_at_home = _is_at_home(guest, path)
    start = home if is_at_home else full.rpartition("/")[0] or "/"
    *above, name = os.path.relpath(full, start).split("/")
    fd = os.open(start, _FOLDER) if is_at_home else _open_outside(start)
    try:
        for folder in above:
            below = os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd, name
    finally:
        os.close(fd)
