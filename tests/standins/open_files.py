"""Files that this process holds open."""

from __future__ import annotations

import contextlib
from pathlib import Path


def open_files(prefix: Path) -> list[str]:
    """Return the open files whose path begins with a path, one entry per descriptor."""
    paths = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the descriptor of this listing
            paths.append(str(link.readlink()))
    return sorted(path for path in paths if path.startswith(str(prefix)))
