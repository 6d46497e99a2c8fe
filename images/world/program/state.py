"""The folder with the state of a world: replace it, read it, digest it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE = Path("/state")
CACHES = (".Radicale.cache", ".Radicale.lock", ".DAV")
"""Names of what servers write beside the state, which is not compared: provisioning/world/state/archive.py has them, too."""


def replace_state(archive: BinaryIO) -> None:
    """Replace the state by the content of a tar.

    Raises:
        OSError, subprocess.CalledProcessError: it could not be replaced; the state is incomplete.
    """
    for path in STATE.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    argv = [
        "tar",
        "--extract",
        "--file=-",
        f"--directory={STATE}",
        "--preserve-permissions",
        "--no-same-owner",
    ]
    subprocess.run(argv, stdin=archive, check=True, capture_output=True)


def read_state() -> bytes:
    """Return the state, with caches, as a tar.

    Raises:
        subprocess.CalledProcessError: it could not be read.
    """
    argv = ["tar", "--create", "--file=-", f"--directory={STATE}", "--sort=name"]
    return subprocess.run([*argv, "."], check=True, capture_output=True).stdout


def digest_state() -> dict[str, str]:
    """Return mode, time and SHA-256 of each file by path, and the mode of each folder and link."""
    return {os.fspath(path.relative_to(STATE)): _describe(path) for path in _walk(STATE)}


def free_bytes() -> int:
    """Return how much more the state may hold."""
    about = os.statvfs(STATE)
    return about.f_bavail * about.f_frsize


def count_oom_kills() -> int:
    """Return how many processes of the container were killed because it used all of its memory.

    Source: Linux, cgroup-v2.rst (``memory.events``) and cgroup-v1/memory.rst (``memory.oom_control``).
    """
    for name in ("memory.events", "memory/memory.oom_control"):
        path = Path("/sys/fs/cgroup") / name
        if path.is_file():
            rows = dict(line.split() for line in path.read_text().splitlines())
            return int(rows.get("oom_kill", 0))
    return 0


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in CACHES:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)


def _describe(path: Path) -> str:
    """Return what is compared of a file; of folders, whose times change with use, the mode."""
    about = path.lstat()
    if not path.is_file() or path.is_symlink():
        return f"{about.st_mode:o}"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{about.st_mode:o} {int(about.st_mtime)} {digest}"
