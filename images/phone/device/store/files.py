"""Save and restore the phone's files.

A snapshot's files are stored with their content in a separate SQLite file. Restoring writes only
what has changed since: a file with the same inode number, change time and size as when it was last
verified is unchanged, because only the kernel sets the change time.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TABLE = """
CREATE TABLE file (
    path BLOB PRIMARY KEY, mode INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, content BLOB,
    inode INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL
)
"""
_MAX_FILE_BYTES = 512 << 20


class _Mark(NamedTuple):
    """Identifies an unchanged file: only the kernel sets the change time."""

    inode: int
    ctime_ns: int
    size: int

    @classmethod
    def of(cls, info: os.stat_result) -> _Mark:
        return cls(info.st_ino, info.st_ctime_ns, info.st_size)


def save_files(root: Path, folders: tuple[str, ...], database: Path) -> None:
    """Write all files, links and folders below the given folders into a new database.

    Args:
        root: root of the phone.
        folders: paths relative to the root.
        database: file to create.

    Raises:
        ValueError: a file is larger than 512 MiB.
    """
    with closing(sqlite3.connect(database)) as db, db:
        db.execute(_TABLE)
        for path in _walk(root, folders):
            info = path.lstat()
            if info.st_size > _MAX_FILE_BYTES and stat.S_ISREG(info.st_mode):
                raise ValueError(f"{path} is too large for a snapshot")
            row = (_name(path, root), info.st_mode, info.st_mtime_ns, _content(path, info))
            db.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, *_Mark.of(info)))


def restore_files(root: Path, folders: tuple[str, ...], database: Path) -> int:
    """Restore the files; return the number of files that differed.

    Args:
        root: root of the phone.
        folders: the same folders as for `save_files`.
        database: file from `save_files`.
    """
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        marks = {
            name: _Mark(*mark)
            for name, *mark in db.execute("SELECT path, inode, ctime_ns, size FROM file")
        }
        live = {_name(path, root): path for path in _walk(root, folders, unlock=True)}
        extra = live.keys() - marks.keys()
        changed = len(extra)
        for name in sorted(extra, reverse=True):
            _remove(live[name])
        wrong = [
            name
            for name, mark in marks.items()
            if name not in live or not _is_same(live[name], mark)
        ]
        db.execute("BEGIN")
        for name in sorted(wrong):
            changed += _restore(root / os.fsdecode(name), *_read(db, name))
        # Folders last, because writing into them changed their times.
        touched = {*wrong, *(name.rpartition(b"/")[0] for name in (*wrong, *extra))}
        for name in sorted(touched & marks.keys(), reverse=True):
            mode, mtime_ns, _ = _read(db, name)
            path = root / os.fsdecode(name)
            if stat.S_ISDIR(mode):
                _stamp(path, mode, mtime_ns)
            mark = _Mark.of(path.lstat())
            db.execute("UPDATE file SET inode=?, ctime_ns=?, size=? WHERE path=?", (*mark, name))
        db.execute("COMMIT")
    return changed


def _walk(root: Path, folders: tuple[str, ...], *, unlock: bool = False) -> Iterator[Path]:
    """Yield everything below the folders, each folder before its content, without following links.

    Args:
        root: root of the phone.
        folders: paths relative to the root.
        unlock: whether to make inaccessible folders accessible.
    """
    for folder in folders:
        for parent, folder_names, names in os.walk(root / folder):
            for name in folder_names if unlock else ():
                path = root / parent / name
                if not path.is_symlink() and path.stat().st_mode & 0o700 != 0o700:  # noqa: PLR2004
                    path.chmod(0o700)
            for name in sorted((*folder_names, *names)):
                yield root / parent / name


def _name(path: Path, root: Path) -> bytes:
    """Return the path relative to the root as bytes, like file names."""
    return os.fsencode(path.relative_to(root))


def _content(path: Path, info: os.stat_result) -> bytes | None:
    if stat.S_ISLNK(info.st_mode):
        return os.fsencode(path.readlink())
    return path.read_bytes() if stat.S_ISREG(info.st_mode) else None


def _is_same(path: Path, mark: _Mark) -> bool:
    return _Mark.of(path.lstat()) == mark


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.chmod(0o700)
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _read(db: sqlite3.Connection, name: bytes) -> tuple[int, int, bytes | None]:
    row = db.execute("SELECT mode, mtime_ns, content FROM file WHERE path=?", (name,)).fetchone()
    return int(row[0]), int(row[1]), row[2]


def _restore(path: Path, mode: int, mtime_ns: int, content: bytes | None) -> bool:
    """Create one entry; return True unless it is a folder that existed."""
    is_folder = path.is_dir() and not path.is_symlink()
    if stat.S_ISDIR(mode) and is_folder:
        path.chmod(0o700)
        return False
    if is_folder or path.is_symlink() or path.exists():
        _remove(path)
    if stat.S_ISDIR(mode):
        path.mkdir(parents=True, mode=0o700)
    elif stat.S_ISLNK(mode):
        path.symlink_to(os.fsdecode(content or b""))
    elif stat.S_ISREG(mode):
        path.write_bytes(content or b"")
        _stamp(path, mode, mtime_ns)
    elif stat.S_ISFIFO(mode):
        os.mkfifo(path)
        _stamp(path, mode, mtime_ns)
    return True


def _stamp(path: Path, mode: int, mtime_ns: int) -> None:
    path.chmod(stat.S_IMODE(mode))
    os.utime(path, ns=(mtime_ns, mtime_ns))
