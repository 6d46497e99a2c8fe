"""Reserves the host's memory for machines, so that it is never overcommitted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.fleet.ledger import Ledger
    from provisioning.resource import ResourceSpec

HOST_MIB = 2048
"""Memory kept for the host itself, Docker, the services and Prometheus; never reserved for machines."""

_SPARE_MIB = 1024
"""Memory that must be available beyond what a new machine may use."""

_MIN_HYPERVISOR_MIB = 1024
_MEMINFO = Path("/proc/meminfo")


def memory_mib(meminfo: Path = _MEMINFO) -> tuple[int, int]:
    """Return the host's total memory, and the memory available without swapping, MiB.

    Source: proc(5), ``MemTotal`` and ``MemAvailable``.
    """
    sizes_kib = dict(
        re.findall(r"^(MemTotal|MemAvailable):\s+(\d+) kB$", meminfo.read_text(), re.MULTILINE)
    )
    return int(sizes_kib.get("MemTotal", 0)) >> 10, int(sizes_kib.get("MemAvailable", 0)) >> 10


def budgeted_mib(
    machines_mib: int, memory: Callable[[], tuple[int, int]] = memory_mib
) -> tuple[int, int]:
    """Return total and available memory of a host whose machines have a budget, MiB.

    Args:
        machines_mib: memory that all machines may use together; 0 is all of the host's.
        memory: returns the host's total and available memory, MiB.
    """
    total_mib, available_mib = memory()
    if machines_mib:
        total_mib = min(total_mib, machines_mib + HOST_MIB)
    return total_mib, available_mib


def hypervisor_limit_mib(total_mib: int) -> int:
    """Return the memory limit of all desktop VMs together, at least what machines are promised, MiB.

    Args:
        total_mib: memory of the host.
    """
    return max(total_mib - HOST_MIB, total_mib // 2, _MIN_HYPERVISOR_MIB)


class Allocation:
    """Reserves memory: all reservations together stay below the host's memory.

    A reservation counts from before a machine is made until it has ended, whether the machine
    uses the memory or not. Requests that do not fit wait, in the order of the ledger.

    Args:
        ledger: holds the reservations.
        memory: returns the host's total and available memory, MiB.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        memory: Callable[[], tuple[int, int]] = memory_mib,
    ) -> None:
        self._ledger = ledger
        self._memory = memory

    def try_reserve(
        self, lease_id: str, needs: Sequence[tuple[ResourceSpec, int]]
    ) -> list[int] | None:
        """Reserve memory for machines to be made: for all of them or for none.

        Args:
            lease_id: the lease to reserve for.
            needs: specification and MiB of each machine.

        Returns:
            The number of each reservation, or None if they do not fit.
        """
        needed_mib = sum(mib for _spec, mib in needs)
        total_mib, available_mib = self._memory()
        # In addition to reservations: other programs may use more than the host's share.
        if needed_mib + _SPARE_MIB > available_mib:
            return None
        rows = [(spec.key, mib) for spec, mib in needs]
        return self._ledger.reserve(lease_id, rows, limit_mib=total_mib - HOST_MIB)

    def free_mib(self) -> int:
        """Return the memory that could be reserved now, MiB."""
        total_mib, available_mib = self._memory()
        reserved_mib = sum(row.reserved_mib for row in self._ledger.machines())
        return max(0, min(available_mib - _SPARE_MIB, total_mib - HOST_MIB - reserved_mib))

    def has_turn(self, lease_id: str, spec: ResourceSpec | None = None) -> bool:
        """Return whether no earlier lease is waiting.

        Args:
            lease_id: the requesting lease.
            spec: counts only leases that wait for this specification; by default, all that wait.
        """
        for row in self._ledger.leases():
            if row.lease_id == lease_id:
                break
            if row.is_waiting and (spec is None or spec.key in row.specs):
                return False
        return True

    def require_possible(self, needs: Sequence[tuple[ResourceSpec, int]]) -> None:
        """Check that machines would fit if nothing else ran.

        Raises:
            MachineError: they would not fit.
        """
        if sum(mib for _spec, mib in needs) > self._memory()[0] - HOST_MIB:
            raise self.no_memory(needs, "This exceeds the host's memory even if nothing else runs.")

    def waiting(self) -> list[str]:
        """Return the specifications, as text, of the machines that leases wait for."""
        return [key for row in self._ledger.leases() if row.is_waiting for key in row.specs]

    def describe_wait(self, specs: Sequence[ResourceSpec]) -> str:
        """Describe in one line what a lease waits for."""
        reserved_mib = sum(row.reserved_mib for row in self._ledger.machines())
        return (
            f"waiting for a {' and a '.join(map(str, specs))}: {reserved_mib} MiB of "
            f"{self._memory()[0]} are reserved for machines (`mesocosm machine list`)"
        )

    def no_memory(self, needs: Sequence[tuple[ResourceSpec, int]], why: str) -> MachineError:
        """Return the error for machines that do not fit."""
        reserved_mib = sum(row.reserved_mib for row in self._ledger.machines())
        total_mib, available_mib = self._memory()
        wanted = ", ".join(f"{mib} MiB for a {spec}" for spec, mib in needs)
        return MachineError(
            f"There is not enough memory for another {needs[0][0]}.",
            details=f"Needed: {wanted}. Of {total_mib} MiB, {reserved_mib} are reserved for machines, "
            f"{HOST_MIB} for the host; {available_mib} MiB are available. {why}",
            resolution="Run fewer trials at once, stop machines (`mesocosm machine list`), or lower "
            "MESOCOSM_FORK_RESERVE_MIB.",
        )
