"""Interrupt shells of a reference phone, and compare its resources before and after."""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from images.phone.device.streams import wire
from tests.standins.raw_adb import RawHost

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH = 25
"""Number of concurrent shells, of the 128 that the phone supports."""

# Run one after the other; {mark} is a number of seconds that no other process sleeps.
INTERRUPTED = (
    "shell,v2,raw:logcat",
    "shell,v2,raw:sleep {mark}",
    "shell,v2,pty:sleep {mark}",
    "shell:sleep {mark}; :",
    "exec:logcat; sleep {mark}",
    "shell,v2,raw:sleep {mark} & sleep {mark} | sleep {mark}",
    "shell,v2,raw:exec >&- 2>&-; sleep {mark}; :",
    "shell,v2,pty:",
)
CHECK_TIMEOUT_S = 10.0
SLACK_KIB = 8192


@dataclass(frozen=True)
class ResourceUsage:
    """Resources of the phone at one moment."""

    processes: int
    threads: int
    files: int
    rss_kib: int


class ProcessMonitor:
    """Monitor of the resources of a phone's daemon and its child processes."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._folder = Path("/proc", str(pid))

    def usage(self) -> ResourceUsage:
        """Return the current resources."""
        lines = (self._folder / "status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        return ResourceUsage(
            processes=self._count_below(),
            threads=int(status["Threads"]),
            files=len(list((self._folder / "fd").iterdir())),
            rss_kib=int(status["VmRSS"].split()[0]),
        )

    def cpu_s(self) -> float:
        """Return the processor time that the daemon has used."""
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_idle(self) -> bool:
        """Return whether the daemon uses less than a tenth of a core for half a second."""
        before_s, began_s = self.cpu_s(), SYSTEM_CLOCK.monotonic_s()
        SYSTEM_CLOCK.sleep(0.5)
        return self.cpu_s() - before_s < 0.1 * (SYSTEM_CLOCK.monotonic_s() - began_s)

    def _count_below(self) -> int:
        parents = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        below, children = {self._pid}, {self._pid}
        while children:
            children = {pid for pid, parent in parents.items() if parent in children} - below
            below |= children
        return len(below) - 1


@dataclass(frozen=True)
class PhoneEndpoint:
    """Endpoint of a phone for raw hosts.

    Attributes:
        port: loopback port of its ADB.
        key: private key that the phone accepts.
    """

    port: int
    key: Path

    def open(self) -> RawHost:
        """Connect and authenticate."""
        return RawHost(self.port, self.key)


def count_sleepers(mark: str) -> int:
    wanted = f"sleep\0{mark}\0".encode()
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            count += path.read_bytes() == wanted
    return count


def make_mark() -> str:
    return str(secrets.randbelow(10**6) + 10**6)


def open_shells(host: RawHost, services: list[str], mark: str) -> list[tuple[int, int]]:
    return [host.open(service.format(mark=mark)) for service in services]


def close_shells(host: RawHost, shells: list[tuple[int, int]]) -> None:
    host.send(*(wire.Message(wire.CLSE, own, other) for own, other in shells))


def wait_for_processes(monitor: ProcessMonitor, count: int = 0) -> None:
    """Wait until the daemon has this number of child processes, including zombies."""
    assert wait_until(
        lambda: monitor.usage().processes == count, timeout_s=CHECK_TIMEOUT_S, every_s=0.02
    ), monitor.usage()


def wait_until_running(monitor: ProcessMonitor, count: int) -> None:
    assert wait_until(lambda: monitor.usage().processes >= count, timeout_s=CHECK_TIMEOUT_S)


def interrupt(
    endpoint: PhoneEndpoint,
    monitor: ProcessMonitor,
    count: int,
    services: tuple[str, ...],
    idle: int = 0,
) -> None:
    """Open shells in batches, let them run, close their streams, and wait until they end."""
    mark = make_mark()
    wait_for_processes(monitor, idle)
    for start in range(0, count, BATCH):
        chosen = [services[i % len(services)] for i in range(start, min(start + BATCH, count))]
        with endpoint.open() as host:
            shells = open_shells(host, chosen, mark)
            wait_until_running(monitor, idle + len(chosen))
            close_shells(host, shells)
            # Closing the streams is sufficient: the connection stays open.
            wait_for_processes(monitor, idle)
    assert wait_until(lambda: count_sleepers(mark) == 0, timeout_s=CHECK_TIMEOUT_S)


def follow_and_clear(endpoint: PhoneEndpoint, clear: Callable[[], object], count: int) -> None:
    """Clear the log while it is followed, and interrupt the follower."""
    for _ in range(count):
        with endpoint.open() as host:
            followers = open_shells(host, ["shell,v2,raw:logcat"], "")
            next(host.read(followers[0]))
            clear()
            close_shells(host, followers)


def check_nothing_is_left(monitor: ProcessMonitor, before: ResourceUsage) -> None:
    def is_as_before() -> bool:
        held = monitor.usage()
        return (
            held.processes <= before.processes
            and held.threads <= before.threads
            and held.files <= before.files
        )

    assert wait_until(is_as_before, timeout_s=CHECK_TIMEOUT_S), f"{before} -> {monitor.usage()}"
    assert monitor.usage().rss_kib <= before.rss_kib + SLACK_KIB, f"{before} -> {monitor.usage()}"
    assert monitor.is_idle()
