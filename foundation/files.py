"""Write files atomically, lock them and compute digests."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import MachineBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK_BYTES = 1 << 20
# struct flock of 64-bit Linux: l_type, l_whence, l_start, l_len, l_pid (0 for these locks).
_FLOCK = struct.Struct("@hhqqi4x")


def write_atomic(
    path: Path, data: bytes | str, *, mode: int = 0o644, is_durable: bool = True
) -> None:
    """Replace the content of `path` atomically: a crash leaves the old or the new content.

    Args:
        path: of the file.
        data: its new content.
        mode: permission bits.
        is_durable: False skips the sync to the disk, for data that is worthless after a crash of
            the host; a killed process still leaves the old or the new content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = data.encode() if isinstance(data, str) else data
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as out:
            out.write(raw)
            out.flush()
            if is_durable:
                os.fsync(out.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def canonical_json(value: object) -> str:
    """Return the canonical JSON text of a value: sorted keys, no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_json(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    return digest_bytes(canonical_json(value).encode())


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file's content, read in pieces of 1 MiB."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            sha.update(chunk)
    return sha.hexdigest()


def digest_tree(root: Path, *, skip: tuple[str, ...] = ("__pycache__",)) -> str:
    """Return one digest over names, modes and contents of all files below `root`.

    Args:
        root: a folder, or a single file.
        skip: names of folders and files to ignore.
    """
    if root.is_file():
        return digest_file(root)
    rows = [
        [str(path.relative_to(root)), path.stat().st_mode & 0o111, digest_file(path)]
        for path in sorted(root.rglob("*"))
        if path.is_file() and not any(part in skip for part in path.relative_to(root).parts)
    ]
    return digest_json(rows)


class FileLock:
    """A lock that the kernel releases when its holder dies, for any reason.

    `is_taken` queries the kernel without taking the lock, so it never blocks those who want it.

    Source: fcntl(2), "Open file description locks".

    Args:
        path: the lock file; it is created, and remains after the lock is released.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def try_acquire(self, *, make_folder: bool = True) -> bool:
        """Take the lock if it is free; return whether it was taken.

        Args:
            make_folder: False takes no lock if its folder does not exist.

        Raises:
            OSError: the file cannot be created.
        """
        if make_folder:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            return False
        try:
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_WRLCK))
            if not os.path.samestat(os.fstat(fd), self.path.stat()):
                raise BlockingIOError
        except OSError:
            os.close(fd)
            return False
        self._keep(fd)
        return True

    def acquire(self) -> None:
        """Wait for the lock and take it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.fcntl(fd, fcntl.F_OFD_SETLKW, _whole_file(fcntl.F_WRLCK))
        self._keep(fd)

    def release(self) -> None:
        """Release the lock; does nothing if it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._fd is not None

    def is_taken(self) -> bool:
        """Return whether anybody holds the lock, including this object, without taking it."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            reply = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _whole_file(fcntl.F_RDLCK))
        finally:
            os.close(fd)
        lock_type: int = _FLOCK.unpack(reply)[0]
        return lock_type != fcntl.F_UNLCK

    def _keep(self, fd: int) -> None:
        """Keep the lock, and write this process's id to its file for people, if the disk allows."""
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.write(fd, f"{os.getpid()}\n".encode())
        self._fd = fd


def _whole_file(lock_type: int) -> bytes:
    return _FLOCK.pack(lock_type, os.SEEK_SET, 0, 0, 0)


@contextlib.contextmanager
def locked(path: Path, *, what: str) -> Iterator[FileLock]:
    """Hold a lock during a block.

    Args:
        path: the lock file.
        what: the locked thing, for the error message.

    Raises:
        MachineBusyError: another process holds it.
    """
    lock = FileLock(path)
    if not lock.try_acquire():
        raise MachineBusyError(
            f"{what} is in use by another process.",
            details=f"{path} is locked.",
            resolution="Wait for it to end, or stop it.",
        )
    try:
        yield lock
    finally:
        lock.release()
