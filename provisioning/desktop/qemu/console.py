"""The console of a desktop VM: what the guest's kernel reports when nothing in it can answer.

Only the kernel and root write to the console. It is a file of the host, which is not rewound with
the guest: what counts is what follows the last start or rewind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MAX_BYTES = 1 << 20
_RECENT_S = 600.0
"""More than a dead guest is waited for (`ending`), and than the longest step."""
# Source: Linux, mm/oom_kill.c (`__oom_kill_process`, `out_of_memory`) and kernel/panic.c. These are
# errors or worse, which kernels print to their console even if they are started with ``quiet``.
_EXHAUSTED = re.compile(
    rb"(?<!cgroup )Out of memory: Killed process \d+|System is deadlocked on memory"
    rb"|Out of memory and no killable processes"
)
_PANIC = re.compile(rb"Kernel panic - not syncing")


def size_of(log: Path) -> int:
    """Return the size of a console's log in bytes; 0 if there is none."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def find_report(log: Path, begin: int, now_s: float) -> str:
    """Return what the guest's kernel reports about its own end, in one line; empty if nothing.

    Reports that are older than ten minutes do not count: the guest has recovered from them.

    Args:
        log: log of the console.
        begin: offset at which the guest was started or rewound.
        now_s: current time, in seconds since the epoch.
    """
    try:
        if now_s - log.stat().st_mtime > _RECENT_S:
            return ""
        with log.open("rb") as file:
            file.seek(max(begin, size_of(log) - _MAX_BYTES))
            output = file.read(_MAX_BYTES)
    except OSError:
        return ""
    if _EXHAUSTED.search(output):
        return "the guest's kernel ran out of memory"
    return "the guest's kernel panicked" if _PANIC.search(output) else ""
