"""The root file system of a desktop's disk as a folder, without mounting it."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError
from foundation.process import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from images.recipe import Report

_TIMEOUT_S = 900.0
_ENTRY = re.compile(r"^/(\d+)/([0-7]{6})/(\d+)/(\d+)/([^/]+)/(\d*)/$")
_FOLDER = re.compile(r'^debugfs: +ls -p "(.*)"$')
_CAPABILITY = "security.capability"
_WITH_CAPABILITIES = ("usr/bin", "usr/sbin", "usr/lib", "usr/libexec")
_SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file of the disk: path below the root, inode, and mode as in ``st_mode``."""

    path: str
    inode: int
    mode: int


def unpack_tree(raw: Path, root: Path, report: Report) -> None:
    """Extract all files of an ext4 disk, with owners, modes, hard links and capabilities.

    Args:
        raw: the disk, without partitions.
        root: folder to create.
        report: receives progress.

    Raises:
        ToolError: debugfs is missing or failed.
        ImageBuildError: the disk has no root file system.

    Source: debugfs(8). ``rdump`` drops the set-id and sticky bits, hard links and capabilities, which
    are restored here.
    """
    report("tree", None, "reading the root file system from the disk")
    root.mkdir()
    run(["debugfs", "-R", f'rdump / "{root}"', str(raw)], timeout_s=_TIMEOUT_S).require()
    if not (root / "etc/os-release").exists():
        raise ImageBuildError(
            "The parent's disk has no root file system.",
            resolution="Run `mesocosm image verify desktop`.",
        )
    report("tree", None, "restoring modes and links")
    first: dict[int, Path] = {}
    for entry in _list(raw, root):
        path = root / entry.path
        other = first.setdefault(entry.inode, path)
        if stat.S_ISREG(entry.mode) and other != path:
            path.unlink()
            path.hardlink_to(other)
        if entry.mode & _SPECIAL_BITS and not stat.S_ISLNK(entry.mode):
            path.chmod(stat.S_IMODE(entry.mode))
    _restore_capabilities(raw, root)


def _list(raw: Path, root: Path) -> Iterator[_Entry]:
    """Yield all files and folders of the disk."""
    folders = ["", *_folders(root)]
    text = _debugfs(raw, (f'ls -p "/{folder}"' for folder in folders))
    folder = ""
    for line in text.splitlines():
        if place := _FOLDER.match(line):
            folder = place[1].strip("/")
        elif (found := _ENTRY.match(line)) and found[5] not in {".", ".."}:
            path = f"{folder}/{found[5]}".lstrip("/")
            yield _Entry(path, int(found[1]), int(found[2], 8))


def _folders(root: Path) -> Iterator[str]:
    for folder, names, _ in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                yield str(path.relative_to(root))


def _restore_capabilities(raw: Path, root: Path) -> None:
    """Set the capabilities of programs, which are extended attributes.

    Source: capabilities(7).
    """
    programs = [
        str(path.relative_to(root))
        for top in _WITH_CAPABILITIES
        for path in (root / top).rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o111
    ]
    text = _debugfs(raw, (f'ea_list "/{path}"' for path in programs))
    current = ""
    for line in text.splitlines():
        if line.startswith("debugfs:"):
            current = line.partition('"/')[2].rstrip('"')
        elif found := re.match(rf"^\s+{re.escape(_CAPABILITY)} \(\d+\) = ([0-9a-f ]+)$", line):
            os.setxattr(root / current, _CAPABILITY, bytes.fromhex(found[1]))


def _debugfs(raw: Path, commands: Iterable[str]) -> str:
    """Run commands of debugfs, which echoes each before its output."""
    script = "\n".join(commands).encode() + b"\n"
    done = run(["debugfs", "-f", "-", str(raw)], stdin=script, timeout_s=_TIMEOUT_S)
    return done.require().stdout.decode(errors="surrogateescape")
