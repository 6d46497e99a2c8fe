"""How long until a new desktop is there: forks beside a boot; and how many fit into memory."""

from __future__ import annotations

import contextlib
import re
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import MachineError
from appliance.bench.rows import Row, phase_means

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from appliance.base.clock import Clock
    from provisioning.desktop.qemu.backend import QemuBackend
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.fleet.handle import MachineHandle
    from provisioning.protocols import ResetReport

    Tick = Callable[[str], None]

_COLD_SHARE = 5
_BOOT_SHARE = 50
_PROC = Path("/proc")


def bench_fork(
    backend: QemuBackend, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Lease and destroy forks one after the other.

    Args:
        backend: of desktops.
        count: how many leases of a fork that stands by; a fifth as many cold ones, and a fiftieth
            as many boots beside them.
        tick: told the name of each row after each sample.
        clock: measures.

    Raises:
        MesocosmError: there is no template and none can be made.
    """
    _ensure_template(backend)
    lease = Row("fork lease", "stands by; to verified ready: state, clock, seed, identity")
    cold = Row("fork cold", "overlay, QEMU, state; to verified ready")
    boot = Row("cold boot", "overlay, QEMU, boot, probe; to saved as `ready`")
    reports: list[ResetReport] = []
    yield lease
    try:
        for _ in range(count):
            with _stand_by(backend).temporary() as fork:
                lease.measure(lambda: reports.append(backend.wake(fork)), clock)  # called at once
            tick(lease.name)
    finally:
        lease.extra |= phase_means(reports)
    yield cold
    for _ in range(max(1, count // _COLD_SHARE)):
        with contextlib.ExitStack() as stack:

            def start() -> None:
                fork = stack.enter_context(_stand_by(backend).temporary())  # called at once
                backend.wake(fork)

            cold.measure(start, clock)
        tick(cold.name)
    yield boot
    for _ in range(max(1, count // _BOOT_SHARE)):
        with contextlib.ExitStack() as stack:

            def make() -> None:
                handle = backend.make(lambda _words: None)
                stack.enter_context(handle.temporary())  # called at once

            boot.measure(make, clock)
        tick(boot.name)


def bench_density(
    backend: QemuBackend, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Run forks at once; their proportional memory, and how quickly each then answers.

    Args:
        backend: of desktops.
        count: how many run at once.
        tick: told the name of the row after each sample.
        clock: measures.

    Raises:
        MesocosmError: there is no template and none can be made, or a fork failed.
    """
    _ensure_template(backend)
    row = Row("density", f"{count} forks at once; seconds of a ping to each")
    yield row
    with contextlib.ExitStack() as stack:
        forks = []
        for _ in range(count):
            fork = stack.enter_context(_stand_by(backend).temporary())
            backend.wake(fork)
            forks.append(fork)
            tick(row.name)
        for fork in forks:
            row.measure(lambda: fork.link.call("ping"), clock)  # noqa: B023  # called at once
        used = [proportional_mib(fork.info.machine_id) for fork in forks]
    row.extra["pss_mean_mib"] = statistics.fmean(used)
    row.extra["pss_max_mib"] = max(used)
    row.extra["pss_sum_mib"] = sum(used)


def proportional_mib(machine_id: str, proc: Path = _PROC) -> float:
    """Give the memory of a domain's QEMU, shared pages divided by their users, MiB.

    Source: proc(5), ``smaps_rollup``, ``Pss``.

    Raises:
        MachineError: no such QEMU runs on this host.
    """
    for folder in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (folder / "cmdline").read_bytes()
            if f"guest={machine_id},".encode() not in command:
                continue
            text = (folder / "smaps_rollup").read_text()
            found = re.search(r"^Pss:\s+(\d+) kB$", text, flags=re.MULTILINE)
            if found:
                return int(found[1]) / 1024
    raise MachineError(
        f"The memory of {machine_id} cannot be read.",
        resolution="Run this as root, on the host of the hypervisor container.",
    )


def _ensure_template(backend: QemuBackend) -> None:
    """Make a desktop, and with it the template, where there is none."""
    fork = backend.stand_by()
    handle = backend.make(lambda _words: None) if fork is None else fork
    handle.delete()


def _stand_by(backend: QemuBackend) -> MachineHandle[DesktopVm]:
    fork = backend.stand_by()
    if fork is None:
        raise MachineError("There is no template to fork from.", resolution="Run `mesocosm up`.")
    return fork
