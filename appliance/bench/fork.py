"""Measure lease times of standby desktops, cold forks, boots and phones, and their density."""

from __future__ import annotations

import contextlib
import re
import statistics
from typing import TYPE_CHECKING

from appliance.bench.rows import Row, phase_means
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineError
from provisioning.desktop.qemu.process import PROC, find_qemu
from provisioning.resource import DESKTOP, PHONE, WORLD, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from foundation.clock import Clock
    from provisioning.fleet.local import LocalFleet
    from provisioning.lease import Lease
    from provisioning.protocols import ResetReport

    Tick = Callable[[str], None]

ROLE = "it"
MAX_PING_S = 0.05
_DESKTOP, _PHONE, _WORLD = ResourceSpec(DESKTOP), ResourceSpec(PHONE), ResourceSpec(WORLD)
_COLD_SHARE = 5
_BOOT_SHARE = 50


def bench_fork(
    warm: LocalFleet,
    cold: LocalFleet,
    count: int,
    tick: Tick,
    *,
    image: str = "",
    has_world: bool = False,
    clock: Clock = SYSTEM_CLOCK,
) -> Generator[Row]:
    """Acquire and release machines sequentially.

    Args:
        warm: a fleet that forks desktops and keeps one on standby.
        cold: a fleet that forks desktops and keeps none on standby.
        count: leases per row; a fifth as many cold forks, a fiftieth as many boots.
        tick: called with the row's name after each sample.
        image: image of the desktops, of which only forks are measured; by default the appliance's,
            and phones and boots are measured, too.
        has_world: measure only leases of a desktop, without and with a world beside it.
        clock: for measuring.

    Raises:
        MesocosmError: there is no template and none can be created.
    """
    desktop = ResourceSpec(DESKTOP, image)
    beside = [_WORLD] if has_world else [] if image else [_PHONE]
    warm.prepare([desktop, *beside])
    yield from _leases(warm, [desktop], "fork", count=count, tick=tick, clock=clock)
    if has_world:
        both = [desktop, _WORLD]
        yield from _leases(warm, both, "fork with world", count=count, tick=tick, clock=clock)
        return
    if not image:
        yield from _leases(warm, [_PHONE], "phone", count=count, tick=tick, clock=clock)
    row = Row("cold fork", "Fleet.acquire with none on standby: overlay, QEMU, state; verified")
    yield row
    _sweep_pool(cold, desktop)
    for _ in range(max(1, count // _COLD_SHARE)):
        with contextlib.ExitStack() as stack:
            row.measure(
                lambda: stack.enter_context(_acquire(cold, [desktop])), clock
            )  # called at once
        cold.wait_for_jobs()
        tick(row.name)
    if not image:
        yield from _boots(cold, count, tick, clock=clock)


def _boots(cold: LocalFleet, count: int, tick: Tick, *, clock: Clock) -> Generator[Row]:
    row = Row("cold boot", "overlay, QEMU, boot, probe; until saved as `ready`")
    yield row
    for _ in range(max(1, count // _BOOT_SHARE)):
        with contextlib.ExitStack() as stack:

            def make() -> None:
                handle = cold.make(_DESKTOP)
                stack.enter_context(handle.temporary())  # called at once

            row.measure(make, clock)
        tick(row.name)


def _leases(
    fleet: LocalFleet,
    specs: Sequence[ResourceSpec],
    name: str,
    *,
    count: int,
    tick: Tick,
    clock: Clock,
) -> Generator[Row]:
    """Repeatedly acquire and release resources, always with one of each on standby."""
    lease = Row(f"{name} lease", "Fleet.acquire with one on standby, until verified ready")
    release = Row(f"{name} release", "what the holder waits for on release")
    reports: list[ResetReport] = []
    yield from (lease, release)
    try:
        for _ in range(count):
            for spec in specs:
                fleet.fill(spec)
            fleet.wait_for_jobs()
            taken: list[Lease] = []
            if lease.measure(lambda: taken.append(_acquire(fleet, specs)), clock):  # noqa: B023  # called at once
                reports.append(taken[0].environment.resets[ROLE])
                release.measure(taken[0].release, clock)
            tick(lease.name)
    finally:
        fleet.wait_for_jobs()
        lease.extra |= phase_means(reports)


def bench_density(
    fleet: LocalFleet, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Lease desktops at once; measure their proportional memory and how quickly each answers.

    Args:
        fleet: a fleet that forks desktops and keeps none on standby.
        count: number of concurrent leases.
        tick: called with the row's name after each sample.
        clock: for measuring.

    Raises:
        MesocosmError: there is no template and none can be created, or not enough memory.
    """
    fleet.prepare([_DESKTOP])
    _sweep_pool(fleet, _DESKTOP)
    row = Row("density", f"{count} desktops at once; seconds per ping to each")
    yield row
    with contextlib.ExitStack() as stack:
        machines = []
        for _ in range(count):
            lease = stack.enter_context(_acquire(fleet, [_DESKTOP]))
            machines.append(lease.environment.machines[ROLE])
            tick(row.name)
        for machine in machines:
            row.measure(lambda: machine.link.call("ping"), clock)  # noqa: B023  # called at once
        used = [proportional_mib(machine.info.machine_id) for machine in machines]
    fleet.wait_for_jobs()
    row.extra["pings_over_50_ms"] = sum(seconds > MAX_PING_S for seconds in row.samples_s)
    row.extra["pss_mean_mib"] = statistics.fmean(used)
    row.extra["pss_max_mib"] = max(used)
    row.extra["pss_sum_mib"] = sum(used)


def bench_leases(
    fleet: LocalFleet, duration_s: float, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Repeatedly acquire a desktop, execute one action on it, and release it.

    Args:
        fleet: configured by the appliance's settings.
        duration_s: how long to repeat.
        tick: called with the row's name after each sample.
        clock: for measuring.

    Raises:
        MesocosmError: no desktop can be created.
    """
    fleet.prepare([_DESKTOP])
    row = Row("lease and action", "Fleet.acquire, one pointer move, release")
    yield row
    start_s = clock.monotonic_s()

    def use() -> None:
        with _acquire(fleet, [_DESKTOP]) as lease:
            lease.environment.machines[ROLE].input.move(100, 100)

    while clock.monotonic_s() - start_s < duration_s:
        row.measure(use, clock)
        tick(row.name)
        row.extra["per_hour"] = len(row.samples_s) * 3600 / (clock.monotonic_s() - start_s)
    fleet.wait_for_jobs()


def proportional_mib(machine_id: str, proc: Path = PROC) -> float:
    """Return the memory of a domain's QEMU in MiB, with shared pages divided by their users.

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
        f"Cannot read the memory of {machine_id}.",
        resolution="Run this as root, on the host of the hypervisor container.",
    )


def _acquire(fleet: LocalFleet, specs: Sequence[ResourceSpec]) -> Lease:
    """Acquire resources, the first of which has the role `ROLE`."""
    first, *others = specs
    return fleet.acquire({ROLE: first, **{spec.kind: spec for spec in others}})


def _sweep_pool(fleet: LocalFleet, spec: ResourceSpec) -> None:
    """Use up the standby forks of a specification."""
    while fleet.count_standby(spec):
        fleet.acquire({ROLE: spec}).release()
        fleet.wait_for_jobs()
