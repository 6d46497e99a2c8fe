"""An evaluator of this suite's own: what a zip archive really holds, where names could deceive."""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.reading import opened, read_bytes

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError)


@evaluator(on="desktop")
def zip_holds(guest: Guest, path: str, member: str, original: str) -> bool:
    """Return whether a file in a zip archive has the content of an original, byte by byte.

    Example:
        ``{on: desktop, check: zip_holds, with: {path: ~/a.zip, member: a.png, original: /srv/a.png}}``

    Args:
        guest: the desktop.
        path: of the archive.
        member: the file's name in it, with its folders.
        original: path of the original, out of the agent's reach.
    """
    wanted = read_bytes(guest, original)
    if wanted is None:
        raise ValueError(f"{original} is missing")
    with opened(guest, path) as file:
        if file is None:
            return False
        try:
            with zipfile.ZipFile(file) as archive:
                found = [each for each in archive.infolist() if each.filename == member]
                # A member is unpacked only where it says that it has the original's size.
                return [each.file_size for each in found] == [len(wanted)] and (
                    archive.read(found[0]) == wanted
                )
        except _BROKEN:
            return False
