"""Folders that test cases work in, left behind where their process was killed."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from foundation.process import run

PREFIXES = ("mesocosm-case-", "mesocosm-red-")
STALE_S = 3600.0
"""No case takes so long."""


def remove_stale(folder: Path | None = None, *, older_than_s: float = STALE_S) -> list[str]:
    """Remove the folders of cases that nobody changed for a while; returns their names, sorted.

    Args:
        folder: where they are; the folder of temporary files by default.
        older_than_s: how long nobody changed them.
    """
    top = folder or Path(tempfile.gettempdir())
    stale = []
    for prefix in PREFIXES:
        for path in top.glob(f"{prefix}*"):
            if path.is_symlink() or not path.is_dir():
                continue
            if time.time() - path.stat().st_mtime > older_than_s:  # noqa: TID251 - of files
                stale.append(path)
    for start in range(0, len(stale), 500):
        # Some hold trees that are too deep for `shutil.rmtree`.
        run(["rm", "-rf", "--", *map(str, stale[start : start + 500])], timeout_s=600)
    return sorted(path.name for path in stale)
