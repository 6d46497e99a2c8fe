"""The memory that this container has used."""

from __future__ import annotations

from pathlib import Path

_PEAKS = (
    Path("/sys/fs/cgroup/memory.peak"),
    Path("/sys/fs/cgroup/memory/memory.max_usage_in_bytes"),
)
"""Source: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst."""
_MIB = 1 << 20


def peak_mib(paths: tuple[Path, ...] = _PEAKS) -> float | None:
    """Return the container's largest use of memory so far, with its files, in MiB; None if the kernel does not say.

    Args:
        paths: files with it, in bytes, of which the first that exists counts.
    """
    for path in paths:
        if path.exists():
            return int(path.read_text()) / _MIB
    return None
