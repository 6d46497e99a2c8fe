"""Named snapshots of the whole phone: its state database and its files.

A snapshot is a folder; its name is a symbolic link to it, set last and atomically, so that after a
crash either the old or the new snapshot is valid.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sqlite3
from typing import TYPE_CHECKING

from images.phone.device.store.files import restore_files, save_files

if TYPE_CHECKING:
    from pathlib import Path

    from images.phone.device.store.database import Store

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_STATE = "phone.db"
_FILES = "files.db"
_VERSION_PREFIX = ".version-"


class SnapshotRefusedError(Exception):
    """The snapshot cannot be saved, loaded or deleted; the message is for the console."""


class SnapshotStore:
    """The snapshots of one phone; callers must hold `Phone.lock`.

    Args:
        folder: folder of the snapshots.
        root: root of the phone.
        shared_folders: folders whose files belong to a snapshot, relative to the root.
    """

    def __init__(self, folder: Path, root: Path, shared_folders: tuple[str, ...]) -> None:
        self._folder = folder
        self._root = root
        self._shared_folders = shared_folders
        self._remove_leftovers()

    def names(self) -> list[str]:
        """Return the names of all snapshots, sorted."""
        entries = self._folder.iterdir()
        return sorted(
            entry.name for entry in entries if entry.is_symlink() and entry.name[0] != "."
        )

    def save(self, name: str, store: Store) -> None:
        """Save the phone, replacing an older snapshot with that name.

        Raises:
            SnapshotRefusedError: the name is invalid, or writing failed.
        """
        link = self._link(name)
        version = self._folder / f"{_VERSION_PREFIX}{secrets.token_hex(6)}"
        try:
            version.mkdir()
            store.copy_to(version / _STATE)
            save_files(self._root, self._shared_folders, version / _FILES)
        except (OSError, ValueError, sqlite3.Error) as exc:
            shutil.rmtree(version, ignore_errors=True)
            raise SnapshotRefusedError(f"saving failed: {exc}") from exc
        fresh = self._folder / f"{version.name}.link"
        fresh.symlink_to(version.name)
        fresh.replace(link)
        self._remove_leftovers()

    def load(self, name: str, store: Store) -> int:
        """Restore the phone; return the number of files that differed.

        Raises:
            SnapshotRefusedError: there is no such snapshot, or it is damaged.
        """
        link = self._link(name)
        if not link.is_symlink():
            raise SnapshotRefusedError(f"there is no snapshot called '{name}'")
        try:
            store.load_from(link / _STATE)
            return restore_files(self._root, self._shared_folders, link / _FILES)
        except (OSError, sqlite3.Error) as exc:
            raise SnapshotRefusedError(f"loading failed: {exc}") from exc

    def delete(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            SnapshotRefusedError: there is no such snapshot.
        """
        link = self._link(name)
        if not link.is_symlink():
            raise SnapshotRefusedError(f"there is no snapshot called '{name}'")
        link.unlink()
        self._remove_leftovers()

    def _link(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise SnapshotRefusedError("a name of letters, digits, '_', '-' and '.' is needed")
        return self._folder / name

    def _remove_leftovers(self) -> None:
        """Remove versions that no name refers to."""
        used = {os.readlink(path) for path in self._folder.iterdir() if path.is_symlink()}  # noqa: PTH115
        for path in self._folder.iterdir():
            if path.name.startswith(_VERSION_PREFIX) and path.name not in used:
                if path.is_symlink():
                    path.unlink()
                else:
                    shutil.rmtree(path, ignore_errors=True)
