"""Pictures of trajectories: copied once each, named by their digest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controller.store.event_format import picture_suffix
from foundation.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "images"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Pictures:
    """The pictures of an export.

    Args:
        blobs: folder of the run's pictures.
        target: folder of the export.

    Attributes:
        missing: digests of pictures that the run no longer has.
    """

    def __init__(self, blobs: Path, target: Path) -> None:
        self._blobs = blobs
        self._target = target
        self.missing: set[str] = set()

    def path_of(self, digest: str, media_type: str = "image/png") -> str | None:
        """Copy a picture and return its path in the export; None if the run no longer has it."""
        if not _DIGEST.fullmatch(digest):
            return None
        name = f"{digest}{picture_suffix(media_type)}"
        target = self._target / FOLDER / name
        if not target.exists():
            source = self._blobs / name
            if not source.is_file():
                self.missing.add(digest)
                return None
            write_atomic(target, source.read_bytes(), is_durable=False)
        return f"{FOLDER}/{name}"
