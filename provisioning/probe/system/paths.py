"""Open paths without following links of the agent.

A link is followed only if root owns it (the agent can neither create nor change such a link). Each
part of the path is opened relative to the previous one, so that nothing exchanged between check and
read changes what is read.
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
        path: absolute path.

    Raises:
        FileNotFoundError, NotADirectoryError: the path does not exist.
        OSError: ELOOP if a link that root does not own is on the path or at its end, EINVAL for a
            pipe, socket or device, or another system error.
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
    """Return a descriptor of the path's target, which is not a link."""
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
                raise OSError(errno.ELOOP, "the path contains a symbolic link", path)
            if target.startswith("/"):
                while len(trail) > 1:
                    os.close(trail.pop())
            left += [name for name in target.split("/") if name not in ("", ".")][::-1]
        return trail.pop()
    finally:
        for handle in trail:
            os.close(handle)
