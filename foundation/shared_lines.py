"""Files to which many processes append lines, even while they are rotated."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def append_line(path: Path, line: bytes, *, mode: int = 0o644) -> int:
    """Append a line to the current file of this name, which another process may rename meanwhile.

    Args:
        path: of the file; created with its folder if missing.
        line: including its line end.
        mode: permission bits of a new file.

    Returns:
        The size of the file afterwards, in bytes.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, mode)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH)
            if _is_at(path, fd):
                os.write(fd, line)
                return os.fstat(fd).st_size
        finally:
            os.close(fd)


def rotate(path: Path, *, max_bytes: int, kept: int) -> bool:
    """Rename a file to ``<name>.1``, and shift the files that were renamed before.

    Args:
        path: of the file.
        max_bytes: a file of at most this size is not rotated: another process already did that.
        kept: number of renamed files to keep.

    Returns:
        Whether the file was renamed.

    Raises:
        OSError: it cannot be renamed.
    """
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        if not _is_at(path, fd) or os.fstat(fd).st_size <= max_bytes:
            return False
        for number in range(kept - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                numbered(path, number).rename(numbered(path, number + 1))
        path.rename(numbered(path, 1))
    finally:
        os.close(fd)
    return True


def numbered(path: Path, number: int) -> Path:
    """Return the name of a renamed file; 1 is the newest."""
    return path.with_name(f"{path.name}.{number}")


def _is_at(path: Path, fd: int) -> bool:
    """Return whether an open file still has this name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(fd))
    except FileNotFoundError:
        return False
