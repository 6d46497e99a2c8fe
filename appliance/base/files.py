"""Write files so that a crash leaves the old or the new one, never half; lock; digest."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
from appliance.base.errors import MachineBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK_BYTES = 1 << 20
_ASKED_S = 0.3


def write_atomic(
    path: Path, data: bytes | str, *, mode: int = 0o644, is_durable: bool = True
) -> None:
    """Replace `path` by `data`: after a crash the old or the new content stands, never a mix.

    Args:
        path: of the file.
        data: its new content.
        mode: permission bits.
        is_durable: False saves the sync to the disk, for what is worthless once the host crashed;
            a killed process still leaves the old or the new content.
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
    """Return the one JSON text of a value: sorted keys, no spaces, ASCII only."""
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
        skip: names of folders and files that do not count.
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
    """A lock that the kernel gives back when its holder dies, however it dies.

    Args:
        path: the lock file; it is made, and stays when the lock is let go.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def try_acquire(self, *, make_folder: bool = True) -> bool:
        """Take the lock if nobody has it; True when taken.

        Args:
            make_folder: False takes no lock where its folder is gone.
        """
        if make_folder:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(fd), self.path.stat()):
                raise BlockingIOError
        except OSError:
            os.close(fd)
            return False
        os.ftruncate(fd, 0)
        os.write(fd, f"{os.getpid()}\n".encode())
        self._fd = fd
        return True

    def acquire(self) -> None:
        """Take the lock or wait for it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(fd, fcntl.LOCK_EX)
        self._fd = fd

    def release(self) -> None:
        """Let the lock go; harmless when not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._fd is not None


@contextlib.contextmanager
def locked(path: Path, *, what: str) -> Iterator[FileLock]:
    """Hold a lock for a block.

    Who only asks whether it is held takes it for an instant, so it is tried for a moment.

    Args:
        path: the lock file.
        what: named in the error.

    Raises:
        MachineBusyError: another process holds it.
    """
    lock = FileLock(path)
    if not wait_until(lock.try_acquire, timeout_s=_ASKED_S, every_s=0.01):
        raise MachineBusyError(
            f"{what} is in use by another process.",
            details=f"{path} is locked.",
            resolution="Wait for it to end, or stop it.",
        )
    try:
        yield lock
    finally:
        lock.release()
