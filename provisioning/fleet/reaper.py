"""Take back what dead and late holders have, and remove what is of no use."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from appliance.base.files import FileLock
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from provisioning.fleet.inventory import Inventory
    from provisioning.fleet.ledger import LeaseRow, Ledger
    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.protocols import Kind

_KEPT_IDLE = 1
_STAND = frozenset({MachineState.WAITING, MachineState.KEPT})
"""States of forks that run although nobody holds them."""
_ENDED = "its process ended"


def lease_lock(settings: Settings, lease_id: str) -> Path:
    """Return the path of the lock that the holder of a lease on this host has."""
    return settings.run_dir / "leases" / f"{lease_id}.lock"


class Reaper:
    """Ends leases whose holder died or did not renew them, and sweeps up machines.

    Args:
        settings: where locks are.
        inventory: of the machines.
        ledger: of the leases.
        clock: says which leases have expired.
    """

    def __init__(
        self, settings: Settings, inventory: Inventory, ledger: Ledger, *, clock: Clock
    ) -> None:
        self._settings = settings
        self._inventory = inventory
        self._ledger = ledger
        self._clock = clock

    def reap(self) -> list[str]:
        """End the leases of dead and late holders; returns their ids.

        A dead holder's saved machine goes back to the others, who rewind it. Its fork is destroyed,
        and so is every machine of a holder that lives and is late: it may still talk to it.
        """
        ended = []
        for row in self._ledger.leases():
            is_expired = row.expires_s <= self._clock.now_s()
            if is_expired or not self._is_alive(row):
                self._end(row.lease_id, is_expired=is_expired)
                ended.append(row.lease_id)
        self._reconcile()
        return ended

    def expire(self, lease_id: str) -> bool:
        """End a lease whose time is over; returns whether it was still in the ledger."""
        return self._end(lease_id, is_expired=True)

    def sweep(self) -> list[str]:
        """Remove what nobody uses and nobody can use, and surplus idle machines.

        Machines that are whole stay, one a kind at least. Returns one line for each machine that
        was removed.
        """
        self.reap()
        removed = []
        idle: dict[Kind, int] = {}
        for folder in self._inventory.folders():
            claim = folder.claim()
            if claim is None:
                continue
            try:
                if reason := self._reason_to_remove(folder, idle):
                    self._inventory.destroy(folder)
                    removed.append(f"{folder.machine_id}: {reason}")
            finally:
                claim.release()
        return removed + self._inventory.remove_strays()

    def trim(self, keep: int, idle_s: float) -> list[str]:
        """Remove idle machines beyond a number of each kind and image; returns one line for each.

        Args:
            keep: how many of an image stay, saved ones and forks apart; one at least.
            idle_s: only those that nobody used for so long go.
        """
        removed = []
        seen: Counter[tuple[Kind, str, bool]] = Counter()
        for folder in self._inventory.folders():
            record = folder.read()
            if record is None or record.state not in {MachineState.READY, MachineState.WAITING}:
                continue
            group = (record.kind, record.image, record.is_fork)
            seen[group] += 1
            is_surplus = seen[group] > max(_KEPT_IDLE, keep)
            if not is_surplus or self._clock.now_s() - folder.changed_s() < idle_s:
                continue
            if claim := folder.claim():
                try:
                    self._inventory.destroy(folder)
                finally:
                    claim.release()
                removed.append(f"{folder.machine_id}: nobody used it for {idle_s:g} s")
        return removed

    def remove_ended(self) -> list[str]:
        """Remove forks that nobody uses and whose process or lease ended; returns one line for each.

        Where the host of a fork does not answer, the fork stays.
        """
        self.reap()
        removed = []
        for folder in self._inventory.folders():
            if not self._ended_reason(folder) or (claim := folder.claim()) is None:
                continue
            try:
                if reason := self._ended_reason(folder):  # it may have changed until claimed
                    self._inventory.destroy(folder)
                    removed.append(f"{folder.machine_id}: {reason}")
            finally:
                claim.release()
        return removed

    def _ended_reason(self, folder: MachineFolder) -> str:
        """Return why a fork is of no use any more; empty where it is none, or runs."""
        record = folder.read()
        if record is None or not record.is_fork or record.state is MachineState.STARTING:
            return ""
        return self._reason_to_end(record)

    def _is_alive(self, row: LeaseRow) -> bool:
        """Return whether a lease's holder has its lock; one on another host only expires."""
        path = lease_lock(self._settings, row.lease_id)
        return not path.is_file() or FileLock(path).is_taken()

    def _end(self, lease_id: str, *, is_expired: bool) -> bool:
        machines = self._ledger.machines(lease_id)
        if not self._ledger.remove_lease(lease_id):
            return False  # another process was quicker, or its holder
        for row in machines:
            if not row.machine_id:
                continue
            folder = self._inventory.folder(row.machine_id)
            record = folder.read()
            if is_expired or record is None or record.is_fork:
                self._inventory.destroy(folder)
        for path in lease_lock(self._settings, lease_id).parent.glob(f"{lease_id}.*"):
            path.unlink(missing_ok=True)
        return True

    def _reconcile(self) -> None:
        """Reserve memory for machines that the ledger does not know, and free that of lost ones."""
        known = {row.machine_id: row for row in self._ledger.machines() if row.machine_id}
        folders = {folder.machine_id: folder for folder in self._inventory.folders()}
        for machine_id, row in known.items():
            folder = folders.get(machine_id)
            if folder is None or (not row.lease_id and self._is_stopped(folder)):
                self._ledger.free(machine_id)
        for machine_id in folders.keys() - known.keys():
            record = folders[machine_id].read()
            # Memory of what is being made was reserved under no name yet.
            if record is not None and record.state is not MachineState.STARTING:
                mib = self._inventory.reserved_mib(record)
                if mib:
                    self._ledger.note(machine_id, record.kind.value, mib)

    def _is_stopped(self, folder: MachineFolder) -> bool:
        record = folder.read()
        return record is not None and record.state is MachineState.STOPPED

    def _reason_to_remove(self, folder: MachineFolder, idle: dict[Kind, int]) -> str:
        record = folder.read()
        if record is None:
            return "it has no record that can be read"
        if not self._inventory.has_backend(record):
            return ""
        if record.state is MachineState.STARTING:
            return "it was left starting"
        if not self._inventory.is_offered(record):
            return ""
        if not self._inventory.fits(record):
            return "its image is no longer current"
        if record.is_fork:
            return self._reason_to_end(record)
        idle[record.kind] = idle.get(record.kind, 0) + 1
        if record.state is MachineState.LEASED:
            folder.mark(MachineState.READY)
        return "there are more idle ones than needed" if idle[record.kind] > _KEPT_IDLE else ""

    def _reason_to_end(self, record: MachineRecord) -> str:
        if record.state not in _STAND:
            return "its lease ended"
        return "" if self._inventory.is_up(record) else _ENDED
