"""A state as a tar with a known digest."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CACHES = frozenset({".Radicale.cache", ".Radicale.lock", ".DAV"})
"""Names of what servers write beside the state, which is in tars and not compared."""
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700


@dataclass(frozen=True, slots=True)
class StateFile:
    """A file of a state.

    Attributes:
        path: path below the state's folder.
        data: its content.
        mtime_s: its time, whole seconds since the epoch.
    """

    path: str
    data: bytes
    mtime_s: int


def pack(files: Iterable[StateFile], folders: Iterable[str] = ()) -> bytes:
    """Return a tar of files, of the folders that they are in, and of further folders.

    The same files give the same bytes.
    """
    ordered = sorted(files, key=lambda file: file.path)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in _folders_above(
            [*(file.path for file in ordered), *(f"{name}/_" for name in folders)]
        ):
            info = tarfile.TarInfo(path)
            info.type, info.mode = tarfile.DIRTYPE, _FOLDER_MODE
            tar.addfile(info)
        for file in ordered:
            info = tarfile.TarInfo(file.path)
            info.mode, info.size, info.mtime = _FILE_MODE, len(file.data), file.mtime_s
            tar.addfile(info, io.BytesIO(file.data))
    return buffer.getvalue()


def digest_archive(archive: bytes) -> Mapping[str, str]:
    """Return what a world answers about a state that was filled from a tar.

    Returns:
        A row for each path, as `images.world.program.state.digest_state` writes it.
    """
    rows: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for info in tar:
            path = PurePosixPath(info.name)
            if path == PurePosixPath() or not CACHES.isdisjoint(path.parts):
                continue
            if info.isdir():
                rows[str(path)] = f"{0o040000 | info.mode:o}"
            elif (content := tar.extractfile(info)) is not None:
                digest = hashlib.sha256(content.read()).hexdigest()
                rows[str(path)] = f"{0o100000 | info.mode:o} {int(info.mtime)} {digest}"
    return rows


def _folders_above(paths: Iterable[str]) -> list[str]:
    """Return all folders above some paths, sorted."""
    parents = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return sorted(parents - {"."})
