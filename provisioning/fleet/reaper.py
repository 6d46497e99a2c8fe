"""Ends the leases of dead or late holders, and removes machines that are of no use."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from foundation.files import FileLock
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.fleet.inventory import Inventory
    from provisioning.fleet.ledger import LeaseRow, Ledger
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)

_KEPT_IDLE = 1
_STANDBY_STATES = frozenset({MachineState.WAITING, MachineState.KEPT})
"""States of forks that run without a holder."""
_ENDED = "its process ended"
_UNFINISHED = "it was left starting"
_CLAIMED_S = 60.0
"""Age of a folder after which whoever created it has claimed it, or is dead."""


def lease_lock(settings: Settings, lease_id: str) -> Path:
    """Return the path of the lock file that a lease's holder on this host keeps locked."""
    return settings.run_dir / "leases" / f"{lease_id}.lock"


class Reaper:
    """Ends leases whose holder died or did not renew them, and removes unusable machines.

    Args:
        settings: locates the lock files.
        inventory: inventory of the machines.
        ledger: ledger of the leases.
        clock: determines which leases have expired.
    """

    def __init__(
        self, settings: Settings, inventory: Inventory, ledger: Ledger, *, clock: Clock
    ) -> None:
        self._settings = settings
        self._inventory = inventory
        self._ledger = ledger
        self._clock = clock

    def reap(self) -> list[str]:
        """End the leases of dead and late holders; return the leases' ids.

        A dead holder's saved machines become available again, and its forks are destroyed. All
        machines of a late holder that is still alive are destroyed, as it may still use them.
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
        """End an expired lease; return whether it was still in the ledger."""
        return self._end(lease_id, is_expired=True)

    def sweep(self) -> list[str]:
        """Remove unusable machines that nobody uses, and surplus idle machines.

        At least one usable machine of each specification stays. Returns one line for each removed machine.
        """
        self.reap()
        removed = []
        idle: dict[ResourceSpec, int] = {}
        for folder in self._inventory.folders():
            claim = folder.claim()
            if claim is None:
                continue
            try:
                if reason := self._reason_to_remove(folder, idle):
                    _log.info("%s: %s", folder.machine_id, reason)
                    self._inventory.destroy(folder)
                    removed.append(f"{folder.machine_id}: {reason}")
            finally:
                claim.release()
        return removed + self._inventory.remove_strays()

    def trim(self, keep: int, idle_s: float) -> list[str]:
        """Remove surplus idle machines of each kind and image; return one line for each.

        Args:
            keep: how many saved machines and how many forks of an image stay; at least one each.
            idle_s: only machines that were idle for at least this long are removed.
        """
        removed = []
        seen: Counter[tuple[ResourceSpec, str, bool]] = Counter()
        for folder in self._inventory.folders():
            record = folder.read()
            if record is None or record.state not in {MachineState.READY, MachineState.WAITING}:
                continue
            group = (self._inventory.spec_of(record), record.image, record.is_fork)
            seen[group] += 1
            is_surplus = seen[group] > max(_KEPT_IDLE, keep)
            if not is_surplus or self._clock.now_s() - folder.changed_s() < idle_s:
                continue
            if claim := folder.claim():
                try:
                    self._inventory.destroy(folder)
                finally:
                    claim.release()
                removed.append(f"{folder.machine_id}: it was idle for {idle_s:g} s")
        return removed

    def remove_ended(self) -> list[str]:
        """Remove unused forks whose process or lease ended; return one line for each.

        If the host of a fork does not answer, the fork stays.
        """
        self.reap()
        return self._remove(self._ended_reason)

    def remove_unfinished(self) -> list[str]:
        """Remove machines whose making was ended by a kill; return one line for each."""
        return self._remove(self._unfinished_reason)

    def _remove(self, reason_of: Callable[[MachineFolder], str]) -> list[str]:
        removed = []
        for folder in self._inventory.folders():
            if not reason_of(folder) or (claim := folder.claim()) is None:
                continue
            try:
                if reason := reason_of(folder):  # it may have changed until claimed
                    self._inventory.destroy(folder)
                    removed.append(f"{folder.machine_id}: {reason}")
            finally:
                claim.release()
        return removed

    def _unfinished_reason(self, folder: MachineFolder) -> str:
        """Return why a machine that nobody makes is incomplete; empty if it is complete."""
        record = folder.read()
        if record is None:
            # A folder is created a moment before it is claimed.
            is_left = folder.created_s() and self._clock.now_s() - folder.created_s() > _CLAIMED_S
            return _UNFINISHED if is_left and not folder.changed_s() else ""
        return _UNFINISHED if record.state is MachineState.STARTING else ""

    def _ended_reason(self, folder: MachineFolder) -> str:
        """Return why a fork is no longer usable; empty if it is usable or is not a fork."""
        record = folder.read()
        if record is None or not record.is_fork or record.state is MachineState.STARTING:
            return ""
        return self._reason_to_end(record)

    def _is_alive(self, row: LeaseRow) -> bool:
        """Return whether a lease's holder is alive; True for a holder on another host."""
        path = lease_lock(self._settings, row.lease_id)
        return not path.is_file() or FileLock(path).is_taken()

    def _end(self, lease_id: str, *, is_expired: bool) -> bool:
        machines = self._ledger.machines(lease_id)
        if not self._ledger.remove_lease(lease_id):
            return False  # another process or its holder ended it first
        for row in machines:
            if not row.machine_id:
                continue
            folder = self._inventory.folder(row.machine_id)
            record = folder.read()
            _log.info(
                "the lease %s of %s ended: its holder is %s",
                lease_id,
                row.machine_id,
                "late" if is_expired else "gone",
            )
            if is_expired or record is None or record.is_fork:
                self._inventory.destroy(folder)
        for path in lease_lock(self._settings, lease_id).parent.glob(f"{lease_id}.*"):
            path.unlink(missing_ok=True)
        return True

    def _reconcile(self) -> None:
        """Reserve memory for machines missing in the ledger, and free that of lost machines."""
        known = {row.machine_id: row for row in self._ledger.machines() if row.machine_id}
        folders = {folder.machine_id: folder for folder in self._inventory.folders()}
        for machine_id, row in known.items():
            folder = folders.get(machine_id)
            if folder is None or (not row.lease_id and self._is_stopped(folder)):
                self._ledger.free(machine_id)
        for machine_id in folders.keys() - known.keys():
            record = folders[machine_id].read()
            # Memory of machines being made is reserved without a machine id.
            if record is not None and record.state is not MachineState.STARTING:
                mib = self._inventory.reserved_mib(record)
                if mib:
                    self._ledger.reserve_existing(
                        machine_id, self._inventory.spec_of(record).key, mib
                    )

    def _is_stopped(self, folder: MachineFolder) -> bool:
        record = folder.read()
        return record is not None and record.state is MachineState.STOPPED

    def _reason_to_remove(self, folder: MachineFolder, idle: dict[ResourceSpec, int]) -> str:
        record = folder.read()
        if record is None:
            return folder.describe_record()
        if not self._inventory.has_backend(record):
            return ""
        if record.state is MachineState.STARTING:
            return _UNFINISHED
        if not self._inventory.is_offered(record):
            return ""
        if not self._inventory.fits(record):
            return "its image is no longer current"
        if record.is_fork:
            return self._reason_to_end(record)
        spec = self._inventory.spec_of(record)
        idle[spec] = idle.get(spec, 0) + 1
        if record.state is MachineState.LEASED:
            folder.mark(MachineState.READY)
        return "there are more idle ones than needed" if idle[spec] > _KEPT_IDLE else ""

    def _reason_to_end(self, record: MachineRecord) -> str:
        if record.state not in _STANDBY_STATES:
            return "its lease ended"
        return "" if self._inventory.is_up(record) else _ENDED
