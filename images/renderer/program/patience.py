"""The time that a view takes of its own, without waiting for a processor, which others use."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT_S = 60.0
"""Time that a view may take on a host that has nothing else to do."""
_PROCESSORS = 2
"""Processors that it may use meanwhile."""
_POLL_S = 0.25
_PROC = Path("/proc")
_NS = 1e9
_USER, _SYSTEM = 11, 12
"""Fields of a process's ``stat`` behind its name. Source: proc(5)."""


def watch(give_up: Callable[[], None], limit_s: float = LIMIT_S) -> None:
    """Call a function in a thread once this container has used up its time.

    What counts is the time that passes, without that in which its threads wait for a processor (Source: Linux,
    Documentation/scheduler/sched-stats.rst), because others use it; or the time of the processors, because its own
    threads may wait for each other.

    Args:
        give_up: is called once.
        limit_s: the limit.
    """
    start = time.monotonic() - waited_s(), used_s()

    def run() -> None:
        while True:
            time.sleep(_POLL_S)
            own_s = time.monotonic() - waited_s() - start[0]
            if own_s > limit_s or used_s() - start[1] > limit_s * _PROCESSORS:
                give_up()
                return

    threading.Thread(target=run, daemon=True).start()


def waited_s(proc: Path = _PROC) -> float:
    """Return the time that the threads of this container have waited for a processor; 0 if the kernel does not say."""
    return sum(int(text.split()[1]) for text in _texts(proc, "task/*/schedstat")) / _NS


def used_s(proc: Path = _PROC) -> float:
    """Return the time of processors that the processes of this container have used."""
    fields = [text.rpartition(")")[2].split() for text in _texts(proc, "stat")]
    ticks = sum(int(row[_USER]) + int(row[_SYSTEM]) for row in fields)
    return ticks / os.sysconf("SC_CLK_TCK")


def _texts(proc: Path, name: str) -> Iterator[str]:
    for path in proc.glob(f"[0-9]*/{name}"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            yield path.read_text()
