"""The files of ``/sdcard``: folders and pictures.

Every path stays below the folder of shared files; links out of it are not followed.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image, UnidentifiedImageError

if TYPE_CHECKING:
    from pathlib import Path

PICTURES = frozenset((".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp"))
_PHOTO_FOLDERS = ("DCIM", "Pictures", "Download")
_MAX_SHOWN = 500
_MAX_TEXT_BYTES = 100_000
_MAX_PIXELS = 40_000_000


class FileEntry(NamedTuple):
    """One file or folder.

    Attributes:
        path: path relative to the folder of shared files.
        is_folder: whether it is a folder.
        size_bytes: size of a file.
        modified_s: modification time, s since the epoch.
    """

    path: str
    is_folder: bool
    size_bytes: int
    modified_s: float

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def is_picture(self) -> bool:
        """Return whether the name is that of a picture."""
        return f".{self.name.rpartition('.')[2].lower()}" in PICTURES


def list_folder(shared_dir: Path | None, folder: str) -> list[FileEntry]:
    """Return the content of a folder by name, folders first, without hidden files."""
    path = resolve(shared_dir, folder)
    if shared_dir is None or path is None or not path.is_dir():
        return []
    files = []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            info = entry.stat(follow_symlinks=False)
            name = entry.name.encode(errors="replace").decode()
            inner = f"{folder}/{name}" if folder else name
            files.append(FileEntry(inner, entry.is_dir(), info.st_size, info.st_mtime))
    files.sort(key=lambda file: (not file.is_folder, file.name.casefold()))
    return files[:_MAX_SHOWN]


def list_pictures(shared_dir: Path | None) -> list[FileEntry]:
    """Return all pictures, newest first."""
    entries: list[FileEntry] = []
    folders = list(_PHOTO_FOLDERS)
    while folders and len(entries) < _MAX_SHOWN:
        for entry in list_folder(shared_dir, folders.pop()):
            if entry.is_folder:
                folders.append(entry.path)
            elif entry.is_picture:
                entries.append(entry)
    return sorted(entries, key=lambda entry: (-entry.modified_s, entry.path))


def resolve(shared_dir: Path | None, path: str) -> Path | None:
    """Return the real path of a shared file; None if it would be outside the folder."""
    if shared_dir is None or "\0" in path:
        return None
    real = shared_dir / path
    base, target = os.path.realpath(shared_dir), os.path.realpath(real)
    return real if target == base or target.startswith(f"{base}{os.sep}") else None


def stamp_of(shared_dir: Path | None, path: str) -> int:
    """Return the time of the last change, ns; 0 if there is no such file."""
    real = resolve(shared_dir, path)
    try:
        return real.stat().st_mtime_ns if real is not None else 0
    except OSError:
        return 0


def read_picture(shared_dir: Path | None, path: str) -> Image.Image | None:
    """Return a picture as RGB; None if it cannot be read."""
    real = resolve(shared_dir, path)
    if real is None:
        return None
    try:
        with Image.open(real) as image:
            if image.width * image.height > _MAX_PIXELS:
                return None
            return image.convert("RGB")
    except (OSError, UnidentifiedImageError, ValueError, SyntaxError):
        return None


def read_text(shared_dir: Path | None, path: str) -> str | None:
    """Return the content of a text file; None if it is not text or cannot be read."""
    real = resolve(shared_dir, path)
    if real is None:
        return None
    try:
        with real.open("rb") as file:
            raw = file.read(_MAX_TEXT_BYTES)
    except OSError:
        return None
    return None if b"\0" in raw else raw.decode("utf-8", errors="replace")


def free_name(shared_dir: Path, folder: str, name: str) -> str:
    """Return an unused path in a folder: the name, or the name with a number."""
    stem, dot, end = name.partition(".") if not name.startswith(".") else (name, "", "")
    number, path = 0, f"{folder}/{name}".lstrip("/")
    while (shared_dir / path).exists():
        number += 1
        path = f"{folder}/{stem} ({number}){dot}{end}".lstrip("/")
    return path


def delete_path(shared_dir: Path | None, path: str) -> bool:
    """Delete a file, or a folder with its content."""
    real = resolve(shared_dir, path)
    if real is None or not path.strip("/"):
        return False
    try:
        if real.is_dir() and not real.is_symlink():
            shutil.rmtree(real)
        else:
            real.unlink()
    except OSError:
        return False
    return True


def transfer(shared_dir: Path | None, path: str, folder: str, *, keep: bool) -> bool:
    """Copy or move a file or folder into a folder; return False if that is impossible.

    Args:
        shared_dir: the folder of shared files.
        path: file or folder to copy or move.
        folder: target folder.
        keep: whether to copy instead of move.
    """
    source, goal = resolve(shared_dir, path), resolve(shared_dir, folder)
    if shared_dir is None or source is None or goal is None or not source.exists():
        return False
    if folder == path or folder.startswith(f"{path}/"):
        return False
    try:
        target = shared_dir / free_name(shared_dir, folder, source.name)
        if not keep:
            shutil.move(source, target)
        elif source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)
    except (OSError, shutil.Error):
        return False
    return True


def make_folder(shared_dir: Path | None, folder: str, name: str) -> bool:
    """Create a folder; return False if the name is invalid or taken."""
    if not is_name(name):
        return False
    real = resolve(shared_dir, f"{folder}/{name}".lstrip("/"))
    try:
        if real is None or real.exists():
            return False
        real.mkdir()
    except OSError:
        return False
    return True


def rename_path(shared_dir: Path | None, path: str, name: str) -> bool:
    """Rename a file or folder; return False if that is impossible."""
    if not is_name(name):
        return False
    head = path.rpartition("/")[0]
    source, goal = resolve(shared_dir, path), resolve(shared_dir, f"{head}/{name}".lstrip("/"))
    try:
        if source is None or goal is None or goal.exists():
            return False
        source.rename(goal)
    except OSError:
        return False
    return True


def is_name(name: str) -> bool:
    """Return whether a text is a valid file name."""
    return bool(name) and name not in {".", ".."} and not set(name) & {"/", "\0"}


def size_text(size_bytes: int) -> str:
    """Format a size like Android, in decimal units."""
    value, unit = float(size_bytes), "B"
    for larger in ("kB", "MB", "GB"):
        if value < 1000:  # noqa: PLR2004 - decimal units
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.2f} {unit}"
