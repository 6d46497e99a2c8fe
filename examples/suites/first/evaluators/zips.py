"""This suite's evaluator: checks the content of a zip archive, not only the names in it."""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING

from mesocosm import MachinePath, evaluator, opened, read_bytes

if TYPE_CHECKING:
    from mesocosm import Guest

_BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError)


@evaluator(on="desktop")
def zip_holds(guest: Guest, path: MachinePath, member: str, original: MachinePath) -> bool:
    """Return whether a file in a zip archive is identical to an original, byte by byte.

    Example:
        ``{on: desktop, check: zip_holds, with: {path: ~/a.zip, member: a.png, original: /srv/a.png}}``

    Args:
        guest: the desktop.
        path: path of the archive.
        member: name of the file in the archive, including folders.
        original: path of the original, which the agent cannot change.
    """
    wanted = read_bytes(guest, original)
    if wanted is None:
        raise ValueError(f"{original} is missing")
    with opened(guest, path) as file:
        if file is None:
            return False
        try:
            with zipfile.ZipFile(file) as archive:
                members = [info for info in archive.infolist() if info.filename == member]
                # Only unpack a member whose declared size is the original's.
                return [info.file_size for info in members] == [len(wanted)] and (
                    archive.read(members[0]) == wanted
                )
        except _BROKEN:
            return False
