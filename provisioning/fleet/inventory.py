"""The inventory of this host's machines: which are usable, and which must be removed."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError, RequirementError
from foundation.logging import suppress_logged
from provisioning.fleet.backend import ForkingBackend
from provisioning.handle import MachineHandle
from provisioning.machine_folder import find_folder, iter_folders
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foundation.settings import Settings
    from provisioning.fleet.backends import Backends
    from provisioning.fleet.ledger import Ledger
    from provisioning.handle import HostResource
    from provisioning.machine_folder import MachineClaim, MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.resource import ResourceSpec

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
        backends: backends of the machines.
        ledger: updated when a machine is removed.
        judges_images: False treats every machine as current.
    """

    def __init__(
        self,
        settings: Settings,
        backends: Backends,
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

    def count(self, spec: ResourceSpec, state: MachineState) -> int:
        """Return the number of offered machines of a specification in a state."""
        return sum(record.state is state and self._is_of(record, spec) for record in self.records())

    def count_lasting(self, spec: ResourceSpec) -> int:
        """Return the number of machines that can be leased now or once their lease ends."""
        return sum(
            self._is_of(record, spec)
            and (
                record.state in {MachineState.READY, MachineState.WAITING}
                or (record.state is MachineState.LEASED and not record.is_fork)
            )
            for record in self.records()
        )

    def are_all_leased(self, spec: ResourceSpec) -> bool:
        """Return whether there are saved machines of a specification and all of them are in use."""
        mine = [
            folder
            for folder in iter_folders(self._settings)
            if (record := folder.read()) is not None
            and not record.is_fork
            and record.state is not MachineState.STARTING
            and self._is_of(record, spec)
            and self.fits(record)
        ]
        return bool(mine) and all(folder.is_claimed() for folder in mine)

    def claim_reusable(self, spec: ResourceSpec) -> Iterator[Claimed]:
        """Claim the unused saved machines of a specification, one after the other.

        Unusable machines are removed on the way. The caller must release each claim.
        """
        for claimed in self._claim_all(spec):
            record = claimed.record
            if record.is_fork and record.state is MachineState.WAITING and self.fits(record):
                claimed.claim.release()
            elif record.is_fork or record.state is MachineState.STARTING or not self.fits(record):
                self.discard(claimed.claim)
            else:
                yield claimed

    def claim_standby(self, spec: ResourceSpec) -> Iterator[Claimed]:
        """Claim the standby forks of a specification, one after the other.

        Forks whose process has ended are removed on the way. The caller must release each claim.
        """
        for claimed in self._claim_all(spec):
            if claimed.record.state is not MachineState.WAITING or not self.fits(claimed.record):
                claimed.claim.release()
            elif self.is_up(claimed.record):
                yield claimed
            else:
                self.discard(claimed.claim)

    def open(self, claimed: Claimed) -> MachineHandle[HostResource]:
        """Return the machine of a claim.

        Raises:
            MesocosmError: something it needs, such as its image, is gone.
        """
        machine = self.attach(claimed.claim.folder, claimed.record)
        return MachineHandle(machine, claimed.claim)

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostResource:
        """Return the object for an existing machine.

        Raises:
            RequirementError: its backend is not available now.
            MesocosmError: something it needs, such as its image, is gone.
        """
        return attach(self._backends, folder, record)

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
        if record is not None:
            with suppress_logged(_log, f"delete {folder.machine_id}", MesocosmError):
                self.attach(folder, record).delete()
        for backend in self._backends.opened():
            backend.remove_by_id(folder.machine_id)
        folder.remove()
        self._ledger.free(folder.machine_id)

    def remove_strays(self) -> list[str]:
        """End running machines without a folder; return one line for each."""
        return [line for backend in self._backends.opened() for line in backend.remove_strays()]

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a machine is current, that is, as its backend would make it now."""
        backend = self._backends.of_record(record)
        return backend is not None and (not self._judges_images or backend.fits(record))

    def has_backend(self, record: MachineRecord) -> bool:
        """Return whether this fleet has a backend for machines like this one."""
        return self._backends.of_record(record) is not None

    def is_offered(self, record: MachineRecord) -> bool:
        """Return whether a machine can be leased: its backend is the chosen one of its kind."""
        return self._backends.is_offered(record)

    def spec_of(self, record: MachineRecord) -> ResourceSpec:
        """Return the specification that a machine was made for."""
        return self._backends.spec_of(record)

    def is_up(self, record: MachineRecord) -> bool:
        """Return whether a fork's process exists; True if its host does not answer."""
        backend = self._backends.of_record(record)
        if backend is not None and isinstance(backend, ForkingBackend):
            doing = f"ask whether {record.machine_id} runs"
            with suppress_logged(_log, doing, MesocosmError):
                return backend.is_up(record.machine_id)
        return True

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a machine may use in its current state, MiB."""
        backend = self._backends.of_record(record)
        if backend is None or record.state is MachineState.STOPPED:
            return 0
        return backend.reserved_mib(record)

    def _claim_all(self, spec: ResourceSpec) -> Iterator[Claimed]:
        for folder in iter_folders(self._settings):
            record = folder.read()
            if record is None or not self._is_of(record, spec):
                continue
            claim = folder.claim()
            if claim is None:
                continue
            record = folder.read()  # it may have changed before the claim
            if record is None or record.state is MachineState.KEPT:
                claim.release()
            else:
                yield Claimed(claim, record)

    def _is_of(self, record: MachineRecord, spec: ResourceSpec) -> bool:
        """Return whether a machine can be leased for a specification."""
        if record.kind != spec.kind or not self.is_offered(record):
            return False
        return self._backends.spec_of(record) == spec


def attach(backends: Backends, folder: MachineFolder, record: MachineRecord) -> HostResource:
    """Return the object for an existing machine, which the caller releases.

    Raises:
        RequirementError: its backend is not available now.
        MesocosmError: something it needs, such as its image, is gone.
    """
    backend = backends.of_record(record)
    if backend is None:
        raise RequirementError(
            f"The backend {record.backend!r} of {record.machine_id} is not available now."
        )
    return backend.attach(folder, record)
