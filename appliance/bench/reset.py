"""Measure how long resetting a used machine takes: our rewind compared with libvirt's revert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.bench.fork import proportional_mib
from appliance.bench.rows import Row, phase_means
from foundation.clock import SYSTEM_CLOCK
from provisioning.handle import as_machine
from provisioning.protocols import READY, StateReporting
from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from foundation.clock import Clock
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.fleet.backend import Backend
    from provisioning.handle import HostMachine
    from provisioning.phone.reference.machine import ReferencePhone
    from provisioning.protocols import ResetReport

    Tick = Callable[[str], None]

_DIRT_MIB = 8
_COMPARED_SHARE = 10
_COMPARED_LEAST = 5
_WARM_SHARE = 5
_REVERT_TIMEOUT_S = 60.0
_CHECKPOINT = "compared"


def bench_desktop(
    backend: Backend, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Dirty and rewind one desktop `count` times, then revert it with libvirt a tenth as often.

    After dirtying, the state is captured, as at the end of a trial. For the revert, the machine is
    restarted with anonymous host memory as its RAM, as libvirt's machines have it.

    The machine is created for this and then deleted; dirtying it is not timed.

    Args:
        backend: of desktops.
        count: number of rewinds.
        tick: called with the row's name after each sample.
        clock: for measuring.

    Raises:
        MesocosmError: the machine cannot be created, or does not answer between two samples.
    """
    machine_handle = backend.make(lambda _message: None)
    machine = as_machine(machine_handle.machine)
    try:
        rewind = Row("rewind", "RAM and devices in the running QEMU, clock, seed, state comparison")
        yield rewind
        effects = Row(
            "state taken", "files, settings and processes, for the side effects of a trial"
        )
        yield effects
        growth = _Growth(machine, rewind, after=count // _WARM_SHARE)

        def dirty() -> None:
            growth.look()
            _dirty(machine)
            if isinstance(machine, StateReporting):
                effects.measure(machine.summarize, clock)

        _rewinds(machine, rewind, dirty, count=count, tick=tick, clock=clock)
        growth.look()
        revert = Row("libvirt revert + SSH", "libvirt's revert (in a new QEMU), then an SSH login")
        yield revert
        _reverts(machine, revert, max(_COMPARED_LEAST, count // _COMPARED_SHARE), tick, clock)
    finally:
        machine_handle.delete()


def bench_phone(
    backend: Backend, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Dirty and rewind one reference phone `count` times.

    Raises:
        MesocosmError: the phone cannot be created.
    """
    machine_handle = backend.make(lambda _message: None)
    machine: ReferencePhone = machine_handle.machine  # type: ignore[assignment]
    try:
        row = Row("phone rewind", "reference phone: console load, state comparison")
        yield row

        def dirty() -> None:
            machine.shell("settings put system bench 1; input keyevent HOME", timeout_s=10.0)

        _rewinds(machine, row, dirty, count=count, tick=tick, clock=clock)
    finally:
        machine_handle.delete()


def _rewinds(
    machine: HostMachine,
    row: Row,
    dirty: Callable[[], None],
    *,
    count: int,
    tick: Tick,
    clock: Clock,
) -> None:
    reports: list[ResetReport] = []
    try:
        for _ in range(count):
            dirty()
            row.measure(lambda: reports.append(machine.snapshots.rewind(READY)), clock)
            tick(row.name)
    finally:
        row.extra |= phase_means(reports)


def _dirty(machine: HostMachine) -> None:
    """Write to the disk, change a setting and leave a process running, as a task would."""
    script = (
        f"head -c {_DIRT_MIB}M /dev/urandom > ~/dirt; sync; "
        "gsettings set org.gnome.desktop.interface color-scheme prefer-dark; "
        "setsid sleep 1000 > /dev/null 2>&1 &"
    )
    machine.link.call(
        "exec",
        {"argv": ["/bin/sh", "-c", script], "user": "user", "timeout_s": 30.0},
        timeout_s=40.0,
    )


class _Growth:
    """Tracks how QEMU's memory and disk grow over many rewinds.

    The first measurements are skipped: QEMU's memory grows until it has seen all guest activity.

    Args:
        machine: a desktop VM.
        row: receives ``qemu_first_mib`` and ``qemu_last_mib``, proportional memory, and the growth
            between them in percent, and the same for the disk's size.
        after: number of measurements to skip.
    """

    def __init__(self, machine: HostMachine, row: Row, *, after: int) -> None:
        self._machine = machine
        self._row = row
        self._left = after

    def look(self) -> None:
        """Measure once."""
        self._left -= 1
        if self._left >= 0:
            return
        disk = self._machine.folder.path / "disk.qcow2"
        looks = {
            "qemu": proportional_mib(self._machine.info.machine_id),
            "disk": disk.stat().st_blocks * 512 / 2**20,
        }
        for what, mib in looks.items():
            first_mib = self._row.extra.setdefault(f"{what}_first_mib", mib)
            self._row.extra[f"{what}_last_mib"] = mib
            self._row.extra[f"{what}_growth_percent"] = 100 * (mib / first_mib - 1)


def _reverts(machine: HostMachine, row: Row, count: int, tick: Tick, clock: Clock) -> None:
    vm: DesktopVm = machine  # type: ignore[assignment]
    name = vm.info.machine_id
    vm.stop()
    vm.launch(paused=True)
    vm.hypervisor.monitor(name, f"loadvm {READY}")
    vm.hypervisor.resume(name)
    vm.hypervisor.checkpoint(name, _CHECKPOINT)
    for _ in range(count):
        _dirty(vm)
        vm.release()

        def revert() -> None:
            vm.hypervisor.revert(name, _CHECKPOINT)
            with vm.ssh(timeout_s=_REVERT_TIMEOUT_S) as session:
                session.run(["/bin/true"], timeout_s=_REVERT_TIMEOUT_S).require()

        row.measure(revert, clock)
        tick(row.name)


KINDS = {DESKTOP: bench_desktop, PHONE: bench_phone}
"""The benchmark of each kind of machine."""
