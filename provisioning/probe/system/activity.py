"""How busy programs of this guest are."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.system import proc

if TYPE_CHECKING:
    from provisioning.probe.serving.params import Params


def read(params: Params) -> dict[str, Any]:
    """Return the processor time of programs, with all their descendants, and what is left.

    ``cpu_s`` is the sum of the time of the processes with ``pids``; ``idle_s`` the idle time of all
    processors together; ``clock_s`` the monotonic clock. Differences between two replies tell how
    busy the programs were. They are the guest's own figures: if the host has no time for the
    guest, its clock goes on, and the program that waits for the processor is not idle.
    """
    wanted = {int(pid) for pid in params.values.get("pids", ())}
    listed = proc.list_processes()
    pids = proc.descendants(listed, wanted & {process.pid for process in listed})
    tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
    return {
        "cpu_s": sum(map(proc.cpu_ticks, pids)) * tick_s,
        "idle_s": _idle_ticks() * tick_s,
        "clock_s": time.monotonic(),
    }


def _idle_ticks() -> int:
    """Return the ticks in which processors were idle or waited for storage.

    Source: proc(5), /proc/stat: user, nice, system, idle, iowait.
    """
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[4])
