"""Transfer files of the guest in pieces; readers see either the old or the complete new file."""

from __future__ import annotations

import contextlib
import os
import re
import stat as stat_bits
from typing import TYPE_CHECKING, Any

from provisioning.probe.errors import ProbeError
from provisioning.probe.serving.framing import CHUNK_BYTES
from provisioning.probe.serving.params import to_base64
from provisioning.probe.system.identity import Identity

if TYPE_CHECKING:
    from provisioning.probe.serving.params import Params

_TOKEN = re.compile(r"[0-9A-Za-z]{1,32}\Z")


def put(params: Params) -> None:
    """Store one piece of a file; the last piece moves the file into place.

    Pieces arrive in order with the same ``token``. Missing folders are created. They and the file
    belong to ``user``, or else to the owner of the nearest existing folder.
    """
    path, data = _path(params), params.data("data_b64")
    offset, total = params.whole("offset", 0), params.whole("total", len(data))
    token = params.text("token", "0")
    if not _TOKEN.match(token) or offset < 0 or offset + len(data) > total:
        raise ProbeError("bad_params", "invalid token, offset or total")
    folder, name = os.path.split(path)
    part = ""
    try:
        owner = _owner(folder, params)
        if offset == 0:
            _make_folders(folder, owner)
        part = os.path.join(_part_folder(folder), f".{name[:200]}.{token}.part")
        if offset == 0:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
        _append(part, data, offset)
        if offset + len(data) == total:
            os.chown(part, *owner)
            os.chmod(part, params.whole("mode", 0o644) & 0o7777)
            os.replace(part, path)
    except OSError as exc:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise _failure(exc) from exc


def _part_folder(folder: str) -> str:
    """Return where an unfinished file is kept: above its folder, if that is one file system.

    A desktop shows no icon of a file that is created in its folder and renamed at once.
    """
    above = os.path.dirname(folder)
    is_one = os.stat(above).st_dev == os.stat(folder).st_dev
    return above if is_one and os.access(above, os.W_OK) else folder


def get(params: Params) -> dict[str, Any]:
    """Return one piece of a regular file: ``data_b64``, ``eof`` and the file's ``size``.

    With ``straight`` a path with a symbolic link is refused as ``not_straight``.
    """
    offset = params.whole("offset", 0)
    length = min(params.whole("length", CHUNK_BYTES), CHUNK_BYTES)
    is_straight = params.values.get("straight") is True
    try:
        fd = (open_no_follow if is_straight else open_regular)(_path(params))
        try:
            size = os.fstat(fd).st_size
            data = os.pread(fd, length, offset)
        finally:
            os.close(fd)
    except OSError as exc:
        raise _failure(exc) from exc
    return {"data_b64": to_base64(data), "eof": offset + len(data) >= size, "size": size}


def stat(params: Params) -> dict[str, Any]:
    """Return the status of a path: ``exists``, ``size``, ``mode``, ``mtime``."""
    try:
        status = os.stat(_path(params))
    except (FileNotFoundError, NotADirectoryError):
        return {"exists": False, "size": 0, "mode": 0, "mtime": 0.0}
    except OSError as exc:
        raise _failure(exc) from exc
    return {
        "exists": True,
        "size": status.st_size,
        "mode": status.st_mode,
        "mtime": status.st_mtime,
    }


def open_regular(path: str) -> int:
    """Open a regular file for reading; refuse a pipe or device without waiting for it.

    Raises:
        OSError: the system call failed.
        ProbeError: ``failed`` if it is not a regular file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat_bits.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ProbeError("failed", f"{path} is not a regular file")
    return fd


def open_no_follow(path: str) -> int:
    """Open a regular file for reading without following any symbolic link on its path.

    Each folder is opened relative to the previous one, so that nothing can be swapped in between.

    Args:
        path: absolute and normalized.

    Raises:
        OSError: the system call failed.
        ProbeError: ``not_straight`` if the path has a link or does not end at a regular file.
    """
    parts = [part for part in path.split("/") if part]
    fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for number, part in enumerate(parts, 1):
        is_last = number == len(parts)
        kind = os.O_NONBLOCK | os.O_NOCTTY if is_last else os.O_DIRECTORY
        try:
            below = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=fd)
        except OSError as exc:
            if _is_link(part, fd):
                raise ProbeError("not_straight", f"{path} contains a symbolic link") from exc
            raise
        finally:
            os.close(fd)
        fd = below
    if not stat_bits.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ProbeError("not_straight", f"{path} is not a regular file")
    return fd


def _is_link(name: str, folder_fd: int) -> bool:
    try:
        status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except OSError:
        return False
    return stat_bits.S_ISLNK(status.st_mode)


def _path(params: Params) -> str:
    path = params.text("path")
    if not path.startswith("/") or "\0" in path:
        raise ProbeError("bad_params", f"{path!r} is not an absolute path")
    return os.path.normpath(path)


def _owner(folder: str, params: Params) -> tuple[int, int]:
    if params.has("user"):
        try:
            identity = Identity.of(params.text("user"))
        except KeyError as exc:
            raise ProbeError("bad_params", f"there is no user {params.text('user')!r}") from exc
        return identity.uid, identity.gid
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    status = os.stat(folder)
    return status.st_uid, status.st_gid


def _make_folders(folder: str, owner: tuple[int, int]) -> None:
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        os.mkdir(path, 0o755)
        os.chown(path, *owner)


def _append(part: str, data: bytes, offset: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(part, flags | (os.O_EXCL if offset == 0 else 0), 0o600)
    try:
        if os.fstat(fd).st_size != offset:
            raise ProbeError("bad_params", f"the piece at {offset} is out of order")
        view = memoryview(data)
        while view:
            view = view[os.pwrite(fd, view, offset + len(data) - len(view)) :]
    finally:
        os.close(fd)


def _failure(exc: OSError) -> ProbeError:
    is_missing = isinstance(exc, (FileNotFoundError, NotADirectoryError))
    return ProbeError("not_found" if is_missing else "failed", str(exc))
