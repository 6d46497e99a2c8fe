"""The inventory of this host's machines: which are usable, and which must be removed."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError
from foundation.logging import suppress_logged
from provisioning.fleet.backend import ForkingBackend, SelectiveBackend
from provisioning.handle import MachineHandle
from provisioning.machine_folder import find_folder, iter_folders
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foundation.settings import Settings
    from provisioning.fleet.backend import Backend
    from provisioning.fleet.ledger import Ledger
    from provisioning.handle import HostMachine
    from provisioning.machine_folder import MachineClaim, MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import Kind

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A machine's claim, with its record at the time of the claim."""

    claim: MachineClaim
    record: MachineRecord


class Inventory:
    """The machines of one state folder.

    Args:
        settings: locates the machines.
        backends: backend of each kind.
        ledger: updated when a machine is removed.
        judges_images: False treats every machine as current.
    """

    def __init__(
        self,
        settings: Settings,
        backends: Mapping[Kind, Backend],
        ledger: Ledger,
        *,
        judges_images: bool = True,
    ) -> None:
        self._settings = settings
        self._backends = backends
        self._ledger = ledger
        self._judges_images = judges_images

    def folders(self) -> list[MachineFolder]:
        """Return the folders of all machines, complete or not."""
        return list(iter_folders(self._settings))

    def folder(self, machine_id: str) -> MachineFolder:
        """Return the folder of a machine, which need not exist."""
        return find_folder(self._settings, machine_id)

    def records(self) -> list[MachineRecord]:
        """Return the records of all machines that have one."""
        records = [folder.read() for folder in iter_folders(self._settings)]
        return [record for record in records if record is not None]

    def count(self, kind: Kind, state: MachineState) -> int:
        """Return the number of offered machines of a kind in a state."""
        return sum(
            record.kind is kind and record.state is state and self.is_offered(record)
            for record in self.records()
        )

    def are_all_leased(self, kind: Kind) -> bool:
        """Return whether there are saved machines of a kind and all of them are in use."""
        mine = [
            folder
            for folder in iter_folders(self._settings)
            if (record := folder.read()) is not None
            and record.kind is kind
            and not record.is_fork
            and record.state is not MachineState.STARTING
            and self.is_offered(record)
            and self.fits(record)
        ]
        return bool(mine) and all(folder.is_claimed() for folder in mine)

    def claim_reusable(self, kind: Kind) -> Iterator[Claimed]:
        """Claim the unused saved machines of a kind, one after the other.

        Unusable machines are removed on the way. The caller must release each claim.
        """
        for claimed in self._claim_all(kind):
            record = claimed.record
            if record.is_fork and record.state is MachineState.WAITING and self.fits(record):
                claimed.claim.release()
            elif record.is_fork or record.state is MachineState.STARTING or not self.fits(record):
                self.discard(claimed.claim)
            else:
                yield claimed

    def claim_standby(self, kind: Kind) -> Iterator[Claimed]:
        """Claim the standby forks of a kind, one after the other.

        Forks whose process has ended are removed on the way. The caller must release each claim.
        """
        for claimed in self._claim_all(kind):
            if claimed.record.state is not MachineState.WAITING or not self.fits(claimed.record):
                claimed.claim.release()
            elif self.is_up(claimed.record):
                yield claimed
            else:
                self.discard(claimed.claim)

    def open(self, claimed: Claimed) -> MachineHandle[HostMachine]:
        """Return the machine of a claim.

        Raises:
            MesocosmError: something it needs, such as its image, is gone.
        """
        machine = self._backends[claimed.record.kind].attach(claimed.claim.folder, claimed.record)
        return MachineHandle(machine, claimed.claim)

    def discard(self, claim: MachineClaim) -> None:
        """Remove a machine in any state, and release the claim."""
        try:
            self.destroy(claim.folder)
        finally:
            claim.release()

    def destroy(self, folder: MachineFolder) -> None:
        """Remove a machine in any state, even if it is in use."""
        record = folder.read()
        state = record.state.value if record else "without a record"
        _log.info("removing %s, which is %s", folder.machine_id, state)
        backend = self._backends.get(record.kind) if record else None
        if backend is not None and record is not None:
            with suppress_logged(_log, f"delete {folder.machine_id}", MesocosmError):
                backend.attach(folder, record).delete()
        for other in self._backends.values():
            other.remove_by_id(folder.machine_id)
        folder.remove()
        self._ledger.free(folder.machine_id)

    def remove_strays(self) -> list[str]:
        """End running machines without a folder; return one line for each."""
        return [line for backend in self._backends.values() for line in backend.remove_strays()]

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a machine is current, that is, as its backend would make it now."""
        backend = self._backends.get(record.kind)
        return backend is not None and (not self._judges_images or backend.fits(record))

    def has_backend(self, record: MachineRecord) -> bool:
        """Return whether this fleet has a backend for machines like this one."""
        return record.kind in self._backends

    def is_offered(self, record: MachineRecord) -> bool:
        """Return whether a machine can be leased: it is of the chosen backend and distribution."""
        backend = self._backends.get(record.kind)
        if backend is None:
            return False
        return not isinstance(backend, SelectiveBackend) or backend.is_leasable(record)

    def is_up(self, record: MachineRecord) -> bool:
        """Return whether a fork's process exists; True if its host does not answer."""
        backend = self._backends.get(record.kind)
        if backend is not None and isinstance(backend, ForkingBackend):
            doing = f"ask whether {record.machine_id} runs"
            with suppress_logged(_log, doing, MesocosmError):
                return backend.is_up(record.machine_id)
        return True

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a machine may use in its current state, MiB."""
        backend = self._backends.get(record.kind)
        if backend is None or record.state is MachineState.STOPPED:
            return 0
        return backend.reserved_mib(record)

    def _claim_all(self, kind: Kind) -> Iterator[Claimed]:
        for folder in iter_folders(self._settings):
            record = folder.read()
            if record is None or record.kind is not kind or not self.is_offered(record):
                continue
            claim = folder.claim()
            if claim is None:
                continue
            record = folder.read()  # it may have changed before the claim
            if record is None or record.state is MachineState.KEPT:
                claim.release()
            else:
                yield Claimed(claim, record)
