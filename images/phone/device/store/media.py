"""The files of ``/sdcard``: what lies in a folder, and pictures.

Every path is kept below the folder of shared files; nothing follows a link out of it.
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
        path: from the folder of shared files.
        is_folder: it holds others.
        size_bytes: of a file.
        modified_s: since the epoch.
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
        """Tell whether its name is that of a picture."""
        return f".{self.name.rpartition('.')[2].lower()}" in PICTURES


def list_folder(card: Path | None, folder: str) -> list[FileEntry]:
    """Give what lies in a folder, folders first, by name; hidden files are left out."""
    path = resolve(card, folder)
    if card is None or path is None or not path.is_dir():
        return []
    found = []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            info = entry.stat(follow_symlinks=False)
            name = entry.name.encode(errors="replace").decode()
            inner = f"{folder}/{name}" if folder else name
            found.append(FileEntry(inner, entry.is_dir(), info.st_size, info.st_mtime))
    return sorted(found, key=lambda each: (not each.is_folder, each.name.casefold()))[:_MAX_SHOWN]


def list_pictures(card: Path | None) -> list[FileEntry]:
    """Give all pictures, newest first."""
    found: list[FileEntry] = []
    folders = list(_PHOTO_FOLDERS)
    while folders and len(found) < _MAX_SHOWN:
        for entry in list_folder(card, folders.pop()):
            if entry.is_folder:
                folders.append(entry.path)
            elif entry.is_picture:
                found.append(entry)
    return sorted(found, key=lambda each: (-each.modified_s, each.path))


def resolve(card: Path | None, path: str) -> Path | None:
    """Give the real path of a shared file; None when it would lie elsewhere."""
    if card is None or "\0" in path:
        return None
    real = card / path
    base, found = os.path.realpath(card), os.path.realpath(real)
    return real if found == base or found.startswith(f"{base}{os.sep}") else None


def stamp_of(card: Path | None, path: str) -> int:
    """Give the time of the last change, ns; 0 when there is no such file."""
    real = resolve(card, path)
    try:
        return real.stat().st_mtime_ns if real is not None else 0
    except OSError:
        return 0


def read_picture(card: Path | None, path: str) -> Image.Image | None:
    """Give a picture as RGB; None when it cannot be read."""
    real = resolve(card, path)
    if real is None:
        return None
    try:
        with Image.open(real) as image:
            if image.width * image.height > _MAX_PIXELS:
                return None
            return image.convert("RGB")
    except (OSError, UnidentifiedImageError, ValueError, SyntaxError):
        return None


def read_text(card: Path | None, path: str) -> str | None:
    """Give the content of a text file; None when it is no text, or cannot be read."""
    real = resolve(card, path)
    if real is None:
        return None
    try:
        with real.open("rb") as file:
            raw = file.read(_MAX_TEXT_BYTES)
    except OSError:
        return None
    return None if b"\0" in raw else raw.decode("utf-8", errors="replace")


def free_name(card: Path, folder: str, name: str) -> str:
    """Give a path in a folder that nothing has: the name, or the name with a number."""
    stem, dot, end = name.partition(".") if not name.startswith(".") else (name, "", "")
    number, path = 0, f"{folder}/{name}".lstrip("/")
    while (card / path).exists():
        number += 1
        path = f"{folder}/{stem} ({number}){dot}{end}".lstrip("/")
    return path


def delete_path(card: Path | None, path: str) -> bool:
    """Delete a file, or a folder with all in it."""
    real = resolve(card, path)
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


def transfer(card: Path | None, path: str, folder: str, *, keep: bool) -> bool:
    """Copy or move a file or folder into a folder; False when that cannot be.

    Args:
        card: the folder of shared files.
        path: what is moved.
        folder: where to.
        keep: copy, do not move.
    """
    source, goal = resolve(card, path), resolve(card, folder)
    if card is None or source is None or goal is None or not source.exists():
        return False
    if folder == path or folder.startswith(f"{path}/"):
        return False
    try:
        target = card / free_name(card, folder, source.name)
        if not keep:
            shutil.move(source, target)
        elif source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)
    except (OSError, shutil.Error):
        return False
    return True


def make_folder(card: Path | None, folder: str, name: str) -> bool:
    """Make a folder; False when the name is none, or is taken."""
    if not is_name(name):
        return False
    real = resolve(card, f"{folder}/{name}".lstrip("/"))
    try:
        if real is None or real.exists():
            return False
        real.mkdir()
    except OSError:
        return False
    return True


def rename_path(card: Path | None, path: str, name: str) -> bool:
    """Give a file or folder another name; False when that cannot be."""
    if not is_name(name):
        return False
    head = path.rpartition("/")[0]
    source, goal = resolve(card, path), resolve(card, f"{head}/{name}".lstrip("/"))
    try:
        if source is None or goal is None or goal.exists():
            return False
        source.rename(goal)
    except OSError:
        return False
    return True


def is_name(name: str) -> bool:
    """Tell whether a text can name a file."""
    return bool(name) and name not in {".", ".."} and not set(name) & {"/", "\0"}


def size_text(size_bytes: int) -> str:
    """Give a size as Android writes it, in decimal units."""
    value, unit = float(size_bytes), "B"
    for larger in ("kB", "MB", "GB"):
        if value < 1000:  # noqa: PLR2004 - decimal units
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.2f} {unit}"
