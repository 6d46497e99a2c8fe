"""Reserve the host's memory for machines, so that none of it is promised twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.fleet.ledger import Ledger
    from provisioning.protocols import Kind

HOST_MIB = 1024
"""Memory that is never promised to machines: the host's own."""

_MEMINFO = Path("/proc/meminfo")


def memory_mib(meminfo: Path = _MEMINFO) -> tuple[int, int]:
    """Return the host's memory, and what of it is available without swapping, MiB.

    Source: proc(5), ``MemTotal`` and ``MemAvailable``.
    """
    sizes_kib = dict(
        re.findall(r"^(MemTotal|MemAvailable):\s+(\d+) kB$", meminfo.read_text(), re.MULTILINE)
    )
    return int(sizes_kib.get("MemTotal", 0)) >> 10, int(sizes_kib.get("MemAvailable", 0)) >> 10


class Allocation:
    """Promises memory: all promises together stay below what the host has.

    A promise counts from before a machine is made until it has ended, whether the machine uses
    the memory or not. Whoever asks for what does not fit waits, in the order of the ledger.

    Args:
        ledger: where promises stand.
        memory: measures the host: total and available, MiB.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        memory: Callable[[], tuple[int, int]] = memory_mib,
    ) -> None:
        self._ledger = ledger
        self._memory = memory

    def try_reserve(self, lease_id: str, needs: Sequence[tuple[Kind, int]]) -> list[int] | None:
        """Reserve memory for machines to be made, all of it or none.

        Args:
            lease_id: for whom.
            needs: kind and MiB of each machine.

        Returns:
            The number of each reservation, or None if they do not fit.
        """
        needed_mib = sum(mib for _kind, mib in needs)
        total_mib, available_mib = self._memory()
        # Beside what is promised: other programs of the host may use more than their share.
        if needed_mib + HOST_MIB > available_mib:
            return None
        rows = [(kind.value, mib) for kind, mib in needs]
        return self._ledger.reserve(lease_id, rows, limit_mib=total_mib - HOST_MIB)

    def has_turn(self, lease_id: str, kind: Kind | None = None) -> bool:
        """Return whether nobody waits who asked before this lease.

        Args:
            lease_id: who asks.
            kind: counts only those who wait for this kind; all who wait by default.
        """
        for row in self._ledger.leases():
            if row.lease_id == lease_id:
                break
            if row.is_waiting and (kind is None or kind.value in row.kinds):
                return False
        return True

    def require_possible(self, needs: Sequence[tuple[Kind, int]]) -> None:
        """Check that machines would fit if nothing else ran.

        Raises:
            MachineError: they would not.
        """
        if sum(mib for _kind, mib in needs) > self._memory()[0] - HOST_MIB:
            raise self.no_memory(
                needs, "That is more than there is, even with nothing else running."
            )

    def waiting(self) -> list[str]:
        """Return the kinds of the machines that somebody waits for."""
        return [kind for row in self._ledger.leases() if row.is_waiting for kind in row.kinds]

    def describe_wait(self, kinds: Sequence[Kind]) -> str:
        """Return in one line what somebody waits for."""
        promised_mib = sum(row.reserved_mib for row in self._ledger.machines())
        return (
            f"waiting for a {' and a '.join(kind.value for kind in kinds)}: {promised_mib} MiB of "
            f"{self._memory()[0]} are reserved for machines (`mesocosm machine list`)"
        )

    def no_memory(self, needs: Sequence[tuple[Kind, int]], why: str) -> MachineError:
        """Return the error for machines that do not fit."""
        promised_mib = sum(row.reserved_mib for row in self._ledger.machines())
        total_mib, available_mib = self._memory()
        wanted = ", ".join(f"{mib} MiB for a {kind.value}" for kind, mib in needs)
        return MachineError(
            f"There is no memory for another {needs[0][0].value}.",
            details=f"Wanted: {wanted}. Of {total_mib} MiB, {promised_mib} are reserved for machines, "
            f"{HOST_MIB} for the host; {available_mib} are available. {why}",
            resolution="Run fewer trials at once, stop machines (`mesocosm machine list`), or lower "
            "MESOCOSM_FORK_RESERVE_MIB.",
        )
