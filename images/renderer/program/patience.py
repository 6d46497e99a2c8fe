"""The time that a view takes of its own, without waiting for a processor, which others use."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT_S = 60.0
"""Time that a view may take on a host that has nothing else to do."""
_PROCESSORS = 2
"""Processors that it may use meanwhile."""
_POLL_S = 0.25
_PROC = Path("/proc")
_NS = 1e9
_USER, _SYSTEM = 11, 12
"""Fields of a process's ``stat`` behind its name. Source: proc(5)."""


class Watcher:
    """A process of its own that replies in place of this one, once this container has used up its time.

    A thread would have to wait for libraries that keep the interpreter. What counts is the time that passes, without
    that in which threads wait for a processor (Source: Linux, Documentation/scheduler/sched-stats.rst), because others
    use it; or the time of the processors, because its own threads may wait for each other.

    Args:
        output: file descriptor of the reply.
        reply: what it writes there.
        limit_s: the limit.
    """

    def __init__(self, output: int, reply: bytes, limit_s: float = LIMIT_S) -> None:
        waits, self._starts = os.pipe()
        watched = os.getpid()
        self._process = os.fork()
        if self._process:
            os.close(waits)
            return
        os.close(self._starts)
        if os.read(waits, 1):
            wait_until_used(limit_s)
            os.kill(
                watched, signal.SIGSTOP
            )  # so that it does not reply, and the container does not end
            with os.fdopen(output, "wb") as file:
                file.write(reply)
            os.kill(watched, signal.SIGKILL)
        os._exit(0)

    def start(self) -> None:
        """Begin to watch."""
        os.write(self._starts, b"1")

    def stop(self) -> None:
        """Stop watching; afterwards this process may reply."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)


def wait_until_used(limit_s: float) -> None:
    """Wait until this container has used up its time."""
    start_s, start_used_s = time.monotonic() - waited_s(), used_s()
    while True:
        time.sleep(_POLL_S)
        own_s = time.monotonic() - waited_s() - start_s
        if own_s > limit_s or used_s() - start_used_s > limit_s * _PROCESSORS:
            return


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
