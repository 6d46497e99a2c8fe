"""Open what stands at a path without being led away by links of the agent's.

A link is followed when it is root's (the agent can neither make nor change such a one) and never
otherwise. Each part of the way is opened from the one before it, so nothing that is exchanged
between look and read changes what is read.
"""

from __future__ import annotations

import errno
import os
import stat

_MAX_LINKS = 20
_HANDLE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_trusted(path: str) -> int:
    """Open a regular file or folder for reading.

    Args:
        path: absolute.

    Raises:
        FileNotFoundError, NotADirectoryError: it is not there.
        OSError: ELOOP where a link of somebody else's than root's is on the way or at its end,
            EINVAL for a pipe, socket or device, or as the system says.
    """
    handle = _walk(path)
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise OSError(errno.EINVAL, "neither a regular file nor a folder", path)
        return os.open(f"/proc/self/fd/{handle}", _READ)
    finally:
        os.close(handle)


def _walk(path: str) -> int:
    """Return a handle of what the path leads to; it is no link."""
    left = [part for part in path.split("/") if part not in ("", ".")][::-1]
    trail = [os.open("/", _HANDLE | os.O_DIRECTORY)]
    links = 0
    try:
        while left:
            part = left.pop()
            if part == "..":
                if len(trail) > 1:
                    os.close(trail.pop())
                continue
            handle = os.open(part, _HANDLE, dir_fd=trail[-1])
            status = os.fstat(handle)
            if not stat.S_ISLNK(status.st_mode):
                trail.append(handle)
                continue
            target = os.readlink("", dir_fd=handle)
            os.close(handle)
            links += 1
            if status.st_uid != 0 or links > _MAX_LINKS:
                raise OSError(errno.ELOOP, "a symbolic link is on the way", path)
            if target.startswith("/"):
                while len(trail) > 1:
                    os.close(trail.pop())
            left += [name for name in target.split("/") if name not in ("", ".")][::-1]
        return trail.pop()
    finally:
        for handle in trail:
            os.close(handle)
