"""Gauges of the fleet: held and waiting leases, reserved memory, standby forks."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError
from monitoring.gauges import Gauge
from provisioning.desktop.qemu.template import templates_dir
from provisioning.fleet.allocation import memory_mib
from provisioning.fleet.ledger import FILE, Ledger
from provisioning.fleet.warm_pool import kept_pool_size
from provisioning.machine_state import MachineState
from provisioning.registry import registry
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.fleet.ledger import LeaseRow

_MIB = 1 << 20
_log = logging.getLogger(__name__)


def fleet_gauges(
    settings: Settings, machines: Mapping[tuple[str, str], int], clock: Clock
) -> list[Gauge]:
    """Return the gauges of leases, memory and pool.

    Args:
        settings: of the appliance.
        machines: number of machines by kind and state.
        clock: measures how long leases have been waiting.
    """
    return [*_leases(settings, clock), *_memory(), *_pool(settings, machines)]


def _leases(settings: Settings, clock: Clock) -> list[Gauge]:
    """Return gauges of the ledger; none if it does not exist yet or cannot be read."""
    path = settings.state_dir / FILE
    if not path.exists():
        return []
    try:
        ledger = Ledger(path)
        leases, promises = ledger.leases(), ledger.machines()
    except MesocosmError as exc:
        _log.warning("leases have no metrics: %s", exc)
        return []
    asked = [row for row in leases if row.specs]  # leases without machines fill the pool
    waiting = [row for row in asked if row.is_waiting]
    counts: dict[tuple[str, ...], float] = {
        ("held",): len(asked) - len(waiting),
        ("waiting",): len(waiting),
    }
    reserved = sum(row.reserved_mib for row in promises) * _MIB
    return [
        Gauge("leases", "Leases by state: held or waiting for machines.", counts, ("state",)),
        Gauge(
            "lease_longest_wait_seconds",
            "How long the longest waiting lease has been waiting; 0 if none is.",
            {(): _longest_wait_s(waiting, clock)},
        ),
        Gauge("memory_reserved_bytes", "Memory that machines may use.", {(): reserved}),
    ]


def _longest_wait_s(waiting: list[LeaseRow], clock: Clock) -> float:
    first_s = min((row.created_s for row in waiting), default=clock.now_s())
    return max(0.0, clock.now_s() - first_s)


def _memory() -> list[Gauge]:
    total_mib, available_mib = memory_mib()
    return [
        Gauge("memory_total_bytes", "Memory of the host.", {(): total_mib * _MIB}),
        Gauge(
            "memory_available_bytes",
            "Memory of the host that is available without swapping.",
            {(): available_mib * _MIB},
        ),
    ]


def _pool(settings: Settings, machines: Mapping[tuple[str, str], int]) -> list[Gauge]:
    """Return the actual and the wanted number of standby forks; nothing if there can be none."""
    kind = DESKTOP
    has_desktop = any(machine_kind == kind for machine_kind, _state in machines)
    if not _can_fork(settings, has_desktop=has_desktop):
        return []
    standing_by = machines.get((kind, MachineState.WAITING.value), 0)
    return [
        Gauge(
            "pool_wanted",
            "Wanted number of standby forks, if memory allows; 0 in reset mode rewind.",
            {(kind,): kept_pool_size(settings)},
            ("kind",),
        ),
        Gauge("pool_standing_by", "Standby forks.", {(kind,): standing_by}, ("kind",)),
    ]


def _can_fork(settings: Settings, *, has_desktop: bool) -> bool:
    match registry().chosen(DESKTOP, settings).forked_from:
        case "template":
            folder = templates_dir(settings)
            return folder.is_dir() and any(path.is_dir() for path in folder.iterdir())
        case "machine":
            return has_desktop
        case "nothing":
            return False
