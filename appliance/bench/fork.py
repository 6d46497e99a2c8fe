"""How long a lease takes: desktops that stand by, cold forks, boots and phones; how many fit."""

from __future__ import annotations

import contextlib
import re
import statistics
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import MachineError
from appliance.bench.rows import Row, phase_means
from provisioning.desktop.qemu.process import PROC, find_qemu
from provisioning.protocols import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from appliance.base.clock import Clock
    from provisioning.fleet.local import LocalFleet
    from provisioning.fleet.protocol import Lease
    from provisioning.protocols import ResetReport

    Tick = Callable[[str], None]

ROLE = "it"
MAX_PING_S = 0.05
_COLD_SHARE = 5
_BOOT_SHARE = 50


def bench_fork(
    warm: LocalFleet, cold: LocalFleet, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Acquire and release machines one after the other.

    Args:
        warm: a fleet that forks desktops and keeps one standing by.
        cold: one that forks desktops and keeps none.
        count: leases of each row; a fifth as many of cold forks, a fiftieth as many boots.
        tick: told the name of each row after each sample.
        clock: measures.

    Raises:
        MesocosmError: there is no template and none can be made.
    """
    warm.prepare([Kind.DESKTOP, Kind.PHONE])
    yield from _leases(warm, Kind.DESKTOP, "fork", count=count, tick=tick, clock=clock)
    yield from _leases(warm, Kind.PHONE, "phone", count=count, tick=tick, clock=clock)
    row = Row("cold fork", "Fleet.acquire with none standing by: overlay, QEMU, state; verified")
    yield row
    _sweep_pool(cold)
    for _ in range(max(1, count // _COLD_SHARE)):
        with contextlib.ExitStack() as stack:
            row.measure(
                lambda: stack.enter_context(_acquire(cold, Kind.DESKTOP)), clock
            )  # called at once
        cold.settle()
        tick(row.name)
    row = Row("cold boot", "overlay, QEMU, boot, probe; to saved as `ready`")
    yield row
    for _ in range(max(1, count // _BOOT_SHARE)):
        with contextlib.ExitStack() as stack:

            def make() -> None:
                handle = cold.make(Kind.DESKTOP)
                stack.enter_context(handle.temporary())  # called at once

            row.measure(make, clock)
        tick(row.name)


def _leases(
    fleet: LocalFleet, kind: Kind, name: str, *, count: int, tick: Tick, clock: Clock
) -> Generator[Row]:
    """Acquire and release one machine again and again, always one standing by."""
    lease = Row(f"{name} lease", "Fleet.acquire of one that stands by; to verified ready")
    release = Row(f"{name} release", "what the holder waits for when it gives it back")
    reports: list[ResetReport] = []
    yield from (lease, release)
    try:
        for _ in range(count):
            fleet.fill(kind)
            fleet.settle()
            taken: list[Lease] = []
            if lease.measure(lambda: taken.append(_acquire(fleet, kind)), clock):  # noqa: B023  # called at once
                reports.append(taken[0].environment.resets[ROLE])
                release.measure(taken[0].release, clock)
            tick(lease.name)
    finally:
        fleet.settle()
        lease.extra |= phase_means(reports)


def bench_density(
    fleet: LocalFleet, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Lease desktops at once; their proportional memory, and how quickly each then answers.

    Args:
        fleet: one that forks desktops and keeps none standing by.
        count: how many are leased at once.
        tick: told the name of the row after each sample.
        clock: measures.

    Raises:
        MesocosmError: there is no template and none can be made, or no memory for so many.
    """
    fleet.prepare([Kind.DESKTOP])
    _sweep_pool(fleet)
    row = Row("density", f"{count} desktops at once; seconds of a ping to each")
    yield row
    with contextlib.ExitStack() as stack:
        machines = []
        for _ in range(count):
            lease = stack.enter_context(_acquire(fleet, Kind.DESKTOP))
            machines.append(lease.environment.machines[ROLE])
            tick(row.name)
        for machine in machines:
            row.measure(lambda: machine.link.call("ping"), clock)  # noqa: B023  # called at once
        used = [proportional_mib(machine.info.machine_id) for machine in machines]
    fleet.settle()
    row.extra["pings_over_50_ms"] = sum(seconds > MAX_PING_S for seconds in row.samples_s)
    row.extra["pss_mean_mib"] = statistics.fmean(used)
    row.extra["pss_max_mib"] = max(used)
    row.extra["pss_sum_mib"] = sum(used)


def bench_leases(
    fleet: LocalFleet, duration_s: float, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Acquire a desktop, act on it once, and release it, again and again.

    Args:
        fleet: as the appliance's settings have it.
        duration_s: for how long.
        tick: told the name of the row after each sample.
        clock: measures.

    Raises:
        MesocosmError: no desktop can be made.
    """
    fleet.prepare([Kind.DESKTOP])
    row = Row("lease and action", "Fleet.acquire, the pointer moved, release")
    yield row
    start_s = clock.monotonic_s()

    def use() -> None:
        with _acquire(fleet, Kind.DESKTOP) as lease:
            lease.environment.machines[ROLE].input.move(100, 100)

    while clock.monotonic_s() - start_s < duration_s:
        row.measure(use, clock)
        tick(row.name)
        row.extra["per_hour"] = len(row.samples_s) * 3600 / (clock.monotonic_s() - start_s)
    fleet.settle()


def proportional_mib(machine_id: str, proc: Path = PROC) -> float:
    """Return the memory of a domain's QEMU, shared pages divided by their users, MiB.

    Source: proc(5), ``smaps_rollup``, ``Pss``.

    Raises:
        MachineError: no such QEMU runs on this host.
    """
    if process := find_qemu(machine_id, proc):
        with contextlib.suppress(OSError):  # it ended meanwhile
            text = (process / "smaps_rollup").read_text()
            match = re.search(r"^Pss:\s+(\d+) kB$", text, flags=re.MULTILINE)
            if match:
                return int(match[1]) / 1024
    raise MachineError(
        f"The memory of {machine_id} cannot be read.",
        resolution="Run this as root, on the host of the hypervisor container.",
    )


def _acquire(fleet: LocalFleet, kind: Kind) -> Lease:
    return fleet.acquire({ROLE: kind})


def _sweep_pool(fleet: LocalFleet) -> None:
    """Use up the forks that stand by."""
    while fleet.count_standing_by(Kind.DESKTOP):
        fleet.acquire({ROLE: Kind.DESKTOP}).release()
        fleet.settle()
